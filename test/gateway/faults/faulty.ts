/** Steers the server that fails on command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { UpstreamTarget } from '../../../src/providers/upstream/index.ts';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { until, within } from '../../e2e/waiting.ts';
import type { Way } from '../fixture/link.ts';

const MAIN = fileURLToPath(new URL('./upstream/main.mjs', import.meta.url));

/** The fault, in the words of `upstream/control.mjs`. */
export interface Fault {
  readonly kind: string;
  readonly on?: readonly string[];
  readonly once?: boolean;
  readonly form?: string;
  readonly status?: number;
}

interface Noted {
  readonly what: string;
  readonly pid: number;
  readonly method?: string;
}

export interface Faulty extends AsyncDisposable {
  readonly way: Way;
  readonly target: UpstreamTarget;
  /** Has the fault from now on, until it is mended. */
  fails(fault: Fault): Promise<void>;
  well(): Promise<void>;
  /** Starts the process again, unless the gateway starts it. */
  restart(): Promise<void>;
  /** Ends the process, unless it belongs to the gateway. */
  kill(): Promise<void>;
  /** Changes the resource, and notifies the subscribers. */
  changes(text: string): Promise<void>;
  /** Replaces its results from now on, by method, and notifies subscribers of a change. */
  says(
    results: Readonly<Record<string, unknown>>,
    capabilities?: Readonly<Record<string, unknown>>,
    /** Sends this before the result of each call, over standard input and output. */
    beside?: { readonly tells?: readonly object[]; readonly writes?: string },
  ): Promise<void>;
  /** Gives the notes that its processes have written. */
  noted(): Promise<readonly Noted[]>;
  /** The processes that still run. */
  running(): Promise<readonly number[]>;
}

/** Makes the server. Over HTTP it runs from now on. */
export async function faulty(way: Way, env: Readonly<Record<string, string>> = {}): Promise<Faulty> {
  const folder = await temporaryFolder({});
  const args = [MAIN, '--dir', folder.path, '--era', way.era];
  let port: number | undefined;
  let child: ChildProcess | undefined;
  let changed = 0;
  let faults = 0;

  /** Starts the process. Gives whether it listens; if not, it has ended. */
  async function listens(): Promise<boolean> {
    const started = spawn(process.execPath, [...args, '--port', String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = started;
    const listening = once(started.stdout, 'data').then(() => true);
    const ended = once(started, 'exit').then(() => false);
    return within(Promise.race([listening, ended]), 'the faulty server to listen');
  }

  async function restart(): Promise<void> {
    if (port === undefined) return;
    await kill();
    if (!(await listens())) throw new Error('the faulty server has ended');
  }

  /** Takes a port. Another program may take it before the server does. */
  async function start(): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt++) {
      port = await freePort();
      if (await listens()) return;
    }
    throw new Error('the faulty server ends at once');
  }

  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  const noted = async (): Promise<readonly Noted[]> => {
    const text = await readFile(folder.at('log.jsonl'), 'utf8').catch(() => '');
    // The last line may be incomplete.
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Noted);
  };

  await put(folder, 'world.json', { text: 'at first', changes: 0 });
  if (way.transport === 'http') await start();
  return {
    way,
    target:
      port === undefined
        ? { command: process.execPath, args, env }
        : { url: `http://127.0.0.1:${port}/mcp`, headers: { authorization: 'Bearer hidden-token' } },
    fails: (fault) => put(folder, 'fault.json', { id: ++faults, ...fault }),
    well: () => put(folder, 'fault.json', {}),
    restart,
    kill,
    changes: (text) => put(folder, 'world.json', { text, changes: ++changed }),
    says: (says, capabilities, beside) =>
      put(folder, 'world.json', { text: 'at first', changes: ++changed, says, capabilities, ...beside }),
    noted,
    async running() {
      const pids = new Set((await noted()).map(({ pid }) => pid));
      return [...pids].filter(isRunning);
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The file is replaced as a whole, because it may be read meanwhile. */
async function put(folder: Folder, name: string, value: object): Promise<void> {
  await folder.write(`${name}.new`, JSON.stringify(value));
  await rename(folder.at(`${name}.new`), folder.at(name));
}

/** The system gives out no port of this range, so no other program takes the port while the server is away. */
const PORTS = { from: 20_000, to: 32_000 } as const;

/** A port for a server that ends and comes back. */
async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const server = createServer();
    const listening = once(server, 'listening').then(
      () => true,
      () => false,
    );
    const port = randomInt(PORTS.from, PORTS.to);
    server.listen(port, '127.0.0.1');
    if (!(await listening)) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('no port is free');
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until something was noted for the given number of times. */
export const untilNoted = (server: Faulty, what: string, times: number): Promise<unknown> =>
  until(
    async () => (await server.noted()).filter((each) => each.what === what || each.method === what).length >= times,
    `"${what}" to happen ${times} times`,
  );
