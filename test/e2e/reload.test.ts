/** A configuration that changes while it is served: clients keep their sessions, and are notified. */
import { describe, expect, it } from 'vitest';
import type { ListAnswer } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, MATRIX } from './harness.ts';
import { collectNotices, subscribe } from './notices.ts';
import { until } from './waiting.ts';

/** A server of 2025 with one tool that gives its process id. */
const PROGRAM = `
import { createInterface } from 'node:readline';
const results = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'up', version: '1' } },
  'tools/list': { tools: [{ name: 'pid', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: String(process.pid) }] },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  const result = results[method];
  const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n');
}
`;

const FILES = { 'docs/a.md': 'a', 'more/b.md': 'b', 'other/a.md': 'other', 'up.mjs': PROGRAM };

const uris = async (on: Connected): Promise<readonly string[]> =>
  (await on.request<ListAnswer & Record<string, unknown>>('resources/list')).resources.map(({ uri }) => uri);

const textOf = async (on: Connected, uri: string): Promise<string | undefined> =>
  (await on.request<{ contents: { text?: string }[] }>('resources/read', { uri })).contents[0]?.text;

const told = (on: Connected, method: string): boolean =>
  on.received.some((message) => 'method' in message && message.method === method);

/** Requests notifications of all lists, in the way of the era; in 2025 they come unasked. */
async function listenToLists(on: Connected): Promise<void> {
  await on.reachable;
  if (on.era === 'modern')
    await on.client.listen({ resourcesListChanged: true, toolsListChanged: true, promptsListChanged: true });
  await uris(on);
}

describe.each(MATRIX)('a configuration that changes, over $transport, $era', ({ transport, era }) => {
  async function serving(
    config: object,
    use: (on: Connected, folder: Folder, change: (config: object) => Promise<unknown>) => Promise<void>,
  ): Promise<void> {
    await using folder = await temporaryFolder(FILES);
    await using on = await connect(transport, era, ['--config', await writeConfig(folder, config)]);
    await use(on, folder, (changed) => writeConfig(folder, changed));
  }

  it('is served without a restart, and clients that listen to lists are notified [RES-4]', () =>
    serving({ mounts: { docs: './docs' } }, async (on, _folder, change) => {
      await listenToLists(on);
      expect(on.client.getServerCapabilities()).toMatchObject({
        resources: { listChanged: true },
        tools: { listChanged: true },
      });
      await change({ mounts: { docs: './docs', more: './more' } });
      await until(async () => (await uris(on)).includes('more+file:///b.md'), 'the new mount');
      for (const list of ['resources', 'tools'])
        await until(() => told(on, `notifications/${list}/list_changed`), `being told of ${list}`);
      expect(await textOf(on, 'more+file:///b.md')).toBe('b');
      expect(await textOf(on, 'docs+file:///a.md')).toBe('a');
      await change({ mounts: { more: './more' } });
      await until(async () => !(await uris(on)).includes('docs+file:///'), 'the old mount to be gone');
      await expect(textOf(on, 'docs+file:///a.md')).rejects.toThrow();
    }));

  it('leaves unchanged mounts alone: their programs keep running', () => {
    const up = { command: process.execPath, args: ['up.mjs'] };
    return serving({ mounts: { up, docs: './docs' } }, async (on, _folder, change) => {
      const pid = async (): Promise<string> =>
        JSON.stringify((await on.request('tools/call', { name: 'up_pid' })).content);
      const first = await pid();
      await change({ mounts: { docs: './more', up } });
      await until(async () => (await uris(on)).includes('docs+file:///b.md'), 'the changed mount');
      expect(await pid()).toBe(first);
      await change({ mounts: { docs: './more', up: { ...up, start: 'lazy' } } });
      await until(async () => (await pid()) !== first, 'another program where what is said of it has changed');
    });
  });

  it('reports a resource that is another one now, and not one that is the same [RES-4]', () =>
    serving({ mounts: { docs: './docs', more: './more' } }, async (on, folder, change) => {
      const notices = await collectNotices(on);
      await subscribe(on, ['docs+file:///a.md', 'more+file:///b.md']);
      await change({ mounts: { docs: './other', more: './more' } });
      await notices.told('docs+file:///a.md');
      expect(await textOf(on, 'docs+file:///a.md')).toBe('other');
      expect(notices.count('more+file:///b.md')).toBe(0);
      // Both are still watched.
      notices.forget();
      await folder.write('other/a.md', 'changed');
      await folder.write('more/b.md', 'changed');
      await notices.told('docs+file:///a.md');
      await notices.told('more+file:///b.md');
    }));

  it('is refused with the reason if it is wrong, and the old one stays in use', () =>
    serving({ mounts: { docs: './docs' } }, async (on, folder, change) => {
      await folder.write('vitrine.yaml', 'mounts:\n  docs: ./docs\n  more: { pth: ./more }\n');
      await until(() => on.stderr().includes('is refused'), 'the reason');
      expect(on.stderr()).toContain('vitrine.yaml:3:11: unknown key');
      expect(await textOf(on, 'docs+file:///a.md')).toBe('a');
      await change({ mounts: { docs: './docs', none: './none' } });
      await until(() => on.stderr().includes('none'), 'the other reason');
      expect(await uris(on)).toEqual(['docs+file:///', 'docs+file:///a.md']);
      await change({ mounts: { docs: './docs', more: './more' } });
      await until(async () => (await uris(on)).includes('more+file:///'), 'the mended configuration');
    }));

  it('is refused with advice if it changes an option that is only read at the start', () =>
    serving({ mounts: { docs: './docs' } }, async (on, _folder, change) => {
      await change({ mounts: { docs: './docs', more: './more' }, limits: { pageSize: 1 }, tools: 'off' });
      await until(() => on.stderr().includes('is refused'), 'the reason');
      expect(on.stderr()).toContain(
        'limits, tools cannot change while it is served; restart to take over the new configuration',
      );
      expect(await uris(on)).toEqual(['docs+file:///', 'docs+file:///a.md']);
      expect(on.client.getServerCapabilities()?.tools).toBeDefined();
    }));
});
