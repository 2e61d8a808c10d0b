/**
 * Programs whose first answer takes long, as those that `npx` and `uvx` have to download. Vitrine waits for it without any
 * option, in either era, and however the program treats messages that it does not know. It starts a program again only if the
 * program ends at such a message.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { connectResourceClient } from '../../../src/client/node/index.ts';
import { createVitrine, serveHttp } from '../../../src/index.ts';
import { memoryProvider } from '../../../src/providers/memory/index.ts';
import { upstream } from '../../../src/providers/upstream/index.ts';
import { vitrine as run } from '../../cli/run.ts';
import { type Folder, temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { type Connected, connect, connectHttp, ERAS, type Era } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import { gather, toolsOf } from '../faults/scene.ts';
import { answering } from '../fixture/client.ts';

const PROGRAM = fileURLToPath(new URL('./program.mjs', import.meta.url));

type Speaks = Era | 'both';
type Unknown = 'refused' | 'ignored' | 'fatal' | 'settled';

/** The era of a program, and how it treats messages of the other era. `settled`: after `initialize` it speaks only 2025. */
const KINDS: readonly (readonly [Speaks, Unknown])[] = [
  ['legacy', 'refused'],
  ['legacy', 'ignored'],
  ['legacy', 'fatal'],
  ['modern', 'refused'],
  ['modern', 'ignored'],
  ['modern', 'fatal'],
  ['both', 'refused'],
  ['both', 'settled'],
];

/** Limits connecting, in milliseconds. After a tenth of it, Vitrine asks a silent program in the other era, too. */
const CONNECT_MS = 20_000;

const slow = (folder: Folder, [era, unknown]: (typeof KINDS)[number]) => ({
  command: process.execPath,
  args: [PROGRAM, '--dir', folder.path, '--era', era, '--unknown', unknown],
});

const heard = async (folder: Folder): Promise<readonly string[]> =>
  (await readFile(folder.at('heard'), 'utf8').catch(() => '')).split('\n').slice(0, -1);

const startsIn = async (folder: Folder): Promise<number> =>
  (await heard(folder)).filter((what) => what === 'start').length;

/** Waits until the program has been asked in both eras, and then lets it answer. */
async function answersLate(folder: Folder): Promise<void> {
  await until(async () => (await heard(folder)).length >= 3, 'the program to be asked in both eras');
  expect([...(await heard(folder))].sort()).toEqual(['initialize', 'server/discover', 'start']);
  await folder.write('go', '');
}

/** How often a program is started: again if it ends at a request that it does not know. */
const startsOf = ([, unknown]: (typeof KINDS)[number]): number => (unknown === 'fatal' ? 2 : 1);

describe.concurrent.each(KINDS)('a slow program (era: %s; messages of the other era: %s)', (...kind) => {
  it('is awaited by the client library', async () => {
    await using folder = await temporaryFolder();
    const connecting = connectResourceClient({ ...slow(folder, kind), connectTimeoutMs: CONNECT_MS });
    await answersLate(folder);
    await using resources = await connecting;
    expect((await resources.read('slow:///one')).primary?.text()).toBeDefined();
    expect((await resources.connect()).era).toBe(kind[0] === 'modern' ? 'modern' : 'legacy');
    expect(await startsIn(folder)).toBe(startsOf(kind));
  });

  it('is awaited by a command', async () => {
    await using folder = await temporaryFolder();
    const { command, args } = slow(folder, kind);
    const line = [command, ...args].map((part) => `"${part}"`).join(' ');
    const listing = run(['ls', line, '--timeout', String(CONNECT_MS / 1_000)]);
    await answersLate(folder);
    const { status, stdout, stderr } = await listing;
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('slow:///one');
    expect(await startsIn(folder)).toBe(startsOf(kind));
  });

  it.each(ERAS)('is listed by a gateway over stdio as soon as it answers, for a client of the %s era', async (era) => {
    await using folder = await temporaryFolder({ 'docs/note.txt': 'a note' });
    const mounts = {
      slow: { ...slow(folder, kind), connectTimeoutSeconds: CONNECT_MS / 1_000 },
      docs: { path: folder.at('docs') },
    };
    const config = await writeConfig(folder, { icons: 'off', tools: 'off', mounts });
    await using on = await connect('stdio', era, ['--config', config], answering().abilities);
    const told = await listens(on);
    const { uris, missing } = await gather(on);
    expect(uris).toEqual(['docs+file:///', 'docs+file:///note.txt']);
    expect(missing).toEqual({ slow: 'The server behind "slow" is still starting' });
    expect(await toolsOf(on)).toEqual([]);
    await answersLate(folder);
    await told();
    expect((await gather(on)).uris).toContain('slow+slow:///one');
    expect(await toolsOf(on)).toEqual(['slow_say']);
    expect(await startsIn(folder)).toBe(startsOf(kind));
  });
});

/** Watches all lists from now on. Gives a function that waits until all have changed. */
async function listens(on: Connected): Promise<() => Promise<unknown>> {
  await on.reachable;
  if (on.era === 'modern') {
    await on.client.listen({ resourcesListChanged: true, toolsListChanged: true, promptsListChanged: true });
  }
  const changed = ['resources', 'tools', 'prompts'].map((list) => `notifications/${list}/list_changed`);
  const methods = (): readonly unknown[] => on.received.map((message) => 'method' in message && message.method);
  return () => until(() => changed.every((method) => methods().includes(method)), 'all lists to change');
}

describe.concurrent.each(ERAS)('a gateway over HTTP, for a client of the %s era,', (era) => {
  it.each(KINDS)(
    'lists other mounts before a slow program answers, and the program after that (era: %s; messages of the other era: %s)',
    async (...kind) => {
      await using folder = await temporaryFolder();
      const up = upstream({
        name: 'slow',
        target: slow(folder, kind),
        connections: 'shared',
        connectTimeoutMs: CONNECT_MS,
        startingMs: 0,
      });
      const engine = createVitrine({
        mounts: [
          { name: 'slow', provider: up.provider, server: up.server, prefix: 'name' },
          { name: 'memory', provider: memoryProvider({ resources: { note: { text: 'a note' } } }), prefix: 'name' },
        ],
        resourceTools: false,
        changes: { coalesceMs: 1 },
      });
      const serving = await serveHttp(engine, { port: 0 });
      await using _ = {
        async [Symbol.asyncDispose]() {
          await serving.close();
          await engine.close();
        },
      };
      await using on = await connectHttp(era, { url: serving.url, output: () => '' });
      const told = await listens(on);
      const { uris, missing } = await gather(on);
      expect(uris).toContain('memory+memory:///note');
      expect(missing).toEqual({ slow: 'The server behind "slow" is still starting' });
      expect(up.health().state).toBe('connecting');
      await answersLate(folder);
      await told();
      expect((await gather(on)).uris).toContain('slow+slow:///one');
      expect(await startsIn(folder)).toBe(startsOf(kind));
    },
  );
});
