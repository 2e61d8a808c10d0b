/** All prompts of a server: fixed ones, and those of sources that change. */
import type { Context } from '../../core/context.ts';
import type { Prompt, PromptSource } from '../../core/prompt.ts';

export interface PromptRegistry {
  /** Whether there can be prompts at all. */
  readonly size: number;
  list(ctx: Context): Promise<readonly Prompt[]>;
  /** Whether the list can change. */
  readonly watchable: boolean;
  /** @throws what the sources throw when none of them can be watched */
  watch(onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  close(): Promise<void>;
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
      const opened = await Promise.allSettled(
        sources.flatMap((source) => (source.watch === undefined ? [] : [source.watch(onChange, ctx)])),
      );
      const handles = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const failed = opened.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
      if (handles.length === 0 && failed.length > 0) throw failed[0];
      for (const error of failed) ctx.log.warn('changes of some prompts go unnoticed', { error });
      return {
        async [Symbol.asyncDispose]() {
          await Promise.allSettled(handles.map((handle) => handle[Symbol.asyncDispose]()));
        },
      };
    },
    async close() {
      await Promise.allSettled(sources.map((source) => source.close?.()));
    },
  };
}
