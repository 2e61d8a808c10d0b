import { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { until, within } from '../../../../test/e2e/waiting.ts';
import { refuseStarts } from '../../../../test/processes.ts';
import { createContext } from '../../../core/context.ts';
import { SERVER } from '../../../core/waiting/fair-queue.ts';
import type { Limits } from '../dialect.ts';
import { connectionQueue } from '../queue.ts';
import { LIBRARY } from './index.ts';
import { createProcesses, type Processes } from './processes.ts';

const LIMITS: Limits = {
  ...{ maxRows: 10, maxBytes: 1_000, maxValueBytes: 1_000, timeoutMs: 60_000 },
  ...{ signal: createContext().signal, caller: SERVER },
};

describe.each(['EMFILE', 'ENOMEM'] as const)('while the system refuses to start a process: %s', (reason) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-processes-'));
    new DatabaseSync(join(folder, 'a.sqlite')).close();
  });
  afterAll(async () => await rm(folder, { recursive: true, force: true }));

  const opened = (): Processes =>
    createProcesses({
      library: createRequire(import.meta.url).resolve(LIBRARY),
      file: join(folder, 'a.sqlite'),
      queue: connectionQueue(1, 10),
    });

  it('a statement is unavailable, and the next one after that is answered', async () => {
    const processes = opened();
    const run = async () => (await processes.run({ sql: 'SELECT 1', parameters: [] }, LIMITS)).rows;
    try {
      {
        using _refusing = refuseStarts(reason);
        // More often than there are places in the queue.
        for (let times = 0; times < 3; times++) await expect(run()).rejects.toMatchObject({ code: 'unavailable' });
      }
      expect(await run()).toEqual([[1n]]);
    } finally {
      await processes.close();
    }
  });

  it('a watch tries again until its process starts', async () => {
    const processes = opened();
    const starts = vi.spyOn(ChildProcess.prototype as ChildProcess & { spawn(): number }, 'spawn');
    try {
      const refusing = refuseStarts(reason);
      const watching = processes.watch(60_000, () => {});
      watching.catch(() => {});
      await until(() => starts.mock.calls.length >= 2, 'a second start');
      refusing[Symbol.dispose]();
      await using _watch = await within(watching, 'the watch');
      expect(starts.mock.calls.length).toBeGreaterThan(2);
    } finally {
      starts.mockRestore();
      await processes.close();
    }
  });
});
