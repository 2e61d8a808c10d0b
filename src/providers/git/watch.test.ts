/** The end of a watch during a look at the repository. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createContext, type Log, SILENT } from '../../core/context.ts';
import type { Repository } from './find.ts';
import { createWatching } from './watch.ts';

it('logs no warning if the last watch ends during a look', async () => {
  const warn = vi.fn();
  const log: Log = { ...SILENT, warn };
  let began = (): void => {};
  const looking = new Promise<void>((resolve) => {
    began = resolve;
  });
  const ctx = createContext();
  const missing = join(tmpdir(), 'vitrine-no-such-repository');
  const repo = {
    watched: { gitDirectory: missing, commonDirectory: missing, called: 'project' },
    shows: { branches: true, tags: true, commits: true },
    refresh: async () => {},
    refs: {
      head: async () => undefined,
      async *below(_prefixes: readonly string[], signal: AbortSignal) {
        if (signal === ctx.signal) return;
        began();
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    },
  } as unknown as Repository;

  const watching = createWatching(repo, 0.02, () => log);
  const watch = await watching.add(undefined, () => {}, ctx);
  await looking;
  await watch[Symbol.asyncDispose]();

  expect(warn).not.toHaveBeenCalled();
});
