/** Sessions of 2025 over replicas that answer in turn: each of them continues each session, and no notification is lost. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus } from '../../src/core/bus.ts';
import { ResourceError } from '../../src/core/errors.ts';
import { busAt, createHub, type Hub } from '../../src/serving/bus/hub.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { INITIALIZE, JSON_HEADERS } from '../e2e/raw.ts';
import { until } from '../e2e/waiting.ts';
import { type Replica, startReplica } from './in-process.ts';
import { connectInTurn } from './in-turn.ts';

const KEYS = [new Uint8Array(32).fill(7)];
const NOTE = 'file:///note.txt';

let folder: Folder;
let hub: Hub;
let replicas: Replica[];
const urls = (): readonly string[] => replicas.map(({ serving }) => serving.url);

const start = (keys = KEYS, bus = busAt(hub)): Promise<Replica> =>
  startReplica(folder.path, bus, { keys, confirm: ['file:///secret.txt'] });

beforeEach(async () => {
  folder = await temporaryFolder({ 'note.txt': 'first', 'secret.txt': 'hush' });
  hub = createHub();
  replicas = [await start(), await start(), await start()];
});

afterEach(async () => {
  await Promise.all(replicas.map((each) => each.close()));
  hub.close();
  await folder[Symbol.asyncDispose]();
});

/** Sends a request of a session to a replica. */
function ask(at: number, session: string, method: string, init: RequestInit = {}): Promise<Response> {
  return fetch(urls()[at] ?? '', {
    method: 'POST',
    headers: { ...JSON_HEADERS, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} }),
    ...init,
  });
}

describe('a session of 2025', () => {
  it('continues in every replica, and gets updates of a subscription that it made in another one', async () => {
    await using one = await connectInTurn(urls);
    await until(() => one.holder !== undefined, 'the stream');
    for (let each = 0; each < 3; each++) expect(await one.request('resources/list')).toHaveProperty('resources');
    await one.request('resources/subscribe', { uri: NOTE });
    const before = one.updates.get(NOTE) ?? 0;
    await folder.write('note.txt', 'second');
    await one.told(NOTE, before);
    expect(await one.request('resources/read', { uri: NOTE })).toMatchObject({ contents: [{ text: 'second' }] });
    await one.request('resources/unsubscribe', { uri: NOTE });
    await until(() => replicas.every(({ vitrine }) => vitrine.changes.size <= 1), 'the end of the watch');
  });

  it('loses nothing when the replica with its stream ends', async () => {
    await using one = await connectInTurn(urls);
    await until(() => one.holder !== undefined, 'the stream');
    await one.request('resources/subscribe', { uri: NOTE });
    const at = one.holder ?? 0;
    const before = one.updates.get(NOTE) ?? 0;
    const [gone] = replicas.splice(at, 1);
    await gone?.close();
    await folder.write('note.txt', 'while nobody watched');
    await one.told(NOTE, before);
    const again = one.updates.get(NOTE) ?? 0;
    await folder.write('note.txt', 'after');
    await one.told(NOTE, again);
    expect(await one.request('resources/read', { uri: NOTE })).toMatchObject({ contents: [{ text: 'after' }] });
  });

  it('answers a question of one replica through another one', async () => {
    await using one = await connectInTurn(urls, {
      capabilities: { elicitation: {} },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { confirm: true } })),
    });
    for (let each = 0; each < 3; each++) {
      const read = await one.request('resources/read', { uri: 'file:///secret.txt' });
      expect(read).toMatchObject({ contents: [{ text: 'hush' }] });
    }
  });

  it('ends in all replicas, and is refused if none of their keys has sealed its id', async () => {
    await using one = await connectInTurn(urls);
    const { session } = one;
    expect((await ask(0, session, 'ping')).status).toBe(200);
    expect((await ask(1, `${session.slice(0, -2)}AA`, 'ping')).status).toBe(404);
    expect((await ask(2, session, 'ping', { method: 'DELETE', body: null })).status).toBe(200);
    for (const at of [0, 1, 2])
      await until(async () => (await ask(at, session, 'ping')).status === 404, 'the end of the session');
    const stranger = await start([new Uint8Array(32).fill(8)]);
    replicas.push(stranger);
    const begun = await fetch(urls()[3] ?? '', {
      method: 'POST',
      headers: JSON_HEADERS,
      body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: INITIALIZE }),
    });
    await begun.text();
    expect((await ask(0, begun.headers.get('mcp-session-id') ?? '', 'ping')).status).toBe(404);
  });

  it('continues if the bus cannot store anything, but subscriptions are refused', async () => {
    const away: Bus = {
      ...busAt(hub),
      get whole() {
        return false;
      },
      memory: {
        ...hub.memory,
        put: () => Promise.reject(new ResourceError('unavailable', 'The bus is away')),
      },
    };
    const lonely = await start(KEYS, away);
    replicas.push(lonely);
    await using one = await connectInTurn(() => [lonely.serving.url]);
    await expect(one.request('resources/subscribe', { uri: NOTE })).rejects.toThrow('The bus is away');
    expect(await one.request('resources/read', { uri: NOTE })).toMatchObject({ contents: [{ text: 'first' }] });
  });

  it('needs keys for the bus, and has no tools whose subscriptions only one replica would know', async () => {
    expect(() => createVitrine({ mounts: {}, bus: busAt(hub) })).toThrow('A bus needs keys');
    await using one = await connectInTurn(urls);
    const { tools } = await one.request<{ tools: readonly { name: string }[] }>('tools/list');
    expect(tools.map(({ name }) => name)).not.toContain('subscribe');
  });
});
