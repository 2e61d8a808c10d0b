/** All prompts of a server: fixed ones, and those of sources that change. */
import type { Context } from '../../core/context.ts';
import type { Prompt, PromptSource } from '../../core/prompt.ts';

export interface PromptRegistry {
  /** Whether there can be prompts at all. */
  readonly size: number;
  list(ctx: Context): Promise<readonly Prompt[]>;
  /** Whether the list can change. */
  readonly watchable: boolean;
  watch(onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
}

/** The first of two prompts with one name wins; the log says so. */
export function createPromptRegistry(given: readonly (Prompt | PromptSource)[]): PromptRegistry {
  const sources = given.map((each): PromptSource => ('get' in each ? { list: async () => [each] } : each));
  return {
    size: sources.length,
    watchable: sources.some((source) => source.watch !== undefined),
    async list(ctx) {
      const byName = new Map<string, Prompt>();
      for (const prompts of await Promise.all(sources.map((source) => source.list(ctx)))) {
        for (const prompt of prompts) {
          if (byName.has(prompt.name)) ctx.log.warn('two prompts have one name', { prompt: prompt.name });
          else byName.set(prompt.name, prompt);
        }
      }
      return [...byName.values()];
    },
    async watch(onChange, ctx) {
      const handles = await Promise.all(sources.map((source) => source.watch?.(onChange, ctx)));
      return {
        async [Symbol.asyncDispose]() {
          await Promise.all(handles.map((handle) => handle?.[Symbol.asyncDispose]()));
        },
      };
    },
  };
}
