/** Three replicas of one polled source: one of them polls it, and every subscriber gets updates. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { httpProvider } from '../../src/providers/http/index.ts';
import { createHub, type Hub } from '../../src/serving/bus/hub.ts';
import { until } from '../e2e/waiting.ts';
import { type FaultyBus, faultyBus } from './faulty-bus.ts';
import { type Replica, serveReplica } from './in-process.ts';
import { connectInTurn, type InTurn } from './in-turn.ts';
import { type PolledPage, polledPage } from './polled-page.ts';

const KEYS = [new Uint8Array(32).fill(7)];
const LOOK_SECONDS = 0.1;

interface Subscribed {
  readonly replica: Replica;
  readonly faults: FaultyBus;
  /** A client whose requests go to this replica only. */
  readonly client: InTurn;
}

let hub: Hub;
let page: PolledPage<number>;
let all: Subscribed[];
/** The replica whose rules now deny the page to everybody. */
let withheld: number | undefined;

async function start(number: number): Promise<Subscribed> {
  const faults = faultyBus(hub);
  const provider = await httpProvider({
    http: [{ url: page.url, headers: { 'x-replica': String(number) } }],
    pollSeconds: LOOK_SECONDS,
    allowPrivate: true,
  });
  const replica = await serveReplica({
    mounts: [{ name: 'web', provider, prefix: 'none' }],
    keys: KEYS,
    bus: faults.bus,
    access: {
      name: 'until it is withheld',
      attributes: false,
      decide: ({ operation }) => ({
        effect: operation === 'subscribe' && number === withheld ? 'deny' : 'allow',
        rule: 'withheld',
      }),
    },
  });
  const client = await connectInTurn(() => [replica.serving.url], { ends: false });
  await until(() => client.holder !== undefined, 'the stream');
  return { replica, faults, client };
}

beforeEach(async () => {
  hub = createHub();
  page = await polledPage(({ replica }) => Number(replica));
  withheld = undefined;
  all = [await start(0), await start(1), await start(2)];
  for (const { client } of all) await client.request('resources/subscribe', { uri: page.url });
});

afterEach(async () => {
  await Promise.all(all.map(({ client }) => client[Symbol.asyncDispose]()));
  await Promise.all(all.map(({ replica }) => replica.close()));
  hub.close();
  await page[Symbol.asyncDispose]();
});

/** Changes the page. Every client gets an update, and reads the new page. */
async function changes(text: string, clients = all.map(({ client }) => client)): Promise<void> {
  const before = clients.map(({ updates }) => updates.get(page.url) ?? 0);
  page.text = text;
  await Promise.all(clients.map((each, index) => each.told(page.url, before[index] ?? 0)));
  for (const each of clients)
    expect(await each.request('resources/read', { uri: page.url })).toMatchObject({ contents: [{ text }] });
}

describe('a page that three replicas serve', () => {
  it('is polled by one of them; the subscribers of all get updates and read the new page', async () => {
    expect(await page.lookers(1)).toEqual([0]);
    await changes('second');
    await changes('third');
    expect(await page.lookers(1)).toEqual([0]);
  });

  it('is polled by another replica when the first is killed, and no update is lost', async () => {
    expect(await page.lookers(1)).toEqual([0]);
    const [killed, ...rest] = all;
    const before = rest.map(({ client }) => client.updates.get(page.url) ?? 0);
    // The replica no longer sends or receives anything, and so releases nothing.
    killed?.faults.cut();
    await killed?.client[Symbol.asyncDispose]();
    await killed?.replica.close();
    page.text = 'while nobody looked';
    all = rest;
    await Promise.all(rest.map(({ client }, index) => client.told(page.url, before[index] ?? 0)));
    const [looker] = await page.lookers(1);
    expect([1, 2]).toContain(looker);
    await changes('after');
  });

  it('is polled by each of them while the bus is away, and by one when it is back', async () => {
    for (const { faults } of all) faults.cut();
    expect([...(await page.lookers(3))].sort()).toEqual([0, 1, 2]);
    await changes('without a bus');
    for (const { faults } of all) faults.mend();
    await page.lookers(1);
    await changes('with the bus');
  });

  it('is polled also by a replica that is cut off from the others', async () => {
    const [, cut] = all;
    cut?.faults.cut();
    expect([...(await page.lookers(2))].sort()).toEqual([0, 1]);
    await changes('on both sides');
    cut?.faults.mend();
    await page.lookers(1);
    await changes('together');
  });

  it('has each change reported by a replica only if its rules allow that at the moment', async () => {
    const clients = all.map(({ client }) => client);
    await changes('second');
    withheld = 1;
    const before = clients[1]?.updates.get(page.url);
    const allowed = clients.filter((_, index) => index !== withheld);
    await changes('third', allowed);
    await changes('fourth', allowed);
    expect(clients[1]?.updates.get(page.url)).toBe(before);
  });
});
