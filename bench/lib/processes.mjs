/** Child processes: started on a core of their own where the system can, and always ended. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/** Servers run on the first core, and the programs that load them on the second. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;
/** The server behind a gateway runs on a core of its own if there are three. */
export const UPSTREAM_CORE = availableParallelism() > 2 ? 2 : CLIENT_CORE;

/** How the processes were spread over the machine, for the report. */
export const placement = canPin ? 'server pinned to one core, load to another' : 'processes not pinned';

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => process.exit(1));

/** @param {string} name of a program in `bench/processes` */
export const processFile = (name) => fileURLToPath(new URL(`../processes/${name}.mjs`, import.meta.url));

/**
 * Starts a Node program.
 * @param {readonly string[]} args
 * @param {{core?: number, stdin?: 'pipe' | 'ignore', stderr?: 'pipe' | 'ignore' | 'inherit'}} [how]
 */
export function startNode(args, how = {}) {
  return startProgram([process.execPath, ...args], how);
}

/**
 * A command that runs on one core, where the system can see to that.
 * @param {readonly string[]} command
 * @param {number | undefined} core
 */
export const onCore = (command, core) =>
  core === undefined || !canPin ? [...command] : ['taskset', '-c', `${core}`, ...command];

/**
 * Starts any program.
 * @param {readonly string[]} command
 * @param {{core?: number, stdin?: 'pipe' | 'ignore', stderr?: 'pipe' | 'ignore' | 'inherit', env?: Readonly<Record<string, string>>}} [how]
 *   `env` beside that of this process
 */
export function startProgram(command, { core, stdin = 'ignore', stderr = 'inherit', env = {} } = {}) {
  const [program = '', ...args] = onCore(command, core);
  /** @typedef {import('node:stream').Writable} Writable @typedef {import('node:stream').Readable} Readable */
  const child = /** @type {import('node:child_process').ChildProcessByStdio<Writable, Readable, null>} */ (
    spawn(program, args, { stdio: [stdin, 'pipe', stderr], env: { ...process.env, ...env } })
  );
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/**
 * Starts a server that is a Node program and waits until it has written a URL to standard output.
 * @param {readonly string[]} args
 * @param {{core?: number | undefined}} [how] on a core of its own unless that is undefined
 */
export const startServer = (args, how) => startServing([process.execPath, ...args], how);

/**
 * The same for any program.
 * @param {readonly string[]} command
 * @param {{core?: number | undefined}} [how]
 */
export async function startServing(command, { core } = { core: SERVER_CORE }) {
  const child = startProgram(command, { core });
  let output = '';
  /** @type {string} */
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      // Only a URL with a path: the addresses of servers behind this one are printed without a path.
      const found = /https?:\/\/[^\s/]+\/\S*/.exec(output)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
  return { url, pid: child.pid, stop: () => stop(child) };
}

/** @typedef {Awaited<ReturnType<typeof startServer>>} RunningServer */

/** How long a program may take until it takes connections, in milliseconds. */
const OPENING_MS = 30_000;

/**
 * Starts a program that says nothing, and waits until its port takes connections.
 * @param {readonly string[]} command
 * @param {string} url
 * @param {Readonly<Record<string, string>>} env
 * @returns {Promise<RunningServer>}
 */
export async function startListening(command, url, env) {
  const child = startProgram(command, { core: SERVER_CORE, stderr: 'ignore', env });
  child.stdout.resume();
  const { hostname, port } = new URL(url);
  const until = Date.now() + OPENING_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${command[0]} ended with ${child.exitCode}`);
    if (await takesConnections(Number(port), hostname)) return { url, pid: child.pid, stop: () => stop(child) };
    if (Date.now() > until) throw new Error(`${url} takes no connections`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * @param {number} port
 * @param {string} host
 * @returns {Promise<boolean>}
 */
function takesConnections(port, host) {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/**
 * A port of this machine that nobody listens on.
 * @returns {Promise<number>}
 */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/**
 * Ends a process, by force when it takes too long.
 * @param {import('node:child_process').ChildProcess} child
 */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await exited;
  clearTimeout(force);
}

/**
 * Runs a program of `bench/processes` to its end with one argument, and parses what it prints, both JSON.
 * @param {string} name
 * @param {unknown} job
 * @param {{core?: number | undefined}} [how] on the core of those that load servers; on any where that is undefined
 */
export async function runJob(name, job, { core } = { core: CLIENT_CORE }) {
  const child = startNode([processFile(name), JSON.stringify(job)], core === undefined ? {} : { core });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  return JSON.parse(output);
}
