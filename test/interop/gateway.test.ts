/**
 * Servers of other makers, each behind one gateway and on its own: lists, reads, calls, prompts and completions are the same,
 * except that names and URIs are those of the mount.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { askable } from '../e2e/asked.ts';
import {
  type Connected,
  connectHttp,
  connectStdio,
  ERAS,
  type Era,
  type Listening,
  startHttp,
} from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { tellsOf } from '../gateway/fixture/asking.ts';
import {
  callOf,
  compare,
  completionsOf,
  linkingOf,
  promptsOf,
  type Question,
  reading,
  readsOf,
  wrongCallsOf,
} from './compared.ts';
import { answer, ask, type Data, drain, LIST_NAMES, LISTS, type Listed, type ListName, type Outcome } from './peer.ts';
import {
  isPublishedBy,
  linkedIn,
  publishEntry,
  publishedName,
  publishedUri,
  spokenIn,
  withoutAdded,
} from './published.ts';
import { killAll, type Scene, setScene } from './scene.ts';
import { type InteropServer, isInstalled, SERVERS } from './servers/index.ts';

// Many processes start, one after the other where there are few processors.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 });

const servers = SERVERS.filter(isInstalled);
const absent = SERVERS.filter((server) => !servers.includes(server)).map(({ name }) => name);
if (absent.length > 0) console.info(`Not installed, and left out: ${absent.join(', ')}`);

/** The server that has every feature of the protocol. */
const everything = servers.filter(({ name }) => name === 'everything');

/** The tools that this server adds for clients that declare sampling, elicitation and roots. */
const FURTHER_TOOLS = ['trigger-sampling-request', 'trigger-elicitation-request', 'get-roots-list'];

/** Few entries make many pages, which end within mounts and between them. */
const PAGE_SIZE = 10;

it('at least eight servers are installed in CI', () => {
  expect(servers.length).toBeGreaterThanOrEqual(process.env.CI === 'true' ? 8 : 0);
});

describe.each(servers.length === 0 ? [] : [{ count: servers.length }])('$count servers mounted together', () => {
  let scene: Scene;
  let gateway: Listening;
  const clients = new Map<Era, Connected>();

  beforeAll(async () => {
    scene = await setScene(servers, { tools: 'off', limits: { pageSize: PAGE_SIZE } });
    const direct = Promise.all(servers.map((server) => scene.direct(server)));
    direct.catch(() => {});
    gateway = await startHttp(['--config', scene.config]);
    for (const era of ERAS) clients.set(era, await connectHttp(era, gateway));
    await direct;
  });

  afterAll(async () => {
    for (const connected of clients.values()) await connected.close();
    await gateway?.stop();
    await scene?.[Symbol.asyncDispose]();
  });

  function clientOf(era: Era): Connected {
    const connected = clients.get(era);
    if (connected === undefined) throw new Error(`no client of the ${era} era is connected`);
    return connected;
  }

  /** Every entry of a list of the gateway. */
  async function listed(era: Era, list: ListName): Promise<Listed> {
    const all = await drain(clientOf(era).client, list);
    if (all === 'none') throw new Error(`the gateway does not have ${LISTS[list].method}`);
    return all;
  }

  /** Every entry of a list of the gateway; `false` if a server is missing in it. */
  async function completely(era: Era, list: ListName): Promise<Listed | false> {
    const all = await listed(era, list);
    return all.missing.length === 0 && all;
  }

  /** Expects the outcome through the gateway to be that of the server itself, and returns it. */
  async function expectSame(server: InteropServer, era: Era, question: Question): Promise<Outcome> {
    const { expected, got } = await compare(scene, clientOf(era), server, question);
    const asked = `${server.name}: ${question.method} ${JSON.stringify(question.params('<folder>'))}`;
    expect(got, asked).toEqual(expected);
    return expected;
  }

  /** The URIs of the contents that a server itself gives when a URI is read. */
  async function urisRead(server: InteropServer, uri: string): Promise<ReadonlySet<unknown>> {
    const outcome = await ask(await scene.direct(server), 'resources/read', { uri });
    const contents = 'result' in outcome ? (outcome.result.contents as readonly Data[]) : [];
    return new Set(contents.map((item) => item.uri));
  }

  it.each(servers)('$name by $make itself has the known numbers of entries', async (server) => {
    const client = await scene.direct(server);
    for (const list of LIST_NAMES) {
      const all = await drain(client, list);
      expect(all === 'none' ? 'none' : all.entries.length, list).toEqual(server.has[list]);
    }
  });

  describe.each(ERAS)('[CB-1] to a client of the %s era', (era) => {
    const lists = new Map<ListName, Listed>();

    beforeAll(async () => {
      // A list leaves out servers that are slow, as all are on a busy machine, and says so.
      for (const list of LIST_NAMES)
        lists.set(list, await until(() => completely(era, list), `all ${list} of all servers`));
    });

    /** Gives the entries that the gateway lists of a server. */
    const entriesOf = (server: InteropServer, list: ListName): readonly Data[] =>
      (lists.get(list)?.entries ?? []).filter((entry) => isPublishedBy(server.name, list, entry));

    it.each(LIST_NAMES)('[RES-6] all %s are listed, once, and nothing else, page after page', (list) => {
      const { entries = [], pages, missing } = lists.get(list) ?? {};
      const expected = servers.reduce((sum, { has }) => sum + (has[list] === 'none' ? 0 : has[list]), 0);
      const ids = entries.map((entry) => entry[LISTS[list].id]);
      expect(ids).toHaveLength(expected);
      expect(new Set(ids).size).toBe(expected);
      expect(pages).toBeGreaterThanOrEqual(Math.ceil(expected / PAGE_SIZE));
      expect(missing).toEqual([]);
    });

    describe.each(servers)('$name', (server) => {
      it.each(LIST_NAMES)('has the same list of %s as on its own', async (list) => {
        const own = await drain(await scene.direct(server), list);
        const native = own === 'none' ? [] : own.entries;
        const expected = native.map((entry) => spokenIn(era, publishEntry(server.name, list, entry)));
        const got = withoutAdded(LISTS[list].method, entriesOf(server, list), expected);
        expect(scene.placeless(got.map((entry) => spokenIn(era, entry)))).toEqual(scene.placeless(expected));
      });

      it('[2093-3] says of each resource what can be done with it', async () => {
        const { resources } = (await scene.direct(server)).getServerCapabilities() ?? {};
        const subscribe = resources?.subscribe ?? false;
        for (const { uri, capabilities } of entriesOf(server, 'resources')) {
          // A resource that was read before, and whose contents have several URIs, has become a container (2093-13).
          const native = String(uri).slice(server.name.length + 1);
          const list = (capabilities as Data).list === true && (await urisRead(server, native)).size > 1;
          expect(capabilities, native).toEqual({ list, subscribe });
        }
      });

      it('answers and refuses reads as on its own', async () => {
        for (const question of await readsOf(scene, server)) await expectSame(server, era, question);
      });

      it('gives the same result when a tool is called', async () => {
        expect(await expectSame(server, era, callOf(server))).toHaveProperty('result.content');
      });

      it('refuses wrong calls in the same way', async () => {
        for (const question of wrongCallsOf(server)) await expectSame(server, era, question);
      });

      it('gives the same prompts', async () => {
        for (const question of promptsOf(server)) await expectSame(server, era, question);
      });

      it('[RES-3] gives the same completions', async () => {
        for (const question of await completionsOf(scene, server)) await expectSame(server, era, question);
      });

      it.each(server.broken ?? [])('$uri fails: the server $how', async ({ uri }) => {
        const { through } = await compare(scene, clientOf(era), server, reading(uri, true));
        expect(through).toHaveProperty('error.message', expect.stringMatching(/not valid|invalid/));
      });
    });
  });

  const some = servers.some(({ asks, changes }) => asks !== undefined || changes !== undefined);
  describe.each(some ? ERAS : [])('for a client of the %s era', (era) => {
    it.each(servers.filter(({ asks }) => asks !== undefined))('$name asks the user', async ({ name, asks = '' }) => {
      const { abilities, questions } = askable({ user: () => 'decline' });
      await using connected = await connectHttp(era, gateway, abilities);
      const params = { name: publishedName(name, asks), arguments: {} };
      expect(JSON.stringify(await answer(connected.client, 'tools/call', params))).toContain('decline');
      expect(questions).toHaveLength(1);
    });

    const changing = servers.flatMap(({ name, changes }) => (changes === undefined ? [] : [{ name, ...changes }]));
    it.each(changing)('[RES-4] $name reports its changes', async ({ name, uri, by }) => {
      const published = publishedUri(name, uri);
      await using connected = await connectHttp(era, gateway);
      await connected.reachable;
      if (era === 'legacy') await connected.client.subscribeResource({ uri: published });
      else await connected.client.listen({ resourceSubscriptions: [published] });
      const params = { name: publishedName(name, by), arguments: {} };
      await tellsOf(connected, published, () => answer(connected.client, 'tools/call', params));
    });
  });

  // Some of these calls make resources that are listed from then on, so this test comes after those of lists.
  it.each(ERAS)('links lead where they lead at the servers themselves, for a client of the %s era', async (era) => {
    const followed: string[] = [];
    for (const server of servers) {
      for (const question of linkingOf(server)) {
        const { expected, got, links } = await compare(scene, clientOf(era), server, question);
        expect(linkedIn(got as Data)).toEqual(linkedIn(expected as Data));
        for (const uri of links) {
          if ('result' in (await expectSame(server, era, reading(uri, false)))) followed.push(server.name);
        }
      }
    }
    for (const { name } of servers.filter((each) => each.name === 'everything' || each.name === 'shelf')) {
      expect(followed.filter((each) => each === name).length, name).toBeGreaterThanOrEqual(4);
    }
  });

  it.each(everything)('$name has further tools for a client that can be asked, and for no other', async (server) => {
    const { abilities, questions } = askable({ user: () => 'decline', model: (prompt) => prompt, roots: () => [] });
    const { name } = server;
    await using connected = await connectHttp('legacy', gateway, abilities);
    const further = FURTHER_TOOLS.map((tool) => publishedName(name, tool));
    // The server adds them when it has been told that the client is ready.
    await until(
      async () => {
        const tools = await drain(connected.client, 'tools');
        const ids = tools === 'none' ? [] : tools.entries.map((entry) => entry.name);
        return further.every((tool) => ids.includes(tool));
      },
      'the further tools',
      60_000,
    );
    const others = await until(() => completely('legacy', 'tools'), 'all tools of all servers');
    const usual = others.entries.filter((entry) => isPublishedBy(name, 'tools', entry));
    expect(usual).toHaveLength(Number(server.has.tools));
    const elicited = await answer(connected.client, 'tools/call', {
      name: publishedName(name, 'trigger-elicitation-request'),
      arguments: {},
    });
    expect(questions).toHaveLength(1);
    expect(JSON.stringify(elicited.content)).toContain('User declined');
  });

  it.each(everything)('when $name is killed, the others keep answering, and it is started again', async (server) => {
    const era = 'legacy';
    const question = reading('demo://resource/static/document/features.md', true);
    await expectSame(server, era, question);
    const before = await scene.pids(server);
    expect(killAll(before)).toBeGreaterThanOrEqual(1);
    for (const other of servers.filter((each) => each !== server)) await expectSame(other, era, callOf(other));
    await until(
      async () => {
        const { through } = await compare(scene, clientOf(era), server, question);
        if ('result' in through) return true;
        expect(through.error).toMatchObject({ code: -32_603, data: { reason: 'unavailable', retryable: true } });
        return false;
      },
      `${server.name} to be back`,
      60_000,
    );

    await expectSame(server, era, question);
    await expectSame(server, era, callOf(server));
    expect((await scene.pids(server)).length).toBeGreaterThan(before.length);
    const { entries, missing } = await listed(era, 'tools');
    expect(missing).toEqual([]);
    expect(entries.filter((entry) => isPublishedBy(server.name, 'tools', entry))).toHaveLength(
      Number(server.has.tools),
    );
  });
});

describe.each(everything)('$name alone, with prefix: none', (server) => {
  it.each(ERAS)('is listed byte for byte as it lists itself, to a client of the %s era', async (era) => {
    await using scene = await setScene([server], { tools: 'off', icons: 'off' }, { prefix: 'none' });
    await using connected = await connectStdio(era, ['--config', scene.config]);
    const client = await scene.direct(server);
    for (const list of LIST_NAMES) {
      const { method, field } = LISTS[list];
      const direct = await answer(client, method);
      const through = await answer(connected.client, method);
      const expected = (direct[field] as readonly Data[]).map((entry) => spokenIn(era, entry));
      expect(JSON.stringify(withoutAdded(method, through[field] ?? null, expected))).toBe(JSON.stringify(expected));
      expect(through.nextCursor).toBe(direct.nextCursor);
    }
  });
});
