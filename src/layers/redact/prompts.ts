/** Prompts of prompt folders and of programs: what is said of them, their texts, and values of their arguments. */
import type { Prompt, PromptSource } from '../../core/prompt.ts';
import type { GetPromptResult, PromptDescription, PromptMessage } from '../../protocol/content.ts';
import { isInputRequired } from '../../protocol/input-required.ts';
import { CALLED_BY, type LabelOptions, shownEach, shownEntries } from './labels.ts';
import { redactedResult } from './results.ts';
import type { Asker } from './scanner.ts';

export interface PromptOptions extends LabelOptions {
  /** Whether a resource is looked through: those in prompts that are not stay as they are. */
  readonly concerns: (uri: string) => boolean;
}

/** The prompts under the mark. One with a secret in its name is left out. */
export function redactedPrompts(given: Prompt | PromptSource, options: PromptOptions): PromptSource {
  const source: PromptSource = 'get' in given ? { list: async () => [given], names: [given.name] } : given;
  const { watch, close, names, mount } = source;
  return {
    ...(mount !== undefined && { mount }),
    ...(names !== undefined && { names }),
    async list(ctx) {
      const prompts = await source.list(ctx);
      const said = prompts.map(({ get: _get, complete: _complete, ...description }): PromptDescription => description);
      const shown = await shownEach(said, CALLED_BY.name, options, ctx);
      return prompts.flatMap((prompt, index) => {
        const description = shown[index];
        return description === undefined ? [] : [redactedPrompt(prompt, description, options)];
      });
    },
    ...(watch !== undefined && { watch: (onChange, ctx) => watch.call(source, onChange, ctx) }),
    ...(close !== undefined && { close: () => close.call(source) }),
  };
}

function redactedPrompt(prompt: Prompt, description: PromptDescription, options: PromptOptions): Prompt {
  const { complete } = prompt;
  return {
    ...description,
    async get(args, invocation) {
      const result = await prompt.get(args, invocation);
      if (isInputRequired(result)) return redactedResult(result, options, invocation);
      return redactedMessages(result, options, invocation);
    },
    ...(complete !== undefined && {
      complete: async (argument, value, known, ctx) => {
        const entries = (await complete(argument, value, known, ctx)).map((each) => ({ value: each }));
        return (await shownEntries(entries, CALLED_BY.value, options, ctx)).map((each) => each.value);
      },
    }),
  };
}

async function redactedMessages(
  result: GetPromptResult,
  options: PromptOptions,
  asker: Asker,
): Promise<GetPromptResult> {
  const isExcepted = ({ content }: PromptMessage): boolean =>
    content.type === 'resource' && !options.concerns(content.resource.uri);
  const concerned = result.messages.filter((message) => !isExcepted(message));
  const redacted = await redactedResult({ ...result, messages: concerned }, options, asker);
  const messages = redacted.messages[Symbol.iterator]();
  return {
    ...redacted,
    messages: result.messages.map((each) => (isExcepted(each) ? each : (messages.next().value ?? each))),
  };
}
