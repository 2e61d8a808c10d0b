/** Watches and reads of the client library while a server ends, comes back, or its streams break. */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { createResourceClient, type ResourceClient, type Watch, type WatchEvent } from '../../src/client/index.ts';
import { connectResourceClient, parseCommandLine } from '../../src/client/node/index.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { CLI, connect, ERAS, MATRIX, startHttp } from '../e2e/harness.ts';
import { until, within } from '../e2e/waiting.ts';
import { type Faulty, faulty } from '../gateway/faults/faulty.ts';
import { eraOf } from './scripted.ts';

const ONE = 'thing:///one';

/** All events of a watch. */
function collect(watch: Watch): { readonly events: WatchEvent[]; readonly end: Promise<unknown> } {
  const events: WatchEvent[] = [];
  const end = (async () => {
    for await (const event of watch) events.push(event);
  })().catch((error: unknown) => error);
  return { events, end };
}

const textOf = async (resources: ResourceClient): Promise<string | undefined> =>
  (await resources.read(ONE)).primary?.text();

/** Makes a change again and again until an event of this kind is reported, because a stream may not be open yet. */
async function tellsOf(server: Faulty, events: readonly WatchEvent[], text: string): Promise<void> {
  const before = events.length;
  await until(async () => {
    await server.changes(text);
    return await until(() => events.slice(before).some(({ kind }) => kind === 'updated'), 'an update', 500).catch(
      () => false,
    );
  }, 'a change to be told');
}

describe.each(MATRIX)('a server of the $era era over $transport', (way) => {
  it('that ends and comes back is watched again, and possibly missed changes are reported [RES-4]', async () => {
    await using server = await faulty(way);
    await using resources = await connectResourceClient(server.target);
    expect((await resources.connect()).era).toBe(way.era);
    const one = resources.watch(ONE);
    const list = resources.watchList();
    await within(Promise.all([one.ready, list.ready]), 'the subscriptions');
    const told = collect(one);
    const listTold = collect(list);
    await tellsOf(server, told.events, 'second');
    expect(await textOf(resources)).toBe('second');
    expect(told.events.every(({ kind }) => kind === 'updated')).toBe(true);

    await server.fails({ kind: 'crash-loop' });
    await until(async () => (await server.running()).length === 0, 'the end of the server');
    await server.changes('meanwhile');
    await server.well();
    await server.restart();
    const missed = (events: readonly WatchEvent[]): boolean => events.some(({ kind }) => kind === 'missed');
    await until(() => missed(told.events) && missed(listTold.events), 'what may be missed');
    expect(await textOf(resources)).toBe('meanwhile');
    await tellsOf(server, told.events, 'third');
    expect(await textOf(resources)).toBe('third');

    await one.close();
    await list.close();
    expect(await told.end).toBeUndefined();
    expect(await listTold.end).toBeUndefined();
  });

  it('that ends between two reads is connected to again for the next one', async () => {
    await using server = await faulty(way);
    await using resources = await connectResourceClient(server.target);
    expect(await textOf(resources)).toBe('at first');
    await server.fails({ kind: 'crash-loop' });
    await until(async () => (await server.running()).length === 0, 'the end of the server');
    await expect(textOf(resources)).rejects.toMatchObject({ code: 'unavailable', retryable: true });
    await server.well();
    await server.restart();
    await until(async () => (await textOf(resources).catch(() => undefined)) === 'at first', 'an answer');
  });

  it('that never comes back ends the watches with an error', async () => {
    await using server = await faulty(way);
    await using resources = await connectResourceClient(server.target, {
      reconnect: { maxAttempts: 2, initialDelayMs: 10 },
    });
    // In the 2026 era over HTTP no connection can be lost: a stream that ends is opened again.
    if (way.era === 'modern' && way.transport === 'http') return;
    const watch = resources.watch(ONE);
    await within(watch.ready, 'the subscription');
    const told = collect(watch);
    await server.fails({ kind: 'crash-loop' });
    expect(await within(told.end, 'the end of the watch')).toMatchObject({ code: 'unavailable' });
  });
});

describe.each(ERAS)('streams of a server of the %s era', (era) => {
  it('that break off are opened again, and possibly missed changes are reported [RES-4]', async () => {
    await using server = await faulty({ transport: 'http', era });
    await using resources = await connectResourceClient(server.target);
    const watch = resources.watch(ONE);
    await within(watch.ready, 'the subscription');
    const told = collect(watch);
    await tellsOf(server, told.events, 'second');
    // Each stream is cut as soon as it is open, until the server is mended.
    await server.fails({ kind: 'cut-streams' });
    await until(() => told.events.some(({ kind }) => kind === 'missed'), 'what may be missed');
    await server.changes('meanwhile');
    const before = told.events.length;
    await server.well();
    await until(() => told.events.length > before, 'the change, or that it may be missed');
    expect(await textOf(resources)).toBe('meanwhile');
    await tellsOf(server, told.events, 'third');
  });
});

describe('a subscription that is refused after a reconnection', () => {
  const OTHER = 'thing:///other';

  /** Connects to a new server each time. From the second one on, the first subscriptions to ONE are refused. */
  function refusing(refusals: number) {
    const state = { text: 'old', refused: 0, servers: [] as Server[] };
    async function source(): Promise<Client> {
      const again = state.servers.length > 0;
      const server = new Server(
        { name: 'refusing', version: '1' },
        { capabilities: { resources: { subscribe: true } } },
      );
      state.servers.push(server);
      server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
        if (!again || uri !== ONE || state.refused >= refusals) return {};
        state.refused++;
        throw new Error('not now');
      });
      server.setRequestHandler('resources/read', async ({ params: { uri } }) => ({
        contents: [{ uri, text: state.text }],
      }));
      const [here, there] = InMemoryTransport.createLinkedPair();
      const client = new Client({ name: 'test', version: '1' }, eraOf.legacy.clientOptions);
      await Promise.all([server.connect(there), client.connect(here)]);
      return client;
    }
    return { state, source };
  }

  it.each([1, 2])('%d times: when it is granted, nothing old is read any more [RES-4]', async (refusals) => {
    const { state, source } = refusing(refusals);
    await using resources = createResourceClient(source, {
      cache: { defaultTtlMs: 600_000 },
      reconnect: { initialDelayMs: 1 },
    });
    const watches = [resources.watch(ONE), resources.watch(OTHER)] as const;
    await within(Promise.all(watches.map(({ ready }) => ready)), 'the subscriptions');
    const [told, otherTold] = [collect(watches[0]), collect(watches[1])];
    await state.servers[0]?.close();
    await until(() => told.events.length > 0 && otherTold.events.length > 0, 'the reconnection');
    const read = async (uri: string) => (await resources.read(uri)).primary?.text();
    for (const uri of [ONE, `${ONE}#L1`, OTHER]) expect(await read(uri)).toBe('old');
    state.text = 'new';
    await until(() => told.events.length > 1, 'the subscription to be granted');
    expect(state.refused).toBe(refusals);
    expect(told.events[1]).toEqual({ kind: 'missed', reason: 'reconnected' });
    for (const uri of [ONE, `${ONE}#L1`]) expect(await read(uri)).toBe('new');
    // This subscription was granted at once, so its server would have reported a change.
    expect(await read(OTHER)).toBe('old');
    expect(otherTold.events).toHaveLength(1);
  });
});

describe('a client that the caller connected', () => {
  it.each(ERAS)('ends its watches when it is closed, and this library does not close it (%s)', async (era) => {
    await using folder = await temporaryFolder({ 'a.txt': 'a' });
    await using server = await connect('stdio', era, [folder.path]);
    const first = createResourceClient(server.client);
    expect((await first.read('file:///a.txt')).primary?.text()).toBe('a');
    const early = collect(first.watch('file:///a.txt'));
    await first.close();
    expect(await within(early.end, 'the end of a watch')).toBeUndefined();
    await expect(first.read('file:///a.txt')).rejects.toMatchObject({ code: 'closed' });

    await using second = createResourceClient(server.client);
    const watch = second.watch('file:///a.txt');
    await within(watch.ready, 'the subscription');
    const told = collect(watch);
    await server.client.close();
    expect(await within(told.end, 'the end of the other watch')).toMatchObject({ code: 'unavailable' });
    await expect(second.read('file:///a.txt', { fresh: true })).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('keeps its own handlers', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'a' });
    await using server = await connect('stdio', 'legacy', [folder.path]);
    const heard: string[] = [];
    server.client.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void heard.push(params.uri),
    );
    await using resources = createResourceClient(server.client);
    const watch = resources.watch('file:///a.txt');
    await within(watch.ready, 'the subscription');
    const told = collect(watch);
    await folder.write('a.txt', 'b');
    await until(() => heard.length > 0 && told.events.length > 0, 'the change');
  });
});

describe('connecting to a server by a text', () => {
  it('starts a command line, and connects to a URL', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'a' });
    await using program = await connectResourceClient(`"${process.execPath}" '${CLI}' serve "${folder.path}"`);
    expect((await program.connect()).era).toBe('modern');
    expect((await program.read('file:///a.txt')).primary?.text()).toBe('a');
    await using listening = await startHttp([folder.path]);
    await using web = await connectResourceClient(listening.url);
    expect((await web.read('file:///a.txt')).primary?.text()).toBe('a');
  });

  it('reports that there is nothing to connect to', async () => {
    await expect(connectResourceClient('/nothing/that/is/there')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(connectResourceClient('http://127.0.0.1:1/mcp')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(connectResourceClient('')).rejects.toMatchObject({ code: 'invalid' });
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(connectResourceClient('http://127.0.0.1:1/mcp', { signal })).rejects.toThrow('enough');
  });

  it.each([
    ['npx -y server', ['npx', '-y', 'server']],
    [`a 'b c' "d \\" \\e" f\\ g ''`, ['a', 'b c', 'd " \\e', 'f g', '']],
    ['a$(x) `y` *;&&', ['a$(x)', '`y`', '*;&&']],
  ])('splits %s as a shell would, without expanding anything', (text, [command, ...args]) => {
    expect(parseCommandLine(text)).toEqual({ command, args });
  });

  it('refuses a quote that is not closed', () => {
    expect(() => parseCommandLine('a "b')).toThrow('open quote');
  });
});
