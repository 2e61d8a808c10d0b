/** `vitrine serve --workers`: several processes serve at one port. Their parent runs the bus, and restarts those that end. */
import cluster, { type Worker } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Bus } from '../core/bus.ts';
import type { Log } from '../core/context.ts';
import type { Keys } from '../core/keys.ts';
import { createHub } from '../serving/bus/hub.ts';
import { type ProcessChannel, serveWorker, workerBus } from '../serving/bus/worker.ts';
import type { Address } from './address.ts';
import { UsageError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/** The most workers of one server. */
const MAX_WORKERS = 64;

/** Milliseconds before a worker that has ended is started again: at first, and at most. The wait doubles each time. */
const RESTART_MS = { first: 100, most: 10_000 } as const;

/** If a worker ran for more milliseconds than this, it is started again after the first and shortest wait. */
const STEADY_MS = 10_000;

/** The environment variable with the number of a worker. A worker that replaces another one has the same number. */
const NUMBER = 'VITRINE_WORKER';

/** The environment variable with the port of all workers. Without it, each could take another free port. */
const PORT = 'VITRINE_WORKER_PORT';

/** Returns the number of workers: the typed one; for `auto`, the number of cores, up to `MAX_WORKERS`. @throws UsageError */
export function workerCount(typed: string): number {
  if (typed === 'auto') return Math.min(availableParallelism(), MAX_WORKERS);
  const count = Number(typed);
  if (!Number.isInteger(count) || count < 1 || count > MAX_WORKERS)
    throw new UsageError(`--workers takes a number from 1 to ${MAX_WORKERS}, or auto, and not "${typed}"`);
  return count;
}

/** The number of this worker; undefined in every other process. */
export const workerNumber = (): number | undefined => (cluster.isWorker ? Number(process.env[NUMBER]) : undefined);

/** Returns the address at which this worker serves. */
export const addressOfWorker = ({ host }: Address): Address => ({ host, port: Number(process.env[PORT]) });

/** Connects this worker to the bus of its parent, and gets the keys that all workers share. */
export function busOfWorker(): Promise<{ readonly bus: Bus; readonly keys: Keys }> {
  return workerBus({
    send: (message) => void process.send?.(message),
    onMessage(listener) {
      process.on('message', listener);
      return () => process.off('message', listener);
    },
  });
}

/** Lets this worker end although its channel to the parent is open. */
export function leaveParent(): void {
  process.channel?.unref();
}

/**
 * Runs workers until a signal ends the command.
 * @returns 0; or, if the first worker ended before it served, its exit status, but 1 if that is 0 or a signal ended the worker
 */
export async function serveWorkers(count: number, address: Address, log: Log, terminal: Terminal): Promise<number> {
  const port = await freePort(address);
  const stopping = terminal.takeSignals(log);
  const hub = createHub();
  const keys: Keys = [randomBytes(32)];
  const running = new Map<Worker, () => void>();
  let printer: Worker | undefined;
  let served = false;
  let over = false;
  let finish: (status: number) => void = () => {};
  const finished = new Promise<number>((resolve) => {
    finish = resolve;
  });
  const timers = new Set<NodeJS.Timeout>();
  // Each worker takes connections itself: a connection that the parent handed to a dying worker would get no answer.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] as unknown as string[] });

  function start(number: number, waitMs: number): void {
    const began = Date.now();
    const worker = cluster.fork({ [NUMBER]: String(number), [PORT]: String(port) });
    running.set(worker, serveWorker(channelTo(worker), hub, keys));
    worker.on('listening', () => {
      if (served || over) return;
      served = true;
      // The others start only now: a mistake that ends all workers is reported once, by the first one.
      for (let other = 2; other <= count; other++) start(other, RESTART_MS.first);
    });
    // All workers print the same, so the output of only one is passed on.
    worker.process.stdout?.on('data', (chunk: Buffer) => {
      printer ??= worker;
      if (printer === worker) terminal.output.write(chunk);
    });
    // A worker that runs already becomes the next printer: one that replaces this worker would print the introduction again.
    worker.process.stdout?.once('close', () => {
      if (printer === worker) printer = [...running.keys()].find((other) => other !== worker);
    });
    worker.on('error', (error) => log.debug('a message to a worker could not be sent', { worker: number, error }));
    worker.on('exit', (code, signal) => {
      running.get(worker)?.();
      running.delete(worker);
      if (over) return running.size === 0 ? finish(0) : undefined;
      if (!served) {
        // A worker that a signal ended has no code, and has printed no reason.
        if (signal !== null) log.error('the first worker was ended before it served', { signal });
        return finish(code || 1);
      }
      const ms = Date.now() - began > STEADY_MS ? RESTART_MS.first : waitMs;
      log.warn('a worker has ended and is started again', { worker: number, status: signal ?? code });
      const timer = setTimeout(() => {
        timers.delete(timer);
        start(number, Math.min(ms * 2, RESTART_MS.most));
      }, ms);
      timers.add(timer);
    });
  }

  const forget = terminal.onHangup?.(() => {
    for (const worker of running.keys()) worker.process.kill('SIGHUP');
  });
  start(1, RESTART_MS.first);
  const stopped = stopping.signalled.then(() => {
    over = true;
    stopping.begin();
    for (const worker of running.keys()) worker.process.kill('SIGTERM');
    return running.size === 0 ? 0 : finished;
  });
  const status = await Promise.race([finished, stopped]);
  over = true;
  forget?.();
  for (const timer of timers) clearTimeout(timer);
  for (const worker of running.keys()) worker.process.kill('SIGTERM');
  hub.close();
  return status;
}

/** Returns the first free port of an address. If none is free, it returns the first: the worker that takes it reports the error. */
async function freePort({ host, port, more = 0 }: Address): Promise<number> {
  for (let candidate = port; candidate <= port + more; candidate++) {
    const server = createServer().listen(candidate, host);
    const opened = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!opened) continue;
    const taken = server.address();
    server.close();
    await once(server, 'close');
    if (typeof taken === 'object' && taken !== null) return taken.port;
  }
  return port;
}

const channelTo = (worker: Worker): ProcessChannel => ({
  send: (message) => {
    if (worker.isConnected()) worker.send(message);
  },
  onMessage(listener) {
    worker.on('message', listener);
    return () => worker.off('message', listener);
  },
});
