/** Child processes: started on a core of their own where the system can, and always ended. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/** Where servers run, and where what loads them does. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;

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
export function startNode(args, { core, stdin = 'ignore', stderr = 'inherit' } = {}) {
  const command = core === undefined || !canPin ? [process.execPath] : ['taskset', '-c', `${core}`, process.execPath];
  /** @typedef {import('node:stream').Writable} Writable @typedef {import('node:stream').Readable} Readable */
  const child = /** @type {import('node:child_process').ChildProcessByStdio<Writable, Readable, null>} */ (
    spawn(command[0], [...command.slice(1), ...args], { stdio: [stdin, 'pipe', stderr] })
  );
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/**
 * Starts a server and waits until it has written a URL to standard output.
 * @param {readonly string[]} args
 * @param {{core?: number | undefined}} [how] on a core of its own unless that is undefined
 */
export async function startServer(args, { core } = { core: SERVER_CORE }) {
  const child = startNode(args, { core });
  let output = '';
  /** @type {string} */
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const found = /https?:\/\/\S+/.exec(output)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
  return { url, pid: child.pid, stop: () => stop(child) };
}

/** @typedef {Awaited<ReturnType<typeof startServer>>} RunningServer */

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
 */
export async function runJob(name, job) {
  const child = startNode([processFile(name), JSON.stringify(job)], { core: CLIENT_CORE });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  return JSON.parse(output);
}
