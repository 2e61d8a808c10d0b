/** Tools that ask the client's user or model, or request its roots, in one round or in several. */
import {
  accepted,
  defineTool,
  type ElicitationAnswer,
  elicitation,
  type InputRequest,
  type Invocation,
  inputRequired,
  type JsonSchema,
  ResourceError,
  roots,
  rootsIn,
  sampledText,
  sampling,
  type Tool,
} from 'vitrine';
import { ACCOUNT, CHOICES, COLOR, CONFIRMATION, DEFAULTS, NAME } from './forms.ts';

const NO_ARGUMENTS = { type: 'object', additionalProperties: false } as const;

const askModel = (text: string, maxTokens: number): InputRequest =>
  sampling({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens });

const askName = elicitation('What is your name?', NAME);

/** Asks the user to fill in a form. With an answer, returns its action and content, even if the user declined. */
function outcomeOf(invocation: Invocation, message: string, form: JsonSchema, label: string) {
  const answer = invocation.answers.form as ElicitationAnswer | undefined;
  if (answer !== undefined) return `${label}: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`;
  if (!invocation.client.elicitation) throw new ResourceError('invalid', 'This client cannot ask its user');
  return inputRequired({ form: elicitation(message, form) });
}

const forms: readonly Tool[] = [
  defineTool({
    name: 'test_elicitation',
    description: 'Asks the user for an account',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    run: ({ message }, invocation) => outcomeOf(invocation, String(message), ACCOUNT, 'User response'),
  }),
  defineTool({
    name: 'test_elicitation_sep1034_defaults',
    description: 'Asks the user with a form that has defaults',
    inputSchema: NO_ARGUMENTS,
    run: (_args, invocation) => outcomeOf(invocation, 'Please look it over', DEFAULTS, 'Elicitation completed'),
  }),
  defineTool({
    name: 'test_elicitation_sep1330_enums',
    description: 'Asks the user with a form that has choices',
    inputSchema: NO_ARGUMENTS,
    run: (_args, invocation) => outcomeOf(invocation, 'Please choose', CHOICES, 'Elicitation completed'),
  }),
];

const oneRound: readonly Tool[] = [
  defineTool({
    name: 'test_sampling',
    description: "Asks the client's model",
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    run({ prompt }, invocation) {
      const text = sampledText(invocation.answers.model);
      if (text !== undefined) return `LLM response: ${text}`;
      if (!invocation.client.sampling) throw new ResourceError('invalid', 'This client has no model to ask');
      return inputRequired({ model: askModel(String(prompt), 100) });
    },
  }),
  defineTool({
    name: 'test_missing_capability',
    description: "Asks the client's model, whether there is one or not",
    inputSchema: NO_ARGUMENTS,
    run: (_args, { answers }) => sampledText(answers.model) ?? inputRequired({ model: askModel('Say pong', 16) }),
  }),
  defineTool({
    name: 'test_input_required_result_elicitation',
    description: 'Asks the user for a name',
    inputSchema: NO_ARGUMENTS,
    async run(_args, { answers }) {
      const form = await accepted(answers.user_name, NAME);
      return form === undefined ? inputRequired({ user_name: askName }) : `Hello, ${form.name}!`;
    },
  }),
  defineTool({
    name: 'test_input_required_result_sampling',
    description: "Asks the client's model for a capital",
    inputSchema: NO_ARGUMENTS,
    run(_args, { answers }) {
      const text = sampledText(answers.capital_question);
      if (text !== undefined) return `The model said: ${text}`;
      return inputRequired({ capital_question: askModel('What is the capital of France?', 100) });
    },
  }),
  defineTool({
    name: 'test_input_required_result_list_roots',
    description: 'Asks for the roots of the client',
    inputSchema: NO_ARGUMENTS,
    run(_args, { answers }) {
      const uris = rootsIn(answers.client_roots);
      return uris === undefined ? inputRequired({ client_roots: roots() }) : `Roots: ${uris.join(', ')}`;
    },
  }),
  defineTool({
    name: 'test_input_required_result_multiple_inputs',
    description: 'Asks for a name, a greeting and the roots at once',
    inputSchema: NO_ARGUMENTS,
    async run(_args, { answers, seal }) {
      const form = await accepted(answers.user_name, NAME);
      const greeting = sampledText(answers.greeting);
      const uris = rootsIn(answers.client_roots);
      if (form !== undefined && greeting !== undefined && uris !== undefined) {
        return `${greeting} ${form.name}, of ${uris.join(', ')}`;
      }
      const requests = { user_name: askName, greeting: askModel('Generate a greeting', 50), client_roots: roots() };
      return inputRequired(requests, seal({ asked: Object.keys(requests) }));
    },
  }),
  defineTool({
    name: 'test_input_required_result_capabilities',
    description: 'Asks for what the client says that it can be asked for',
    inputSchema: NO_ARGUMENTS,
    run(_args, { answers, client }) {
      if (Object.keys(answers).length > 0) return `Answered: ${Object.keys(answers).join(', ')}`;
      const requests = {
        ...(client.elicitation && { user_name: askName }),
        ...(client.sampling && { greeting: askModel('Generate a greeting', 50) }),
        ...(client.roots && { client_roots: roots() }),
      };
      return Object.keys(requests).length === 0 ? 'This client can be asked for nothing' : inputRequired(requests);
    },
  }),
];

/** Makes a tool that asks for a confirmation, and accepts the answer only together with the state of its question. */
function confirming(name: string, done: string): Tool {
  return defineTool({
    name,
    description: 'Asks for a confirmation, and keeps what it is about in the state',
    inputSchema: NO_ARGUMENTS,
    async run(_args, { answers, state, seal }) {
      const form = state === undefined ? undefined : await accepted(answers.confirm, CONFIRMATION);
      if (form !== undefined) return `${done}: ${JSON.stringify(state)}`;
      return inputRequired({ confirm: elicitation('Please confirm', CONFIRMATION) }, seal({ about: name }));
    },
  });
}

const severalRounds: readonly Tool[] = [
  confirming('test_input_required_result_request_state', 'state-ok'),
  confirming('test_input_required_result_tampered_state', 'state-ok'),
  defineTool({
    name: 'test_input_required_result_multi_round',
    description: 'Asks for a name, then for a colour',
    inputSchema: NO_ARGUMENTS,
    async run(_args, { answers, state, seal }) {
      const { name } = (state ?? {}) as { readonly name?: string };
      if (name === undefined) {
        const first = await accepted(answers.step1, NAME);
        return first === undefined
          ? inputRequired({ step1: elicitation('Step 1: What is your name?', NAME) }, seal({}))
          : inputRequired({ step2: elicitation('Step 2: What is your favorite color?', COLOR) }, seal(first));
      }
      const second = await accepted(answers.step2, COLOR);
      if (second !== undefined) return `${name} likes ${second.color}`;
      return inputRequired({ step2: elicitation('Step 2: What is your favorite color?', COLOR) }, seal({ name }));
    },
  }),
];

export const askingTools: readonly Tool[] = [...forms, ...oneRound, ...severalRounds];
