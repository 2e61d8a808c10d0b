/** Starts each server twice: on its own, and behind one `vitrine serve` that mounts them all. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { within } from '../e2e/waiting.ts';
import type { InteropServer } from './servers/index.ts';

/** The names have the same length, so that answers which tell their length are the same in both places. */
export type Place = 'direct' | 'behind';

export interface Scene extends AsyncDisposable {
  /** The file that mounts them all. */
  readonly config: string;
  /** The folder of a server. */
  folder(server: InteropServer, place: Place): string;
  /** A client of the server itself; the same one each time. */
  direct(server: InteropServer): Promise<Client>;
  /** The processes of a server in Node.js that the gateway has started so far. */
  pids(server: InteropServer): Promise<readonly number[]>;
  /** Replaces the names of folders, which differ between the two places. */
  placeless<T>(value: T): T;
}

/** Time limits in seconds: many processes start at once on few processors. */
const PATIENT = { connectTimeoutSeconds: 60, timeoutSeconds: 30 };
const CONNECT_MS = 60_000;

/** @param settings beside the mounts; @param extra for every mount */
export async function setScene(
  servers: readonly InteropServer[],
  settings: object = {},
  extra: object = {},
): Promise<Scene> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-interop-')));
  const folder: Scene['folder'] = ({ name }, place) => join(root, place, name);
  const pidsOf = ({ name }: InteropServer): string => join(root, `${name}.pids`);
  for (const server of servers) {
    for (const place of ['direct', 'behind'] as const) {
      await mkdir(folder(server, place), { recursive: true });
      await server.prepare?.(folder(server, place));
    }
  }
  const listening = new Map<InteropServer, Listening>();
  for (const server of servers) {
    if (server.over === 'http') listening.set(server, await listen(server, folder(server, 'behind')));
  }
  const mounts = servers.map((server) => {
    const url = listening.get(server)?.url;
    if (url !== undefined) return [server.name, { url, ...PATIENT, ...extra }];
    const cwd = folder(server, 'behind');
    const { command, args, env } = server.start(cwd);
    const noting = server.runtime === 'node' ? ['--import', notePid(pidsOf(server))] : [];
    return [server.name, { command, args: [...noting, ...args], env, cwd, ...PATIENT, ...extra }];
  });
  const config = join(root, 'vitrine.json');
  await writeFile(config, JSON.stringify({ ...settings, mounts: Object.fromEntries(mounts) }));
  const clients = new Map<InteropServer, Promise<Client>>();
  return {
    config,
    folder,
    direct(server) {
      const client = clients.get(server) ?? connectDirectly(server, folder(server, 'direct'), listening.get(server));
      clients.set(server, client);
      return client;
    },
    async pids(server) {
      const file = pidsOf(server);
      return existsSync(file) ? (await readFile(file, 'utf8')).trimEnd().split('\n').map(Number) : [];
    },
    placeless(value) {
      const text = JSON.stringify(value);
      const both = (['direct', 'behind'] as const).map((place) => JSON.stringify(join(root, place)).slice(1, -1));
      return JSON.parse(both.reduce((said, name) => said.replaceAll(name, '<folder>'), text));
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([...clients.values()].map(async (client) => (await client).close()));
      for (const { stop } of listening.values()) await stop();
      await rm(root, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Kills processes. @returns how many of them were still there */
export function killAll(pids: readonly number[]): number {
  const there = pids.filter((pid) => {
    try {
      return process.kill(pid, 'SIGKILL');
    } catch {
      return false;
    }
  });
  return there.length;
}

/** A module that writes down which process it runs in. */
function notePid(file: string): string {
  const program = `import{appendFileSync}from'node:fs';appendFileSync(${JSON.stringify(file)},process.pid+'\\n')`;
  return `data:text/javascript,${encodeURIComponent(program)}`;
}

/** A server that listens. It has no folder, and so both places share it. */
interface Listening {
  readonly url: string;
  stop(): Promise<void>;
}

async function listen(server: InteropServer, cwd: string): Promise<Listening> {
  const { command, args, env } = server.start(cwd);
  const child = spawn(command, args, {
    cwd,
    env: { ...getDefaultEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [url] = await within(once(createInterface(child.stdout), 'line'), `the URL of ${server.name}`);
  const stop = async (): Promise<void> => {
    const exited = once(child, 'exit');
    if (child.kill('SIGKILL')) await exited;
  };
  return { url: String(url), stop };
}

async function connectDirectly(server: InteropServer, cwd: string, listening?: Listening): Promise<Client> {
  const mode = server.era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const transport = listening === undefined ? overStdio(server, cwd) : overHttp(listening.url);
  await client.connect(transport, { timeout: CONNECT_MS });
  return client;
}

const overHttp = (url: string): Transport => new StreamableHTTPClientTransport(new URL(url));

function overStdio(server: InteropServer, cwd: string): Transport {
  const { command, args, env } = server.start(cwd);
  return new StdioClientTransport({
    command,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...env },
    cwd,
    stderr: 'ignore',
  });
}
