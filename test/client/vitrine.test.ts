/** The client library at a Vitrine server, over stdio and HTTP, in both eras. */
import { appendFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResourceClient, type ResourceClient } from '../../src/client/index.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { type Connected, connect, MATRIX } from '../e2e/harness.ts';
import { within } from '../e2e/waiting.ts';
import { all } from './scripted.ts';

const uris = (entries: readonly { readonly uri: string }[]): string[] => entries.map(({ uri }) => uri);

describe.each(MATRIX)('Vitrine of the $era era over $transport', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  let resources: ResourceClient;
  beforeAll(async () => {
    folder = await temporaryFolder({
      'a.txt': 'first',
      'deep/b.md': '# B',
      'deep/deeper/c.txt': 'third',
      'deep/deeper/picture.bin': Uint8Array.from([0, 255, 1, 254]),
      'empty/': '',
      'wörter 1.txt': 'äöü€',
      ...Object.fromEntries(
        Array.from({ length: 150 }, (_, at) => [`many/${String(at).padStart(3, '0')}.txt`, `${at}`]),
      ),
    });
    server = await connect(transport, era, [folder.path]);
    resources = createResourceClient(server.client);
    await server.reachable;
  });
  afterAll(async () => {
    await resources.close();
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  it('gives the capabilities of the server', async () => {
    expect(await resources.connect()).toMatchObject({ era, resources: true, metadata: true, directories: true });
  });

  it('lists the children of a resource, page by page [2093-4]', async () => {
    const listing = resources.list('file:///many');
    const found = await all(listing);
    expect(found).toHaveLength(150);
    expect(found[0]).toMatchObject({ uri: 'file:///many/000.txt', capabilities: { list: false, subscribe: true } });
    expect(listing.report).toMatchObject({ via: 'scoped-list', stopped: 'end', pages: 2, resources: 150, dropped: 0 });
  });

  it('requests no page that nobody wants', async () => {
    const before = server.received.length;
    const listing = resources.list('file:///many');
    for await (const _ of listing) break;
    expect(listing.report).toMatchObject({ pages: 1, stopped: undefined });
    expect(server.received.slice(before).filter((message) => 'result' in message)).toHaveLength(1);
  });

  it('tells a missing resource from one without children [2093-4]', async () => {
    await expect(all(resources.list('file:///missing'))).rejects.toMatchObject({ code: 'not-found' });
    await expect(all(resources.list('file:///a.txt'))).rejects.toMatchObject({ code: 'not-listable' });
  });

  it('walks a tree level by level, with its report [2093-10]', async () => {
    const walk = resources.walk('file:///deep');
    const found = await all(walk);
    expect(found.map(({ resource, depth, parent }) => [resource.uri, depth, parent])).toEqual([
      ['file:///deep/deeper', 1, 'file:///deep'],
      ['file:///deep/b.md', 1, 'file:///deep'],
      ['file:///deep/deeper/c.txt', 2, 'file:///deep/deeper'],
      ['file:///deep/deeper/picture.bin', 2, 'file:///deep/deeper'],
    ]);
    expect(walk.report).toMatchObject({ resources: 4, containers: 2, complete: true, stops: [] });
    expect([...walk.report.via]).toEqual(['scoped-list']);
  });

  it('walks everything, each resource once, with its depth', async () => {
    const walk = resources.walk();
    const found = await all(walk);
    const given = found.map(({ resource }) => resource.uri);
    expect(new Set(given).size).toBe(given.length);
    expect(given).toHaveLength(1 + 5 + 2 + 2 + 150);
    const depths = new Map(found.map(({ resource, depth }) => [resource.uri, depth]));
    const root = depths.get('file:///') ?? Number.NaN;
    expect(depths.get('file:///deep/deeper/c.txt')).toBe(root + 3);
    expect(walk.report.complete).toBe(true);
  });

  it('walks in the same order, whatever the number of concurrent requests', async () => {
    const orders = await Promise.all(
      [1, 8].map(async (concurrency) =>
        uris((await all(resources.walk('file:///', { concurrency }))).map((each) => each.resource)),
      ),
    );
    expect(orders[1]).toEqual(orders[0]);
  });

  it('describes a resource without reading it [2093-2]', async () => {
    expect(await resources.metadata('file:///a.txt')).toMatchObject({
      source: 'metadata',
      resource: { uri: 'file:///a.txt', name: 'a.txt', size: 5, capabilities: { list: false, subscribe: true } },
    });
    await expect(resources.metadata('file:///missing')).rejects.toMatchObject({
      code: 'not-found',
      rpcCode: -32602,
      uri: 'file:///missing',
    });
  });

  it('reads text and bytes, with all fields of the resource [2093-1]', async () => {
    const { primary, from, issues } = await resources.read('file:///w%C3%B6rter%201.txt');
    expect([primary?.form, primary?.text(), primary?.byteLength, from, issues]).toEqual([
      'text',
      'äöü€',
      9,
      'server',
      [],
    ]);
    expect(primary?.resource).toMatchObject({ name: 'wörter 1.txt', size: 9, capabilities: { list: false } });
    expect(primary?.resource).not.toHaveProperty('text');
    const picture = await resources.read('file:///deep/deeper/picture.bin');
    expect(picture.primary?.form).toBe('blob');
    expect([...(picture.primary?.bytes() ?? [])]).toEqual([0, 255, 1, 254]);
  });

  it('reads a window, which the server cuts', async () => {
    const { primary } = await resources.read('file:///a.txt', { range: { offset: 1, length: 3 } });
    expect(primary?.text()).toBe('irs');
    expect(primary?.window).toEqual({ offset: 1, length: 3, total: 5, cutBy: 'server' });
  });

  it('reads a folder as children, and never takes them for all children [2093-5]', async () => {
    const read = await resources.read('file:///deep');
    expect(read).toMatchObject({ listable: true, primary: undefined, alternatives: [], issues: [] });
    expect(uris(read.children.map(({ resource }) => resource))).toEqual(['file:///deep/deeper', 'file:///deep/b.md']);
    expect((await resources.read('file:///empty')).children).toEqual([]);
  });

  it('refuses a resource that is too large before requesting it, if its size is known [SEC-RES-3]', async () => {
    await expect(resources.read('file:///a.txt', { maxBytes: 4 })).rejects.toMatchObject({ code: 'too-large' });
    await resources.metadata('file:///deep/b.md');
    const before = server.received.length;
    await expect(resources.read('file:///deep/b.md', { maxBytes: 2 })).rejects.toMatchObject({ code: 'too-large' });
    expect(server.received.length).toBe(before);
  });

  it('follows a link to its resource', async () => {
    const link = { type: 'resource_link', uri: 'file:///a.txt', name: 'the first', title: 'A' } as const;
    const resolved = await resources.resolveLink(link);
    expect(resolved.link.title).toBe('A');
    expect(resolved.primary?.text()).toBe('first');
  });

  it('lists templates', async () => {
    expect((await all(resources.templates())).map(({ uriTemplate }) => uriTemplate)).toContain('file:///{+path}');
  });

  it('ends a call whose signal is aborted, with its reason', async () => {
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(resources.read('file:///a.txt', { signal })).rejects.toBe(reason);
    await expect(resources.metadata('file:///a.txt', { signal })).rejects.toBe(reason);
    await expect(all(resources.list('file:///', { signal }))).rejects.toBe(reason);
    await expect(all(resources.walk('file:///', { signal }))).rejects.toBe(reason);
    expect(() => resources.watch('file:///a.txt', { signal })).toThrow(reason);
  });

  it('reports changes of a resource, and of entries of a folder [RES-4]', async () => {
    await folder.write('watched/one.txt', '1');
    await using file = resources.watch('file:///watched/one.txt');
    await using around = resources.watch('file:///watched');
    await within(Promise.all([file.ready, around.ready]), 'the subscriptions');
    await appendFile(folder.at('watched/one.txt'), '2');
    const [told] = await within(Promise.all([first(file), first(around)]), 'the changes');
    expect(told).toEqual({ kind: 'updated', uri: 'file:///watched/one.txt' });
    expect((await resources.read('file:///watched/one.txt')).primary?.text()).toBe('12');
  });

  it('reports changes of the list, until the watch ends [RES-4]', async () => {
    const watch = resources.watchList();
    await within(watch.ready, 'the stream');
    await folder.write('news.txt', '');
    const kinds: string[] = [];
    const reading = (async () => {
      for await (const event of watch) {
        kinds.push(event.kind);
        break;
      }
    })();
    await within(reading, 'the change');
    expect(kinds).toEqual(['list-changed']);
    expect(await watch[Symbol.asyncIterator]().next()).toMatchObject({ done: true });
  });

  it('refuses to watch a resource that cannot be watched', async () => {
    const watch = resources.watch('file:///missing.txt');
    await expect(watch.ready).rejects.toMatchObject({ name: 'ResourceClientError' });
    await expect(first(watch)).rejects.toMatchObject({ name: 'ResourceClientError' });
  });
});

async function first<T>(source: AsyncIterable<T>): Promise<T | undefined> {
  for await (const each of source) return each;
  return undefined;
}
