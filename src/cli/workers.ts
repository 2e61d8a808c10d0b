/** `vitrine serve --workers`: processes behind one port. The parent serves nothing: it listens for all of them, and starts who has ended again. */
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

/** Workers of one server. */
const MAX_WORKERS = 64;

/** Before a worker is started again that has ended, in milliseconds: the first time, and the most that it grows to. */
const RESTART_MS = { first: 100, most: 10_000 } as const;

/** A worker that served for so long begins anew with the first of these, in milliseconds. */
const STEADY_MS = 10_000;

/** Tells a worker its number in its environment; a worker that takes the place of another one has its number. */
const NUMBER = 'VITRINE_WORKER';

/** Tells all workers the same port: each would take another one where any free one will do. */
const PORT = 'VITRINE_WORKER_PORT';

/** @throws UsageError for what is no number of workers */
export function workerCount(typed: string): number {
  if (typed === 'auto') return Math.min(availableParallelism(), MAX_WORKERS);
  const count = Number(typed);
  if (!Number.isInteger(count) || count < 1 || count > MAX_WORKERS)
    throw new UsageError(`--workers takes a number from 1 to ${MAX_WORKERS}, or auto, and not "${typed}"`);
  return count;
}

/** The number of this worker; undefined in every other process. */
export const workerNumber = (): number | undefined => (cluster.isWorker ? Number(process.env[NUMBER]) : undefined);

/** Gives the address at which this worker serves. */
export const addressOfWorker = ({ host }: Address): Address => ({ host, port: Number(process.env[PORT]) });

/** The bus of this worker, and the keys of all. */
export function busOfWorker(): Promise<{ readonly bus: Bus; readonly keys: Keys }> {
  return workerBus({
    send: (message) => void process.send?.(message),
    onMessage(listener) {
      process.on('message', listener);
      return () => process.off('message', listener);
    },
  });
}

/** Lets this worker end: the channel to its parent would keep it running. */
export function leaveParent(): void {
  process.channel?.unref();
}

/** Runs until it is told to end. Resolves to the exit status of a worker where none could begin to serve. */
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
  // Each takes connections itself: one that the parent hands to a worker that is being killed would be answered by nobody.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] as unknown as string[] });

  function start(number: number, waitMs: number): void {
    const began = Date.now();
    const worker = cluster.fork({ [NUMBER]: String(number), [PORT]: String(port) });
    running.set(worker, serveWorker(channelTo(worker), hub, keys));
    worker.on('listening', () => {
      if (served || over) return;
      served = true;
      // The first one has said what would be wrong with all of them.
      for (let other = 2; other <= count; other++) start(other, RESTART_MS.first);
    });
    // All of them say the same.
    worker.process.stdout?.on('data', (chunk: Buffer) => {
      printer ??= worker;
      if (printer === worker) terminal.output.write(chunk);
    });
    worker.on('error', (error) => log.debug('a worker cannot be told something', { worker: number, error }));
    worker.on('exit', (code, signal) => {
      running.get(worker)?.();
      running.delete(worker);
      if (over) return running.size === 0 ? finish(0) : undefined;
      if (!served) return finish(code === 0 ? 1 : code);
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
  const told = stopping.signalled.then(() => {
    over = true;
    stopping.begin();
    for (const worker of running.keys()) worker.process.kill('SIGTERM');
    return running.size === 0 ? 0 : finished;
  });
  const status = await Promise.race([finished, told]);
  over = true;
  forget?.();
  for (const timer of timers) clearTimeout(timer);
  for (const worker of running.keys()) worker.process.kill('SIGTERM');
  hub.close();
  return status;
}

/** The first port of an address that is free; where none is, the first: the worker that tries to take it says what is wrong. */
async function freePort({ host, port, more = 0 }: Address): Promise<number> {
  for (let each = port; each <= port + more; each++) {
    const server = createServer().listen(each, host);
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
