/** The laws of SEP-2093: each can be broken, Vitrine keeps them, and an older server can be taught to keep them. */
import { describe, expect, it } from 'vitest';
import { hierarchyFromReads, type ReadingServer } from 'vitrine/sep-2093';
import {
  checkHierarchyLaw,
  type HierarchyFixture,
  type HierarchyLaw,
  RESOURCE_HIERARCHY_LAWS,
} from 'vitrine/sep-2093/testing';
import { temporaryFolder } from '../e2e/folders.ts';
import { connect, MATRIX } from '../e2e/harness.ts';
import { BROKEN } from './broken.ts';
import { type Taught, teach } from './in-process.ts';
import { shelf } from './shelf.mjs';

const onShelf = (taught: Taught): HierarchyFixture => ({
  ...taught,
  container: { uri: 'shelf:///drawer', children: [1, 2, 3, 4].map((number) => `shelf:///drawer/${number}`) },
  leaf: 'shelf:///report',
  missing: 'shelf:///none',
});

function lawOf(beginning: string): HierarchyLaw {
  const [law, ...others] = RESOURCE_HIERARCHY_LAWS.filter(({ name }) => name.startsWith(beginning));
  return law !== undefined && others.length === 0 ? law : expect.fail(`"${beginning}" begins no law, or several`);
}

describe('the laws of SEP-2093', () => {
  it.each(BROKEN)('fail a server that $defect', async ({ law, says, break: breakIt }) => {
    await expect(checkHierarchyLaw(lawOf(law), () => onShelf(breakIt(teach(shelf))))).rejects.toThrow(says);
  });

  it('can fail: each has a server here that breaks it', () => {
    const unbroken = RESOURCE_HIERARCHY_LAWS.filter(({ name }) => !BROKEN.some(({ law }) => name.startsWith(law)));
    expect(unbroken.map(({ name }) => name)).toEqual([]);
  });

  it('close their server, whether they are kept or broken', async () => {
    let closed = 0;
    const make = (): HierarchyFixture => ({ ...onShelf(teach(shelf)), close: async () => void closed++ });
    const law = { name: 'a law', check: async () => {} };
    await checkHierarchyLaw(law, make);
    const broken = { name: 'a law', check: () => Promise.reject(new Error('broken')) };
    await expect(checkHierarchyLaw(broken, make)).rejects.toThrow('broken');
    expect(closed).toBe(2);
  });
});

describe.each(MATRIX)('Vitrine over $transport, $era', ({ transport, era }) => {
  it('keeps every law of SEP-2093 [2093-1, 2093-2, 2093-3, 2093-4, 2093-5, 2093-6, 2093-8]', async () => {
    const names = ['a b.txt', 'c.md', 'ü.txt'];
    await using folder = await temporaryFolder(Object.fromEntries(names.map((name) => [`in/${name}`, `of ${name}`])));
    await using on = await connect(transport, era, [folder.path]);
    for (const law of RESOURCE_HIERARCHY_LAWS) {
      await checkHierarchyLaw(law, () => ({
        request: on.request,
        capabilities: on.client.getServerCapabilities() as Readonly<Record<string, unknown>>,
        container: { uri: 'file:///in', children: names.map((name) => `file:///in/${encodeURIComponent(name)}`) },
        leaf: 'file:///in/c.md',
        missing: 'file:///in/none',
      }));
    }
  });
});

describe('a server whose reads of directories have many URIs', () => {
  const texts = new Map([1, 2, 3].map((number) => [`old:///day/${number}`, `text ${number}`]));
  const old = (parts: Partial<ReadingServer> = {}): ReadingServer => ({
    // Only the list has these titles.
    list: () => ({ resources: ['old:///day', 'old:///day/1'].map((uri) => ({ uri, title: `Title of ${uri}` })) }),
    read(uri) {
      if (uri === 'old:///empty') return [];
      const found = [...texts].filter(([each]) => each === uri || each.startsWith(`${uri}/`));
      return found.length === 0 ? undefined : found.map(([each, text]) => ({ uri: each, text }));
    },
    ...parts,
  });
  const fixtureOf = (server: ReadingServer): HierarchyFixture => ({
    ...teach(hierarchyFromReads(server)),
    container: { uri: 'old:///day', children: [...texts.keys()] },
    leaf: 'old:///day/1',
    missing: 'old:///none',
  });

  it.each([
    ['its reads', old()],
    ['its word', old({ isDirectory: (uri) => /^old:\/\/\/(?:day|empty)$/.test(uri) })],
  ])('keeps every law, known by %s [2093-13]', async (_known, server) => {
    for (const law of RESOURCE_HIERARCHY_LAWS) await checkHierarchyLaw(law, () => fixtureOf(server));
  });

  it('gives directories the fields of its list, and reads nothing once no caller waits [2093-13]', async () => {
    const { request } = fixtureOf(old());
    expect(await request('resources/metadata', { uri: 'old:///day' })).toEqual({
      resource: {
        ...{ uri: 'old:///day', name: 'day', title: 'Title of old:///day', mimeType: 'inode/directory' },
        capabilities: { list: true, subscribe: false },
      },
    });
    const context = { signal: AbortSignal.abort(new Error('gone')), extra: {} };
    const silent = hierarchyFromReads(old({ read: () => expect.fail('It was read') }));
    await expect(silent.list(undefined, undefined, context)).rejects.toThrow('gone');
  });
});
