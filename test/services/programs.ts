/** Finds programs, and runs them as a user other than root. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { within } from '../e2e/waiting.ts';

/** These folders have programs that are not on every PATH. */
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** The path of a program in these folders, on PATH, or among the system's. */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...folders, ...path, ...SYSTEM_FOLDERS].map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The `bin` folders of versions that Debian keeps side by side, latest first. */
export function versionFolders(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(folder, version, 'bin'));
}

/** Another user to run as, for servers that refuse root. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The first of these accounts that exists, if the test runs as root; otherwise undefined, and the program runs as the same user. */
export function accountOf(names: readonly string[]): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of names) {
    const [, , uid, gid] = accounts.find(([account]) => account === name) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

/** A new folder of that account below the system's folder for temporary files. */
export async function privateFolder(name: string, account: Account | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `vitrine-${name}-`));
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  return folder;
}

export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 3 });

/** Runs a program to its end. @throws its output if it fails */
export async function runAs(account: Account | undefined, program: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(program, [...args], {
    ...account,
    cwd: tmpdir(),
    env: plainEnvironment(),
    timeout: 60_000,
  });
}

/** No environment variable of the tests reaches the program. */
const plainEnvironment = (): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, LC_ALL: 'C.UTF-8', TZ: 'UTC' });

export interface Server {
  readonly account: Account | undefined;
  readonly program: string;
  readonly args: readonly string[];
  /** The text that it writes to standard error when it is ready. */
  readonly ready: string;
  /** The signal that makes it end at once. */
  readonly end: NodeJS.Signals;
}

export interface Running {
  /** Ends it, with SIGKILL if that takes too long. */
  stop(): Promise<void>;
}

/** Starts a server and waits until it is ready. @throws its output if it ends before, or an error if it takes more than 40 s */
export async function startServer({ account, program, args, ready, end }: Server): Promise<Running> {
  const [command, ...rest] = [...endsWithParent(end), program, ...args];
  const child = spawn(command ?? program, rest, {
    ...account,
    cwd: tmpdir(),
    env: plainEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  let isReady = false;
  const started = new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      if (isReady) return;
      said += chunk.toString();
      isReady = said.includes(ready);
      if (isReady) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`${program} ended before it was ready:\n${said.slice(-2_000)}`)));
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  try {
    await within(started, `${program} to be ready`, 40_000);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { stop: () => stop(child, ended, end) };
}

/** With `setpriv`, if it is installed, a server does not outlive the process that started it, however that process ends. */
function endsWithParent(end: NodeJS.Signals): readonly string[] {
  const setpriv = findProgram('setpriv');
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', end.slice('SIG'.length), '--'];
}

async function stop(child: ChildProcess, ended: Promise<void>, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timer);
}

/** A port of the loopback address that is free at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Starts something at a free port. Tries up to three ports, because another program may take one in between. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}
