/** A client that answers questions by a script (as its user, its model and its roots), and the questions that it got. */
import type { Abilities } from './harness.ts';

/** The user's answer to a question. */
export type Decision = 'accept' | 'decline' | 'cancel' | 'untick';

export interface Script {
  /** Answers a question to the user. Without it, the client declares no elicitation. */
  readonly user?: (question: string) => Decision | Promise<Decision>;
  /** Answers for the model. Without it, the client declares no sampling. */
  readonly model?: (prompt: string) => string | Promise<string>;
  /** Gives the present `file:` URIs. Without it, the client declares no roots. */
  readonly roots?: () => readonly string[];
}

export interface ScriptedClient {
  readonly abilities: Abilities;
  /** Questions to the user, in order. */
  readonly questions: readonly string[];
  /** The prompts of sampling, in order. */
  readonly prompts: readonly string[];
  /** How often the server asked for the roots. */
  rootsAsked(): number;
}

const FORMS = {
  accept: { action: 'accept', content: { confirm: true } },
  untick: { action: 'accept', content: { confirm: false } },
  decline: { action: 'decline' },
  cancel: { action: 'cancel' },
} as const;

export function askable({ user, model, roots }: Script): ScriptedClient {
  const questions: string[] = [];
  const prompts: string[] = [];
  let rootsAsked = 0;
  const abilities: Abilities = {
    capabilities: {
      ...(user !== undefined && { elicitation: {} }),
      ...(model !== undefined && { sampling: {} }),
      ...(roots !== undefined && { roots: { listChanged: true } }),
    },
    prepare(client) {
      if (user !== undefined) {
        client.setRequestHandler('elicitation/create', async ({ params }) => {
          questions.push(params.message);
          return FORMS[await user(params.message)];
        });
      }
      if (model !== undefined) {
        client.setRequestHandler('sampling/createMessage', async ({ params }) => {
          const [message] = params.messages;
          const content = Array.isArray(message?.content) ? message.content[0] : message?.content;
          const prompt = content?.type === 'text' ? content.text : '';
          prompts.push(prompt);
          return { role: 'assistant', model: 'scripted', content: { type: 'text', text: await model(prompt) } };
        });
      }
      if (roots !== undefined) {
        client.setRequestHandler('roots/list', () => {
          rootsAsked++;
          return { roots: roots().map((uri) => ({ uri })) };
        });
      }
    },
  };
  return { abilities, questions, prompts, rootsAsked: () => rootsAsked };
}
