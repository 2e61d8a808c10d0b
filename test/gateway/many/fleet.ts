/** The fleet as a process, a gateway for it, and a walk through a list that records what it sees. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { MissingPart } from '../../../src/core/notes.ts';
import { MISSING_META_KEY, TRUNCATED_META_KEY } from '../../../src/protocol/meta.ts';
import { temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { CLI, type Connected, connectHttp, type Era, ROOT } from '../../e2e/harness.ts';
import type { ListeningProgram } from '../../e2e/programs.ts';
import { within } from '../../e2e/waiting.ts';

const FLEET = fileURLToPath(new URL('./fleet.mjs', import.meta.url));
const MEMORY = new URL('./memory.mjs', import.meta.url).href;

/** One server of the fleet, as `fleet.mjs` reads it. */
export interface Plan {
  readonly era: Era;
  readonly by: 'name' | 'offset';
  /** The number of entries in one of its pages. */
  readonly size: number;
  readonly uris?: 'opaque' | 'path';
  /** Whether it reports changes. */
  readonly tells?: boolean;
  /** How long its answers may be cached, in milliseconds. */
  readonly ttlMs?: number;
  /** The number of resources at the start. Default: 5,000. */
  readonly count?: number;
  /** The number of tools, of prompts and of templates. */
  readonly named?: number;
  readonly hangs?: 'lists' | 'second page';
  /** The cursor of its last page leads back to its second entry. Only `by: 'offset'`. */
  readonly loops?: boolean;
}

export type Plans = Readonly<Record<string, Plan>>;

export interface Fleet extends AsyncDisposable {
  /** The mounts of a gateway for these servers. */
  readonly mounts: Readonly<Record<string, { readonly url: string }>>;
  /** Adds and removes resources on every server. */
  change(): Promise<void>;
  /** How often a server was asked for a method so far. */
  asked(name: string, method: string): Promise<number>;
}

export async function startFleet(plans: Plans): Promise<Fleet> {
  const fleet = await startProcess([FLEET, JSON.stringify(plans)]);
  const at = (path: string): string => new URL(path, fleet.url).href;
  return {
    mounts: Object.fromEntries(Object.keys(plans).map((name) => [name, { url: at(name) }])),
    async change() {
      const { status } = await fetch(at('change'), { method: 'POST' });
      if (status !== 204) throw new Error(`the fleet answered ${status}`);
    },
    async asked(name, method) {
      const asked = (await (await fetch(at('asked'))).json()) as Record<string, Record<string, number>>;
      return asked[name]?.[method] ?? 0;
    },
    [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose](),
  };
}

/** Memory of a process, in MiB, after a garbage collection. */
export interface Memory {
  readonly held: number;
  readonly resident: number;
}

export interface Gateway extends AsyncDisposable {
  readonly server: ListeningProgram;
  memory(): Promise<Memory>;
}

const MIB = 1_024 * 1_024;

/** `vitrine serve` over HTTP with a configuration of these mounts. */
export async function startGateway(mounts: object, config: object = {}): Promise<Gateway> {
  const folder = await temporaryFolder();
  try {
    const file = await writeConfig(folder, { tools: 'off', icons: 'off', ...config, mounts });
    const looked = ['--expose-gc', '--import', MEMORY];
    const server = await startProcess([...looked, CLI, 'serve', '--config', file, '--http', '0']);
    return {
      server,
      async memory() {
        server.process.send('memory');
        const [bytes] = (await within(once(server.process, 'message'), 'word of the memory')) as [Memory];
        return { held: bytes.held / MIB, resident: bytes.resident / MIB };
      },
      async [Symbol.asyncDispose]() {
        await server.stop();
        await folder[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

async function startProcess(args: readonly string[]): Promise<ListeningProgram> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let output = '';
  const listening = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /Endpoint: (\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => reject(new Error(`the process ended with ${code}: ${output}`)));
  });
  const stop = (signal?: NodeJS.Signals): Promise<number | null> => ended(child, signal);
  const url = await within(listening, 'a process to listen').catch(async (error: unknown) => {
    await stop('SIGKILL');
    throw error;
  });
  return { url, process: child, output: () => output, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = (await within(exited, `the end of a process after ${signal}`)) as [number | null];
  return code;
}

export interface FleetOptions {
  readonly era: Era;
  /** Mounts before and after those of the fleet. */
  readonly before?: object | undefined;
  readonly behind?: object | undefined;
  /** Options for mounts of the fleet, by their names. */
  readonly options?: Readonly<Record<string, object>>;
  readonly listing?: object;
  readonly limits?: object;
}

/** Runs a function with a client of a gateway for a fleet. Closes everything afterwards. */
export async function withFleet<T>(
  plans: Plans,
  { era, before = {}, behind = {}, options = {}, ...config }: FleetOptions,
  run: (on: Connected, fleet: Fleet, gateway: Gateway) => Promise<T>,
): Promise<T> {
  await using fleet = await startFleet(plans);
  const upstreams = Object.entries(fleet.mounts).map(([name, block]) => [name, { ...block, ...options[name] }]);
  await using gateway = await startGateway({ ...before, ...Object.fromEntries(upstreams), ...behind }, config);
  await using on = await connectHttp(era, gateway.server);
  return await run(on, fleet, gateway);
}

/** A page of any list. */
export interface ListedPage {
  readonly items: readonly { readonly uri?: string; readonly name?: string; readonly uriTemplate?: string }[];
  readonly missing: readonly MissingPart[];
  /** The limit that cut the list. */
  readonly truncatedBy: unknown;
}

const FIELDS = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'tools/list': 'tools',
  'prompts/list': 'prompts',
} as const;

/** Walks through a list to its end, page by page. Fails after `most` pages. */
export async function* pages(on: Connected, method: keyof typeof FIELDS, most = 3_000): AsyncGenerator<ListedPage> {
  let cursor: string | undefined;
  for (let count = 0; count < most; count++) {
    const result = await on.request(method, cursor === undefined ? {} : { cursor });
    const items = result[FIELDS[method]] as ListedPage['items'];
    const meta = result._meta as Readonly<Record<string, unknown>> | undefined;
    cursor = result.nextCursor as string | undefined;
    const missing = (meta?.[MISSING_META_KEY] ?? []) as readonly MissingPart[];
    yield { items, missing, truncatedBy: meta?.[TRUNCATED_META_KEY] };
    if (cursor === undefined) return;
  }
  throw new Error(`${method} does not end within ${most} pages`);
}

export interface Drained {
  readonly items: ListedPage['items'];
  readonly missing: readonly MissingPart[];
  /** The limits that the last page names. */
  readonly truncatedBy: unknown;
}

/** All entries of a list of at most 300 pages, and the parts that it names as missing. */
export async function drained(on: Connected, method: keyof typeof FIELDS): Promise<Drained> {
  const all: ListedPage[] = [];
  for await (const page of pages(on, method, 300)) all.push(page);
  return {
    items: all.flatMap(({ items }) => items),
    missing: all.flatMap(({ missing }) => missing),
    truncatedBy: all.at(-1)?.truncatedBy,
  };
}

export const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

/** The number of a quarter, from 1. */
export const quarter = <T>(values: readonly T[], which: 1 | 2 | 3 | 4): readonly T[] =>
  values.slice(Math.floor((values.length * (which - 1)) / 4), Math.floor((values.length * which) / 4));
