/** The prompts that the suite looks for, and a tool that reports a change of their list. */
import { appendFileSync, watch } from 'node:fs';
import {
  accepted,
  definePrompt,
  defineTool,
  elicitation,
  imageBlock,
  inputRequired,
  type Prompt,
  type PromptMessage,
  type PromptSource,
  resourceBlock,
  type Tool,
  textBlock,
} from 'vitrine';
import { CONTEXT } from './forms.ts';
import { RED_PIXEL_PNG } from './samples.ts';

const user = (content: PromptMessage['content']): PromptMessage => ({ role: 'user', content });

const all: readonly Prompt[] = [
  definePrompt({
    name: 'test_simple_prompt',
    description: 'Has no arguments',
    get: () => ({ messages: [user(textBlock('This is a simple prompt for testing.'))] }),
  }),
  definePrompt({
    name: 'test_prompt_with_arguments',
    description: 'Has two arguments',
    arguments: [
      { name: 'arg1', description: 'First test argument', required: true },
      { name: 'arg2', description: 'Second test argument', required: true },
    ],
    get: ({ arg1, arg2 }) => ({
      messages: [user(textBlock(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
    complete: (_argument, value) => ['test', 'testing', 'paris', 'park'].filter((each) => each.startsWith(value)),
  }),
  definePrompt({
    name: 'test_prompt_with_embedded_resource',
    description: 'Has a resource in it',
    arguments: [{ name: 'resourceUri', description: 'URI of the resource to embed', required: true }],
    get: ({ resourceUri = '' }) => ({
      messages: [
        user(
          resourceBlock({ uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' }),
        ),
        user(textBlock('Please process the embedded resource above.')),
      ],
    }),
  }),
  definePrompt({
    name: 'test_prompt_with_image',
    description: 'Has an image in it',
    get: () => ({
      messages: [user(imageBlock(RED_PIXEL_PNG, 'image/png')), user(textBlock('Please analyze the image above.'))],
    }),
  }),
  definePrompt({
    name: 'test_input_required_result_prompt',
    description: 'Asks the user before it is made',
    async get(_args, { answers }) {
      const form = await accepted(answers.user_context, CONTEXT);
      if (form !== undefined) return { messages: [user(textBlock(`In this context: ${form.context}`))] };
      return inputRequired({ user_context: elicitation('What context should the prompt use?', CONTEXT) });
    },
  }),
];

/**
 * The path of a file that replicas share: a change of it is reported by all of them. Without it, each process reports only its
 * own.
 */
const { LIST } = process.env;

const watchers = new Set<() => void>();
const tell = (): void => {
  for (const watcher of [...watchers]) watcher();
};
if (LIST !== undefined) watch(LIST, tell).unref();

export const prompts: PromptSource = {
  list: async () => all,
  async watch(onChange) {
    watchers.add(onChange);
    return { [Symbol.asyncDispose]: async () => void watchers.delete(onChange) };
  },
};

export const promptTrigger: Tool = defineTool({
  name: 'test_trigger_prompt_change',
  description: 'Says that the list of prompts changed',
  inputSchema: { type: 'object', additionalProperties: false },
  run() {
    if (LIST === undefined) tell();
    else appendFileSync(LIST, 'changed\n');
    return 'Told';
  },
});
