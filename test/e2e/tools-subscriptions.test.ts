/** Subscriptions by tools: what they report later, to whom, and what an open connection gets at once. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BookPage } from '../../src/frontends/resource-tools/subscribing/book.ts';
import type { CallToolResult } from '../../src/protocol/content.ts';
import { structured, textOf } from '../tools/engine.ts';
import { readOne } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, connectHttp, connectStdio, MATRIX, startHttp } from './harness.ts';
import { collectNotices } from './notices.ts';
import { until } from './waiting.ts';

const A = 'data+file:///a.txt';
const B = 'data+file:///b.txt';
const STATE = 'vitrine+state:///subscriptions';

async function call(on: Connected, name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
  const result = await on.request<CallToolResult & Record<string, unknown>>('tools/call', { name, arguments: args });
  if (result.isError) throw new Error(textOf(result));
  return result;
}

const bookOf = async (on: Connected): Promise<BookPage> => structured<BookPage>(await call(on, 'list_subscriptions'));

describe.each(MATRIX)('subscription tools over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  beforeEach(async () => {
    folder = await temporaryFolder({ 'data/a.txt': 'one', 'data/b.txt': 'one' });
    server = await connect(transport, era, ['--config', await writeConfig(folder, { mounts: { data: './data' } })]);
  });
  afterEach(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  it('report that a resource has changed since, and which one [CB-8]', async () => {
    await call(server, 'subscribe', { uri: A });
    await call(server, 'subscribe', { uri: B });
    expect((await bookOf(server)).subscriptions.map(({ uri, changes }) => [uri, changes])).toEqual([
      [A, 0],
      [B, 0],
    ]);
    await folder.write('data/a.txt', 'two');
    const changed = await until(async () => {
      const [first] = (await bookOf(server)).subscriptions;
      return first !== undefined && first.changes > 0 && first;
    }, 'the change to be told');
    expect(Date.parse(changed.lastChange ?? '')).toBeGreaterThanOrEqual(Date.parse(changed.since));
    expect((await bookOf(server)).subscriptions[1]).toMatchObject({ uri: B, changes: 0 });
    await call(server, 'unsubscribe', { uri: A });
    expect((await bookOf(server)).subscriptions.map(({ uri }) => uri)).toEqual([B]);
  });

  it('report that the list has changed [CB-8]', async () => {
    expect((await bookOf(server)).listChanges).toBeUndefined();
    await call(server, 'subscribe_list_changes');
    expect((await bookOf(server)).listChanges).toMatchObject({ changes: 0 });
    await folder.write('data/new.txt', 'new');
    await until(async () => ((await bookOf(server)).listChanges?.changes ?? 0) > 0, 'the change to be told');
    await call(server, 'unsubscribe_list_changes');
    expect(await bookOf(server)).toEqual({ subscriptions: [] });
  });

  it('have their state in a resource that is in no list [CB-8]', async () => {
    await call(server, 'subscribe', { uri: A });
    await call(server, 'subscribe_list_changes');
    const item = await readOne(server, STATE);
    expect(item).toMatchObject({ uri: STATE, name: 'subscriptions', mimeType: 'application/json' });
    expect(item.capabilities).toEqual({ list: false, subscribe: false });
    expect(JSON.parse(item.text ?? '')).toEqual(await bookOf(server));
    const { resources } = await server.request<{ resources: { uri: string }[] }>('resources/list');
    expect(resources.map(({ uri }) => uri)).toEqual(['data+file:///', A, B]);
  });

  if (era === 'legacy') {
    it('notify a lasting connection at once, and only once for each change [CB-8, RES-4]', async () => {
      const notices = await collectNotices(server);
      await call(server, 'subscribe', { uri: A });
      await server.client.subscribeResource({ uri: A });
      await folder.write('data/a.txt', 'two');
      await notices.told(A);
      // A client that is subscribed in both ways gets one notification for each change, also after one of the ways has ended.
      const told = notices.count(A);
      await until(
        async () => (await bookOf(server)).subscriptions[0]?.changes === told,
        'as many changes as were told',
      );
      notices.forget();
      await server.client.unsubscribeResource({ uri: A });
      await folder.write('data/a.txt', 'three');
      await notices.told(A);
      notices.forget();
      await call(server, 'unsubscribe', { uri: A });
      await server.client.subscribeResource({ uri: B });
      await folder.write('data/a.txt', 'four');
      await folder.write('data/b.txt', 'four');
      await notices.told(B);
      expect(notices.count(A)).toBe(0);
    });
  } else {
    it('send nothing that the stream did not request', async () => {
      const notices = await collectNotices(server);
      await call(server, 'subscribe', { uri: A });
      const stream = await server.client.listen({ resourceSubscriptions: [B] });
      await folder.write('data/a.txt', 'two');
      await until(async () => ((await bookOf(server)).subscriptions[0]?.changes ?? 0) > 0, 'the change to be counted');
      await folder.write('data/b.txt', 'two');
      await notices.told(B);
      expect(notices.count(A)).toBe(0);
      await stream.close();
    });
  }
});

describe('subscriptions by tools of several clients', () => {
  it('belong to a session, end with it, and share a watch [CB-8, SEC-RES-4]', async () => {
    await using folder = await temporaryFolder({ 'data/a.txt': 'one' });
    await using server = await startHttp(['--config', await writeConfig(folder, { mounts: { data: './data' } })]);
    await using one = await connectHttp('legacy', server);
    await using two = await connectHttp('legacy', server);
    await call(one, 'subscribe', { uri: A });
    expect((await bookOf(two)).subscriptions).toEqual([]);
    await call(two, 'subscribe', { uri: A });
    await one.close();
    await folder.write('data/a.txt', 'two');
    await until(async () => ((await bookOf(two)).subscriptions[0]?.changes ?? 0) > 0, 'the change to be counted');
  });

  it('belong to the principal if the protocol has no connection', async () => {
    await using folder = await temporaryFolder({ 'data/a.txt': 'one' });
    await using server = await startHttp(['--config', await writeConfig(folder, { mounts: { data: './data' } })]);
    await using one = await connectHttp('modern', server);
    await using two = await connectHttp('modern', server);
    await using session = await connectHttp('legacy', server);
    await call(one, 'subscribe', { uri: A });
    expect((await bookOf(two)).subscriptions).toHaveLength(1);
    expect((await bookOf(session)).subscriptions).toHaveLength(0);
  });

  it('are limited to a hundred resources for each client [SEC-RES-4]', async () => {
    const names = Array.from({ length: 101 }, (_, index) => `data/${index}.txt`);
    await using folder = await temporaryFolder(Object.fromEntries(names.map((name) => [name, 'x'])));
    await using server = await connectStdio('modern', [
      '--config',
      await writeConfig(folder, { mounts: { data: './data' } }),
    ]);
    for (let index = 0; index < 100; index++) await call(server, 'subscribe', { uri: `data+file:///${index}.txt` });
    await expect(call(server, 'subscribe', { uri: 'data+file:///100.txt' })).rejects.toThrow('end one first');
    expect((await bookOf(server)).subscriptions).toHaveLength(100);
  });
});
