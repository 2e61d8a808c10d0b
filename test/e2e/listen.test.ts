/** `subscriptions/listen` (2026-07-28): its acknowledgement, its streams, and how they end. */
import { appendFile, unlink } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, connectHttp, startHttp, TRANSPORTS } from './harness.ts';
import { collectNotices, type Notices, subscribe } from './notices.ts';
import { until } from './waiting.ts';

describe.each(TRANSPORTS)('listening over %s', (transport) => {
  let folder: Folder;
  let server: Connected;
  let notices: Notices;
  beforeEach(async () => {
    folder = await temporaryFolder({ 'a.txt': '', 'b.txt': '', 'c.txt': '' });
    server = await connect(transport, 'modern', [folder.path]);
    notices = await collectNotices(server);
  });
  afterEach(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  const append = (name: string): Promise<void> => appendFile(folder.at(name), '.');

  it('acknowledges the filter that it honours [RES-4]', async () => {
    const stream = await server.client.listen({
      resourcesListChanged: true,
      resourceSubscriptions: ['file:///a.txt', 'file:///'],
    });
    expect(stream.honoredFilter).toEqual({
      resourcesListChanged: true,
      resourceSubscriptions: ['file:///a.txt', 'file:///'],
    });
  });

  it('leaves what it cannot honour out of the acknowledgement, and honours the rest [RES-4, SEC-CAP-1]', async () => {
    const stream = await server.client.listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: [
        'file:///missing.txt',
        'file:///a.txt',
        'file:///%zz',
        'other:x',
        'file:///../etc/passwd',
      ],
    });
    expect(stream.honoredFilter.resourceSubscriptions).toEqual(['file:///a.txt']);
    expect(stream.honoredFilter.resourcesListChanged ?? false).toBe(false);
    expect(stream.honoredFilter.toolsListChanged ?? false).toBe(false);
    expect(stream.honoredFilter.promptsListChanged ?? false).toBe(false);
    await append('a.txt');
    await notices.told('file:///a.txt');
  });

  it('does not report changes of the list unless requested [RES-4]', async () => {
    await server.client.listen({ resourceSubscriptions: ['file:///a.txt'] });
    await folder.write('new.txt', '');
    await append('a.txt');
    await notices.told('file:///a.txt');
    expect(notices.count('list_changed')).toBe(0);
  });

  it('keeps the streams of one client apart: each gets its own notifications, once [RES-4]', async () => {
    const first = await server.client.listen({ resourceSubscriptions: ['file:///a.txt', 'file:///b.txt'] });
    const second = await server.client.listen({ resourceSubscriptions: ['file:///b.txt', 'file:///c.txt'] });
    await append('a.txt');
    await notices.told('file:///a.txt');
    await append('b.txt');
    await notices.told('file:///b.txt', 2);
    await append('c.txt');
    await notices.told('file:///c.txt');
    const streams = new Map<string, unknown[]>();
    for (const { about, stream } of notices.seen) streams.set(about, [...(streams.get(about) ?? []), stream]);
    const [a] = streams.get('file:///a.txt') ?? [];
    const [c] = streams.get('file:///c.txt') ?? [];
    expect(a).toBeDefined();
    expect(c).toBeDefined();
    expect(a).not.toBe(c);
    expect(new Set(streams.get('file:///b.txt'))).toEqual(new Set([a, c]));
    expect(notices.seen).toHaveLength(4);
    await first.close();
    await second.close();
  });

  it('goes on with one stream when another one for the same resource is closed [RES-4]', async () => {
    const first = await server.client.listen({ resourceSubscriptions: ['file:///a.txt'] });
    const second = await server.client.listen({ resourceSubscriptions: ['file:///a.txt'] });
    await first.close();
    expect(await first.closed).toBe('local');
    await server.request('resources/templates/list');
    await append('a.txt');
    await notices.told('file:///a.txt');
    await second.close();
    await server.request('resources/templates/list');
    const third = await server.client.listen({ resourceSubscriptions: ['file:///b.txt'] });
    await append('a.txt');
    await append('b.txt');
    await notices.told('file:///b.txt');
    expect(notices.count('file:///a.txt')).toBe(1);
    await third.close();
  });

  it('answers other requests while streams are open, and opens many [RES-4]', async () => {
    const streams = await Promise.all(
      Array.from({ length: 20 }, () => server.client.listen({ resourceSubscriptions: ['file:///a.txt'] })),
    );
    await expect(server.request('resources/list')).resolves.toHaveProperty('resources');
    await append('a.txt');
    await notices.told('file:///a.txt', 20);
    await Promise.all(streams.map((stream) => stream.close()));
  });

  it('goes on when the resource is removed, and reports its return [RES-4]', async () => {
    await server.client.listen({ resourceSubscriptions: ['file:///a.txt', 'file:///b.txt'] });
    await unlink(folder.at('a.txt'));
    await notices.told('file:///a.txt');
    await append('b.txt');
    await notices.told('file:///b.txt');
    notices.forget();
    await folder.write('a.txt', 'back');
    await notices.told('file:///a.txt');
  });
});

describe('listen streams over http', () => {
  it('are limited in number, and one that ends makes room [RES-4]', async () => {
    await using folder = await temporaryFolder({ 'data/a.txt': '' });
    const config = await writeConfig(folder, { limits: { maxStreams: 2 }, mounts: { data: './data' } });
    await using server = await connect('http', 'modern', ['--config', config]);
    const listen = () => server.client.listen({ resourceSubscriptions: ['data+file:///a.txt'] });
    const first = await listen();
    await listen();
    await expect(listen()).rejects.toThrow();
    await expect(server.request('resources/list')).resolves.toHaveProperty('resources');
    await first.close();
    await until(() => listen().catch(() => undefined), 'room for another stream');
  });
});

describe('two clients of one server', () => {
  it.each(['legacy', 'modern'] as const)(
    'get notifications of their own subscriptions only, when %s [RES-4]',
    async (era) => {
      await using folder = await temporaryFolder({ 'a.txt': '', 'b.txt': '' });
      await using listening = await startHttp([folder.path]);
      await using first = await connectHttp(era, listening);
      await using second = await connectHttp(era, listening);
      const told = [await collectNotices(first), await collectNotices(second)] as const;
      await subscribe(first, ['file:///a.txt']);
      await subscribe(second, ['file:///b.txt']);
      await appendFile(folder.at('a.txt'), '.');
      await told[0].told('file:///a.txt');
      await appendFile(folder.at('b.txt'), '.');
      await told[1].told('file:///b.txt');
      expect(told[0].seen.map(({ about }) => about)).toEqual(['file:///a.txt']);
      expect(told[1].seen.map(({ about }) => about)).toEqual(['file:///b.txt']);
    },
  );

  it('get notifications of the same change in both eras [RES-4]', async () => {
    await using folder = await temporaryFolder({ 'a.txt': '' });
    await using listening = await startHttp([folder.path]);
    await using legacy = await connectHttp('legacy', listening);
    await using modern = await connectHttp('modern', listening);
    const told = [await collectNotices(legacy), await collectNotices(modern)];
    await subscribe(legacy, ['file:///a.txt']);
    await subscribe(modern, ['file:///a.txt']);
    await appendFile(folder.at('a.txt'), '.');
    await Promise.all(told.map((notices) => notices.told('file:///a.txt')));
  });
});
