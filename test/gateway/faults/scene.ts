/** A gateway with a server that fails, one that works and a folder, and a subscribed client of each era. */
import { expect } from 'vitest';
import type { Log } from '../../../src/core/context.ts';
import { createVitrine, serveHttp } from '../../../src/index.ts';
import { filesProvider } from '../../../src/providers/files/index.ts';
import {
  type Upstream,
  type UpstreamOptions,
  type UpstreamTarget,
  upstream,
} from '../../../src/providers/upstream/index.ts';
import { failure, type ListAnswer, type ReadAnswer, type WireFailure } from '../../e2e/answers.ts';
import { temporaryFolder } from '../../e2e/folders.ts';
import { type Abilities, type Connected, connectHttp, ERAS } from '../../e2e/harness.ts';
import { PATIENCE_MS, slowness, until, within } from '../../e2e/waiting.ts';
import type { Way } from '../fixture/link.ts';
import { type Faulty, faulty, isRunning } from './faulty.ts';
import { startWell } from './well.ts';

/** The resource of the server that fails, and that of the one that works. */
export const ONE = 'faulty+thing:///one';
const TWO = 'faulty+thing:///two';
const WELL = 'well+thing:///one';
const NOTE = 'folder+file:///note.txt';

/** Timeouts for connecting, answers and calls, in milliseconds, for tests that wait until they run out. */
function hurried() {
  const times = slowness();
  return { connectTimeoutMs: 3_000 * times, timeoutMs: 700 * times, callTimeoutMs: 1_500 * times } as const;
}
/** Options with timeouts that never run out, however busy the machine is. */
const PATIENT = { connectTimeoutMs: PATIENCE_MS, timeoutMs: PATIENCE_MS, callTimeoutMs: PATIENCE_MS } as const;

export interface Scene extends AsyncDisposable {
  readonly server: Faulty;
  readonly up: Upstream;
  /** One client of each era. */
  readonly clients: readonly Connected[];
  /** All log lines, as text. */
  log(): string;
  /** Closes clients and gateway, with everything that the gateway has started. */
  close(): Promise<void>;
}

export interface SceneOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Runs before the gateway begins to connect. */
  readonly before?: (server: Faulty) => Promise<void>;
  /** Another server in place of the one that fails. */
  readonly target?: UpstreamTarget;
  /** Whether clients subscribe before the test begins. Default: they do. */
  readonly subscribed?: boolean;
  /** The questions that the clients can be asked. Default: none. */
  readonly abilities?: Abilities;
  /** Options of the server that fails. */
  readonly upstream?: Partial<Pick<UpstreamOptions, 'pins' | 'texts' | 'results' | 'maxMessagesPerSecond'>>;
  /** Whether short timeouts apply to the server that fails. Default: it has all the time that it needs. */
  readonly hurried?: boolean;
}

export async function setScene(way: Way, options: SceneOptions = {}): Promise<Scene> {
  const endings: (() => Promise<unknown>)[] = [];
  const keep = <T extends AsyncDisposable>(it: T): T => {
    endings.unshift(async () => it[Symbol.asyncDispose]());
    return it;
  };
  const clients: Connected[] = [];
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      for (const client of clients) await client.close();
      for (const end of endings) await end();
    })());
  try {
    return await set(way, options, keep, clients, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function set(
  way: Way,
  options: SceneOptions,
  keep: <T extends AsyncDisposable>(it: T) => T,
  clients: Connected[],
  close: () => Promise<void>,
): Promise<Scene> {
  const folder = keep(await temporaryFolder({ 'note.txt': 'a note' }));
  const server = keep(await faulty(way, options.env));
  const well = keep(await startWell());
  await options.before?.(server);
  const lines: string[] = [];
  const write = (message: string, facts?: object): void => void lines.push(`${message} ${print(facts)}`);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const target = options.target ?? server.target;
  const up = upstream({
    name: 'faulty',
    target,
    log,
    ...(options.hurried === true ? hurried() : PATIENT),
    ...options.upstream,
  });
  const other = upstream({ name: 'well', target: well.target, log, ...PATIENT });
  const vitrine = createVitrine({
    mounts: [
      { name: 'faulty', provider: up.provider, server: up.server, prefix: 'name' },
      { name: 'well', provider: other.provider, server: other.server, prefix: 'name' },
      { name: 'folder', provider: await filesProvider({ path: folder.path, name: 'folder' }), prefix: 'name' },
    ],
    resourceTools: false,
    timeoutMs: PATIENCE_MS / 2,
    changes: { coalesceMs: 1 },
  });
  keep({ [Symbol.asyncDispose]: () => vitrine.close() });
  const serving = await serveHttp(vitrine, { port: 0, log });
  keep({ [Symbol.asyncDispose]: () => serving.close() });
  const at = { url: serving.url, output: () => '' };
  for (const era of ERAS) clients.push(await connectHttp(era, at, options.abilities));
  if (options.subscribed !== false) {
    await arrives(up);
    for (const client of clients) await until(() => subscribes(client), 'a subscription');
  }
  return { server, up, clients, log: () => lines.join('\n'), close, [Symbol.asyncDispose]: close };
}

/** The text of log lines, with their errors and causes. */
function print(facts: object | undefined): string {
  return JSON.stringify(facts ?? {}, (_key, value: unknown) =>
    value instanceof Error ? { message: value.message, cause: value.cause, stack: value.stack } : value,
  );
}

/** Waits for the connection to the server that fails. */
export async function arrives(up: Upstream): Promise<void> {
  expect(await up.ready(PATIENCE_MS), 'the faulty server to be there').toBe(true);
}

/** Subscribes the client to the resource. Fails if that is refused. */
export async function subscribe(client: Connected): Promise<void> {
  await client.reachable;
  if (client.era === 'legacy') {
    await client.client.subscribeResource({ uri: ONE });
    return;
  }
  const stream = await client.client.listen({ resourceSubscriptions: [ONE] });
  if (stream.honoredFilter.resourceSubscriptions?.includes(ONE) === true) return;
  await stream.close();
  throw new Error('the subscription is not in what the gateway honours');
}

/** Whether a client could subscribe. */
export const subscribes = (client: Connected): Promise<boolean> =>
  subscribe(client).then(
    () => true,
    () => false,
  );

/** Checks that a subscription is refused, in the way of the client's era. */
export async function refusesSubscription(client: Connected, reason: string): Promise<void> {
  if (client.era === 'legacy') await failsClearly(subscribe(client), { reason });
  else await expect(subscribe(client)).rejects.toThrow('is not in what the gateway honours');
}

/** How many updates of the resource a client got. */
const toldOf = ({ received }: Connected): number =>
  received.filter(
    (message) =>
      'method' in message &&
      message.method === 'notifications/resources/updated' &&
      (message.params as { uri?: unknown } | undefined)?.uri === ONE,
  ).length;

export async function read(client: Connected, uri: string): Promise<string | undefined> {
  const { contents } = await client.request<ReadAnswer>('resources/read', { uri });
  return contents[0]?.text;
}

export const call = async (client: Connected, name: string): Promise<unknown> =>
  ((await client.request('tools/call', { name, arguments: {} })).content as readonly { text?: string }[])[0]?.text;

export interface Gathered {
  readonly uris: readonly string[];
  /** The mounts that the answer names as missing, with the reasons. */
  readonly missing: Readonly<Record<string, string>>;
}

/** Every page of the list. */
export async function gather(client: Connected): Promise<Gathered> {
  const uris: string[] = [];
  const missing: Record<string, string> = {};
  let cursor: string | undefined;
  for (let pages = 0; pages < 20; pages++) {
    const page: ListAnswer = await client.request('resources/list', cursor === undefined ? {} : { cursor });
    uris.push(...page.resources.map((resource) => resource.uri));
    const parts = (page._meta?.['vitrine/missing'] ?? []) as readonly { mount: string; reason: string }[];
    for (const { mount, reason } of parts) missing[mount] = reason;
    cursor = page.nextCursor;
    if (cursor === undefined) return { uris: uris.sort(), missing };
  }
  throw new Error('the pages do not end');
}

/** The names of all tools. */
export async function toolsOf(client: Connected): Promise<readonly string[]> {
  type Page = { readonly tools: readonly { readonly name: string }[]; readonly nextCursor?: string };
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page: Page = await client.request('tools/list', cursor === undefined ? {} : { cursor });
    names.push(...page.tools.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return names;
}

/** Checks that the other mounts have everything that they had. */
export async function othersServe(client: Connected): Promise<Gathered> {
  // In parallel, so that all lists wait for the missing server at the same time.
  const [list, note, resource, said, tools] = await Promise.all([
    gather(client),
    read(client, NOTE),
    read(client, WELL),
    call(client, 'well_say'),
    toolsOf(client),
  ]);
  expect(list.uris).toEqual(expect.arrayContaining([NOTE, WELL, 'well+thing:///two']));
  expect([note, resource, said]).toEqual(['a note', 'at first', 'at first']);
  expect(tools).toContain('well_say');
  return list;
}

/** Checks that the list says what is missing, and why. */
export async function listsWithout(client: Connected): Promise<void> {
  const { uris, missing } = await othersServe(client);
  expect(uris.filter((uri) => uri.startsWith('faulty+'))).toEqual([]);
  expect(Object.keys(missing)).toEqual(['faulty']);
  expect(missing.faulty).toContain('"faulty"');
}

/** Checks that everything works again, for every client. */
export async function servesAgain({ clients }: Scene, text: string): Promise<void> {
  for (const client of clients) {
    await until(
      async () => (await read(client, ONE).catch(() => undefined)) === text,
      `a ${client.era} client to read again`,
    );
    const { uris } = await until(async () => {
      const list = await gather(client);
      return Object.keys(list.missing).length === 0 && list;
    }, `a ${client.era} client to list everything again`);
    expect(uris).toEqual(expect.arrayContaining([ONE, TWO, WELL, NOTE]));
    const named = ['faulty_say', 'well_say'];
    const tools = await until(async () => {
      const found = await toolsOf(client);
      return named.every((name) => found.includes(name)) && found;
    }, 'the tools');
    expect(tools).toEqual(expect.arrayContaining(named));
    await until(
      async () => (await call(client, 'faulty_say').catch(() => undefined)) === text,
      `a ${client.era} client to call again`,
    );
  }
}

/** Runs a function, and waits until each client has got one more update. */
export async function tells({ clients }: Scene, run: () => Promise<unknown>, what: string): Promise<void> {
  const before = clients.map(toldOf);
  await run();
  for (const [index, client] of clients.entries()) {
    await until(() => toldOf(client) > (before[index] ?? 0), `a ${client.era} client to be told ${what}`);
  }
}

/** Words that must not leave the gateway. */
const INTERNAL =
  /node_modules|\.mjs|\.ts:|\/home\/|\/tmp\/|\/dev\/shm\/|\bat \w+ \(|hidden-token|127\.0\.0\.1|ECONN|SIGKILL/;

/** Checks the error of a request that needs the server that fails, and gives it. */
export async function failsClearly(
  request: Promise<unknown>,
  expected: { readonly reason: string; readonly retryable?: boolean },
): Promise<WireFailure> {
  const error = await within(failure(request), 'an error');
  expect(error.message).toContain('"faulty"');
  expect(`${error.message} ${JSON.stringify(error.data)}`).not.toMatch(INTERNAL);
  expect(error.data).toMatchObject({ reason: expected.reason });
  expect(error.data?.retryable).toBe((expected.retryable ?? true) ? true : undefined);
  return error;
}

/** Checks that nothing of the gateway is left after it was closed. */
export async function leavesNothing(scene: Scene): Promise<void> {
  const { server } = scene;
  const pids = (await server.noted()).map(({ pid }) => pid);
  await server.kill();
  await scene.close();
  for (const pid of new Set(pids)) expect(isRunning(pid), `process ${pid}`).toBe(false);
}
