/** The model: to its clients, a group of replicas is one server that forgets no session and misses no change. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { createHub, type Hub } from '../../src/serving/bus/hub.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { until } from '../e2e/waiting.ts';
import { type FaultyBus, faultyBus } from './faulty-bus.ts';
import { type Replica, startReplica } from './in-process.ts';
import { connectInTurn, type InTurn } from './in-turn.ts';

const KEYS = [new Uint8Array(32).fill(7)];

/** The number of replicas, files, concurrent clients, and entries of the listed folder. */
const REPLICAS = 3;
const NOTES = 3;
const MAX_CLIENTS = 3;
const ENTRIES = 11;
const PAGE = 4;

const noteOf = (note: number): string => `note-${note}.txt`;
const uriOf = (note: number): string => `file:///${noteOf(note)}`;

/** The number of replicas, those whose bus is not whole, and the texts of the files. */
interface Model {
  running: number;
  faulty: Set<number>;
  clients: number;
  readonly texts: string[];
  writes: number;
}

/** A subscription whose client must get more than `before` updates. */
interface Owed {
  readonly client: InTurn;
  readonly uri: string;
  readonly before: number;
}

interface Client {
  readonly inTurn: InTurn;
  /** The accepted subscriptions. */
  readonly subscribed: Set<string>;
}

interface Real extends AsyncDisposable {
  readonly folder: Folder;
  readonly replicas: { readonly replica: Replica; readonly faults: FaultyBus }[];
  readonly clients: Client[];
  owed: Owed[];
  start(): Promise<void>;
  /** Loses the shared state. */
  forget(): void;
  connect(): Promise<void>;
}

type Command = fc.AsyncCommand<Model, Real>;

/** All commands, in any order. */
export const commands = fc.commands(
  [
    fc.constant(command('connect', ({ clients }) => clients < MAX_CLIENTS, connect)),
    eachNote('subscribe', subscribe),
    eachNote('unsubscribe', unsubscribe),
    fc.constant(command('write', hasClients, write)),
    eachNote('read', read),
    fc.constant(command('page', hasClients, page)),
    fc.nat(REPLICAS - 1).map((at) => command(`stop ${at}`, ({ running }) => running > 1, stop(at))),
    fc.constant(command('start', ({ running }) => running < REPLICAS, start)),
    fc
      .tuple(fc.nat(REPLICAS - 1), fc.constantFrom('cut' as const, 'delay' as const, 'double' as const))
      .map(([at, kind]) => command(`${kind} ${at}`, () => true, fault(at, kind))),
    fc.constant(command('mend', ({ faulty }) => faulty.size > 0, mend)),
    fc.constant(command('settle', hasClients, settle)),
    fc.constant(command('forget', hasClients, forget)),
  ],
  { maxCommands: 40, size: 'max' },
);

/** Starts the replicas that exist before the first command. */
export async function begin(): Promise<{ readonly model: Model; readonly real: Real }> {
  const texts = Array.from({ length: NOTES }, () => 'first');
  const folder = await temporaryFolder({
    ...Object.fromEntries(texts.map((text, note) => [noteOf(note), text])),
    ...Object.fromEntries(Array.from({ length: ENTRIES }, (_, at) => [`many/${at}`, ''])),
  });
  const hub = createHub();
  const real = realOf(folder, hub);
  for (let at = 0; at < REPLICAS; at++) await real.start();
  return { model: { running: REPLICAS, faulty: new Set(), clients: 0, texts, writes: 0 }, real };
}

/** Ends a sequence: mends everything, then every client gets its updates, and reads the present contents. */
export async function end(model: Model, real: Real): Promise<void> {
  await mend(model, real);
  if (model.clients > 0) await settle(model, real);
  for (const note of model.texts.keys()) await read(model, real, note);
}

function realOf(folder: Folder, hub: Hub): Real {
  let keeping = createHub();
  const replicas: Real['replicas'] = [];
  const clients: Client[] = [];
  const urls = (): readonly string[] => replicas.map(({ replica }) => replica.serving.url);
  return {
    folder,
    replicas,
    clients,
    owed: [],
    async start() {
      const faults = faultyBus(hub, () => keeping.memory);
      const replica = await startReplica(folder.path, faults.bus, { keys: KEYS, limits: { pageSize: PAGE } });
      replicas.push({ replica, faults });
    },
    forget() {
      keeping.close();
      keeping = createHub();
      for (const { faults } of replicas) faults.forgotten();
    },
    async connect() {
      const inTurn = await connectInTurn(urls);
      await until(() => inTurn.holder !== undefined, 'the stream');
      clients.push({ inTurn, subscribed: new Set() });
    },
    async [Symbol.asyncDispose]() {
      for (const { inTurn } of clients) await inTurn[Symbol.asyncDispose]();
      await Promise.all(replicas.map(({ replica }) => replica.close()));
      hub.close();
      keeping.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

function command(
  name: string,
  check: (model: Readonly<Model>) => boolean,
  run: (model: Model, real: Real) => Promise<void>,
): Command {
  return { check, run, toString: () => name };
}

function eachNote(name: string, run: (model: Model, real: Real, note: number) => Promise<void>): fc.Arbitrary<Command> {
  return fc
    .nat(NOTES - 1)
    .map((note) => command(`${name} ${note}`, hasClients, (model, real) => run(model, real, note)));
}

function hasClients({ clients }: Readonly<Model>): boolean {
  return clients > 0;
}

async function connect(model: Model, real: Real): Promise<void> {
  await real.connect();
  model.clients++;
}

/** The client that a command uses: another one each turn. */
const clientOf = ({ clients }: Real, turn: number): Client => {
  const client = clients[turn % clients.length];
  if (client === undefined) throw new Error('There is no client');
  return client;
};

async function subscribe(model: Model, real: Real, note: number): Promise<void> {
  for (const { inTurn, subscribed } of real.clients) {
    try {
      await inTurn.request('resources/subscribe', { uri: uriOf(note) });
      subscribed.add(uriOf(note));
    } catch (error) {
      // A replica that cannot keep a subscription refuses it.
      expect(String(error)).toContain('The bus is cut');
      expect(model.faulty.size).toBeGreaterThan(0);
    }
  }
}

async function unsubscribe(model: Model, real: Real, note: number): Promise<void> {
  const { inTurn, subscribed } = clientOf(real, note + model.writes);
  try {
    await inTurn.request('resources/unsubscribe', { uri: uriOf(note) });
  } catch (error) {
    expect(String(error)).toContain('The bus is cut');
    expect(model.faulty.size).toBeGreaterThan(0);
  }
  // The client may still get an update, but need not.
  subscribed.delete(uriOf(note));
  real.owed = real.owed.filter(({ client, uri }) => client !== inTurn || uri !== uriOf(note));
}

/** Changes every file. */
async function write(model: Model, real: Real): Promise<void> {
  for (const note of model.texts.keys()) {
    const uri = uriOf(note);
    const text = `text ${++model.writes}`;
    model.texts[note] = text;
    const owed = real.clients.flatMap(({ inTurn, subscribed }) =>
      subscribed.has(uri) ? [{ client: inTurn, uri, before: inTurn.updates.get(uri) ?? 0 }] : [],
    );
    await real.folder.write(noteOf(note), text);
    real.owed.push(...owed);
  }
}

async function read(model: Model, real: Real, note: number): Promise<void> {
  for (const { inTurn } of real.clients) {
    const result = await inTurn.request('resources/read', { uri: uriOf(note) });
    expect(result).toMatchObject({ contents: [{ text: model.texts[note] }] });
  }
}

/** Reads all pages of the folder, each from another replica. */
async function page(model: Model, real: Real): Promise<void> {
  const { inTurn } = clientOf(real, model.writes);
  const found: string[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const result = await inTurn.request<{ resources: readonly { uri: string }[]; nextCursor?: string }>(
      'resources/list',
      { uri: 'file:///many', ...(cursor !== undefined && { cursor }) },
    );
    found.push(...result.resources.map(({ uri }) => uri));
    cursor = result.nextCursor;
  }
  expect(new Set(found).size).toBe(ENTRIES);
  expect(found).toHaveLength(ENTRIES);
}

const stop =
  (at: number) =>
  async (model: Model, real: Real): Promise<void> => {
    const [gone] = real.replicas.splice(at % real.replicas.length, 1);
    await gone?.replica.close();
    model.running--;
    // Replicas have moved to other positions, so that a fault may be at any of them.
    model.faulty = new Set(real.replicas.keys());
  };

async function start(model: Model, real: Real): Promise<void> {
  await real.start();
  model.running++;
}

const fault =
  (at: number, kind: 'cut' | 'delay' | 'double') =>
  async (model: Model, real: Real): Promise<void> => {
    const place = at % real.replicas.length;
    real.replicas[place]?.faults[kind]();
    model.faulty.add(place);
  };

async function mend(model: Model, real: Real): Promise<void> {
  for (const { faults } of real.replicas) faults.mend();
  model.faulty.clear();
}

/** Makes the store forget the shared state while every client has its stream. */
async function forget(model: Model, real: Real): Promise<void> {
  await write(model, real);
  await settle(model, real);
  real.forget();
}

/** Mends every bus, and waits until every subscription has got its updates. */
async function settle(model: Model, real: Real): Promise<void> {
  await mend(model, real);
  for (const { client, uri, before } of real.owed) await client.told(uri, before);
  real.owed = [];
}
