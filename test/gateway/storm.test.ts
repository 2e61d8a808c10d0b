/**
 * Servers that flood, hang, lie, and send invalid and excessive messages, all behind one gateway. The museum beside them answers, memory
 * stays bounded, and everything ends. `bench/storm.mjs` measures how long answers take.
 */
import { readFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import type { ListAnswer, ReadAnswer } from '../e2e/answers.ts';
import { type Connected, connectHttp, ERAS } from '../e2e/harness.ts';
import { isRunning } from '../e2e/process-io.ts';
import { type ListeningProgram, startProgram } from '../e2e/programs.ts';
import { INITIALIZE, startStdio } from '../e2e/raw.ts';
import { until } from '../e2e/waiting.ts';
import { type Bad, raise, type Storm } from './storm/storm.ts';

vi.setConfig({ testTimeout: 240_000 });

/** How often a client reads from the museum in a visit. */
const ROUNDS = 15;

/** The most memory of the gateway's process, in bytes: far more than it needs, and far less than a flood would fill. */
const MAX_MEMORY = 900 * 1024 * 1024;

const KINDS = ['flood', 'flood-later', 'hang', 'lie', 'malformed', 'enormous'] as const;

const EVERYTHING: readonly Bad[] = KINDS.flatMap((kind) => [
  { kind, era: 'legacy', transport: 'stdio' },
  { kind, era: 'modern', transport: 'http' },
  // Each era has other streams over the other transport.
  ...(kind === 'flood-later'
    ? ([
        { kind, era: 'legacy', transport: 'http' },
        { kind, era: 'modern', transport: 'stdio' },
      ] as const)
    : []),
]);

const FLOODS: readonly Bad[] = ['flood-both', 'flood-errors', 'flood-line', 'flood-bytes', 'stubborn'].map((kind) => ({
  kind,
  era: 'modern',
  transport: 'stdio',
}));

async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

/** Checks that the museum has everything, round after round. */
async function visitsMuseum(client: Connected): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const { contents } = await client.request<ReadAnswer>('resources/read', { uri: 'museum+file:///README.md' });
    expect(contents[0]?.text).toContain('Vitrine Museum');
    const { resources } = await client.request<ListAnswer>('resources/list', { uri: 'museum+file:///' });
    expect(resources.map(({ uri }) => uri)).toContain('museum+file:///README.md');
  }
}

/** Uses the other servers in every way. Any outcome is right, as long as everything ends. */
async function looksAtAll(client: Connected): Promise<void> {
  const { resources } = await client.request<ListAnswer>('resources/list');
  expect(resources).toBeInstanceOf(Array);
  await client.request('tools/list').catch(() => {});
  await Promise.all(
    EVERYTHING.map(async ({ kind, era, transport }) => {
      const mount = `${kind}-${era}-${transport}`;
      await client.request('resources/read', { uri: `${mount}+thing:///one` }).catch(() => {});
      await client.request('tools/call', { name: `${mount}_say`, arguments: {} }).catch(() => {});
    }),
  );
}

/** Checks that after a signal everything ends, and nothing is left. */
async function ends(storm: Storm, pid: number, stop: () => Promise<unknown>): Promise<void> {
  expect(await storm.programs()).not.toEqual([]);
  await stop();
  expect(isRunning(pid)).toBe(false);
  await until(async () => (await storm.programs()).length === 0, 'all programs to be gone');
}

describe('behind a gateway over HTTP', () => {
  it('servers of every bad kind at once harm no other mount, for clients of both eras, and end with the gateway', async () => {
    await using storm = await raise(EVERYTHING);
    const server: ListeningProgram = await startProgram([...storm.args]);
    try {
      const pid = server.process.pid ?? 0;
      const clients = await Promise.all(ERAS.flatMap((era) => [connectHttp(era, server), connectHttp(era, server)]));
      const [first, second, third, fourth] = clients;
      const others = [first, third].map((client) => client && looksAtAll(client));
      await Promise.all([second, fourth].map((client) => client && visitsMuseum(client)));
      expect(await memoryOf(pid)).toBeLessThan(MAX_MEMORY);
      await Promise.all(others);
      for (const client of clients) await visitsMuseum(client);
      expect(await memoryOf(pid)).toBeLessThan(MAX_MEMORY);
      // One log line each time that a server is cut off or cannot be reached, and not one for each message.
      expect(server.output().split('\n').length).toBeLessThan(1_000);
      expect(server.output()).toContain('is cut off for a while, because it sent');
      await ends(storm, pid, () => server.stop());
      await Promise.all(clients.map((client) => client.close()));
    } finally {
      await server.stop('SIGKILL');
    }
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'floods of every kind prevent neither the start of the gateway nor its end on %s',
    async (signal) => {
      await using storm = await raise(FLOODS);
      const server = await startProgram([...storm.args]);
      try {
        const client = await connectHttp('modern', server);
        await visitsMuseum(client);
        expect(await memoryOf(server.process.pid ?? 0)).toBeLessThan(MAX_MEMORY);
        await client.close();
        await ends(storm, server.process.pid ?? 0, () => server.stop(signal));
      } finally {
        await server.stop('SIGKILL');
      }
    },
  );
});

describe('behind a gateway over stdio', () => {
  it.each(ERAS)('floods harm no other mount, for a client of the %s era, and end with the gateway', async (era) => {
    const others: readonly Bad[] = ['flood', 'hang'].map((kind) => ({ kind, era, transport: 'stdio' }));
    await using storm = await raise([...FLOODS, ...others]);
    await using server = startStdio(era, storm.args);
    if (era === 'legacy') {
      await server.request(1, 'initialize', INITIALIZE);
      server.notify('notifications/initialized');
    }
    for (let id = 2; id < 2 + ROUNDS; id++) {
      const answer = await server.request(id, 'resources/read', { uri: 'museum+file:///README.md' });
      expect(JSON.stringify(answer), server.stderr()).toContain('Vitrine Museum');
    }
    expect(await memoryOf(server.pid)).toBeLessThan(MAX_MEMORY);
    await ends(storm, server.pid, async () => {
      server.kill('SIGTERM');
      expect(await server.exited).toEqual({ code: 0, signal: null });
    });
  });
});
