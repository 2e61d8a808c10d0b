/**
 * Servers of other makers behind one gateway, each beside itself: what it lists, what can be read, called, asked for and
 * completed is the same, but for the names and URIs, which are the mount's.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
import { linkedIn, publishEntry, publishedName, publishedUri, withoutAdded } from './published.ts';
import { type Scene, setScene } from './scene.ts';
import { type InteropServer, isInstalled, SERVERS } from './servers/index.ts';

const servers = SERVERS.filter(isInstalled);
const absent = SERVERS.filter((server) => !servers.includes(server)).map(({ name }) => name);
if (absent.length > 0) console.info(`Not installed, and left out: ${absent.join(', ')}`);

/** Many processes start, each after the other on few processors. In milliseconds. */
const STARTING_MS = 180_000;
/** A 2025-era server starts again for a client that calls it. In milliseconds. */
const CALL_MS = 60_000;

/** Few entries make many pages, which end within mounts and between them. */
const PAGE_SIZE = 10;

let scene: Scene;
let gateway: Listening;
const clients = new Map<Era, Connected>();

it('are there', () => {
  // Where the checks are kept, what they need has been installed.
  expect(servers.length).toBeGreaterThanOrEqual(process.env.CI === 'true' ? 8 : 0);
});

/** One server of each, or nothing where none is installed. */
const eras = servers.length === 0 ? [] : ERAS;

describe.each(eras.slice(0, 1))('mounted together', () => {
  beforeAll(async () => {
    scene = await setScene(servers, { tools: 'off', limits: { pageSize: PAGE_SIZE } });
    gateway = await startHttp(['--config', scene.config]);
    for (const era of ERAS) clients.set(era, await connectHttp(era, gateway));
    for (const server of servers) await scene.direct(server);
  }, STARTING_MS);

  afterAll(async () => {
    for (const connected of clients.values()) await connected.close();
    await gateway?.stop();
    await scene?.[Symbol.asyncDispose]();
  }, STARTING_MS);

  describe.each(servers)('$name by $make', (server) => {
    it('has itself what is known of it', async () => {
      const client = await scene.direct(server);
      for (const list of LIST_NAMES) {
        const all = await drain(client, list);
        expect(all === 'none' ? 'none' : all.entries.length, list).toEqual(server.has[list]);
      }
    });
  });

  describe.each(ERAS)('[CB-1] to a client of the %s era', (era) => {
    const lists = new Map<ListName, Listed>();

    beforeAll(async () => {
      for (const list of LIST_NAMES) lists.set(list, whole(await drain(clientOf(era), list)));
    }, STARTING_MS);

    it.each(LIST_NAMES)('all %s are listed, once, and nothing else', (list) => {
      const { entries, pages, meta } = listOf(lists, list);
      const expected = servers.reduce((sum, { has }) => sum + (has[list] === 'none' ? 0 : has[list]), 0);
      const ids = entries.map((entry) => entry[LISTS[list].id]);
      expect(ids).toHaveLength(expected);
      expect(new Set(ids).size).toBe(expected);
      expect(pages).toBeGreaterThanOrEqual(Math.ceil(expected / PAGE_SIZE));
      // What is missing would stand there.
      expect(meta).toEqual([]);
    });

    describe.each(servers)('$name', (server) => {
      it('is listed as it lists itself', async () => {
        const client = await scene.direct(server);
        for (const list of LIST_NAMES) {
          const own = await drain(client, list);
          const expected = (own === 'none' ? [] : own.entries).map((entry) => publishEntry(server.name, list, entry));
          const got = listOf(lists, list).entries.filter((entry) => isOf(server, list, entry));
          expect(scene.placeless(withoutAdded(got, expected)), list).toEqual(scene.placeless(expected));
        }
      });

      it('[2093-3] says of each resource what can be done with it', async () => {
        const { resources } = (await scene.direct(server)).getServerCapabilities() ?? {};
        const subscribe = resources?.subscribe ?? false;
        const got = listOf(lists, 'resources').entries.filter((entry) => isOf(server, 'resources', entry));
        expect(got.map((entry) => entry.capabilities)).toEqual(got.map(() => ({ list: false, subscribe })));
      });

      it('is read as it reads itself, and refuses as it refuses itself', async () => {
        for (const question of await readsOf(scene, server)) await expectSame(server, era, question);
      });

      it(
        'does the same when it is called',
        async () => {
          expect(await expectSame(server, era, callOf(server))).toHaveProperty('result.content');
        },
        CALL_MS,
      );

      it(
        'refuses the same when it is called wrongly',
        async () => {
          for (const question of wrongCallsOf(server)) await expectSame(server, era, question);
        },
        CALL_MS,
      );

      it(
        'gives the same prompts',
        async () => {
          const [first, ...others] = await Promise.all(promptsOf(server).map((each) => expectSame(server, era, each)));
          if (server.prompt !== undefined) expect(first).toHaveProperty('result.messages');
          for (const other of others) expect(other).toHaveProperty('error');
        },
        CALL_MS,
      );

      it(
        '[RES-3] completes the same',
        async () => {
          for (const question of await completionsOf(scene, server)) await expectSame(server, era, question);
        },
        CALL_MS,
      );
    });

    it(
      'links lead to what they lead to at the server itself',
      async () => {
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
        for (const name of ['everything', 'shelf'].filter((each) => servers.some((server) => server.name === each))) {
          expect(followed.filter((each) => each === name).length, name).toBeGreaterThanOrEqual(4);
        }
      },
      STARTING_MS,
    );
  });

  /** What the server itself says, when the gateway says the same. */
  async function expectSame(server: InteropServer, era: Era, question: Question): Promise<Outcome> {
    const { expected, got } = await compare(scene, clientOf(era), server, question);
    expect(got, `${question.method} ${JSON.stringify(question.params('<folder>'))}`).toEqual(expected);
    return expected;
  }
});

/** Without a prefix, and with nothing beside it, the gateway cannot be told from the server. */
describe.each(servers.filter(({ name }) => name === 'everything'))('$name alone, with prefix: none', (server) => {
  it.each(ERAS)(
    'is listed byte for byte as it lists itself, to a client of the %s era',
    async (era) => {
      await using alone = await setScene([server], { tools: 'off', icons: 'off' }, { prefix: 'none' });
      await using connected = await connectStdio(era, ['--config', alone.config]);
      const client = await alone.direct(server);
      for (const list of LIST_NAMES) {
        const { method, field } = LISTS[list];
        const direct = await answer(client, method);
        const through = await answer(connected.client, method);
        const entries = (through[field] as readonly Data[]).map(({ capabilities: _added, ...entry }) => entry);
        expect(JSON.stringify(entries)).toBe(JSON.stringify(direct[field]));
        expect(through.nextCursor).toBe(direct.nextCursor);
      }
    },
    STARTING_MS,
  );
});

describe.each(servers.filter(({ name }) => name === 'everything'))('when $name is killed', (server) => {
  it(
    'the others keep answering, and it is back',
    async () => {
      const others = servers.filter((each) => each !== server);
      await using together = await setScene(servers, { tools: 'off' });
      await using serving = await startHttp(['--config', together.config]);
      await using connected = await connectHttp('legacy', serving);
      const { client } = connected;
      const read = { uri: publishedUri(server.name, 'demo://resource/static/document/features.md') };
      const before = await answer(client, 'resources/read', read);
      const counts = await countsOf(client);
      const killed = await together.pids(server);
      expect(killed.length).toBeGreaterThanOrEqual(1);

      for (const pid of killed) process.kill(pid, 'SIGKILL');
      for (const other of others) {
        const { params } = other.tool(together.folder(other, 'behind'));
        const result = await answer(client, 'tools/call', { ...params, name: publishedName(other.name, params.name) });
        expect(result.isError ?? false, other.name).toBe(false);
      }
      const back = await until(
        async () => {
          const outcome = await ask(client, 'resources/read', read);
          if ('result' in outcome) return outcome.result;
          expect(outcome.error).toMatchObject({ code: -32_603, data: { reason: 'unavailable', retryable: true } });
          return undefined;
        },
        `${server.name} to be back`,
        CALL_MS,
      );

      expect(back).toEqual(before);
      const pids = await together.pids(server);
      expect(pids.length).toBeGreaterThan(killed.length);
      expect(await countsOf(client)).toEqual(counts);
    },
    STARTING_MS,
  );
});

const clientOf = (era: Era): Connected['client'] => {
  const connected = clients.get(era);
  if (connected === undefined) throw new Error(`no client of the ${era} era is connected`);
  return connected.client;
};

function whole(listed: Listed | 'none'): Listed {
  if (listed === 'none') throw new Error('the gateway has every list');
  return listed;
}

function listOf(lists: ReadonlyMap<ListName, Listed>, list: ListName): Listed {
  return whole(lists.get(list) ?? 'none');
}

/** How many entries each list has, and what is missing in them. */
async function countsOf(client: Connected['client']): Promise<unknown> {
  const all = [];
  for (const list of LIST_NAMES) {
    const { entries, meta } = whole(await drain(client, list));
    all.push({ list, count: entries.length, meta });
  }
  return all;
}

/** Whether an entry of the gateway is one of this server. */
function isOf({ name }: InteropServer, list: ListName, entry: Data): boolean {
  const id = String(entry[LISTS[list].id]);
  if (list === 'tools' || list === 'prompts') return id.startsWith(publishedName(name, ''));
  return id.startsWith(`${name}+`) || id.startsWith(`ui://${name}+`);
}
