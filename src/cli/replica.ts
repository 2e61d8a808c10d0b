/** The role of a `vitrine serve` process: one of several workers, or a replica on a bus. */
import { join, parse } from 'node:path';
import { closeMounts } from '../config/mounts.ts';
import type { Bus } from '../core/bus.ts';
import type { Log } from '../core/context.ts';
import type { Keys } from '../core/keys.ts';
import type { Address } from './address.ts';
import { busOf } from './bus.ts';
import { UsageError } from './errors.ts';
import type { Sources } from './sources.ts';
import type { Terminal } from './terminal.ts';

export interface WorkerFlags {
  /** A number, or `auto`. */
  readonly workers?: string;
  /** Lets each worker start its own programs. */
  readonly multiply?: boolean;
}

/** The role of this process among those that serve the same. */
export interface Replica {
  readonly stdio: boolean;
  /** The worker's number; undefined if this process is not a worker. */
  readonly worker: number | undefined;
  readonly bus: Bus | undefined;
  readonly keys: Keys | undefined;
}

/** Returns this worker's number and address. The parent gets `parent` once its workers have ended. @throws UsageError */
export async function workerOf(
  { workers }: WorkerFlags,
  address: Address | undefined,
  log: Log,
  terminal: Terminal,
): Promise<(Pick<Replica, 'worker'> & { readonly address: Address | undefined }) | 'parent'> {
  if (workers === undefined) return { worker: undefined, address };
  const { addressOfWorker, serveWorkers, workerCount, workerNumber } = await import('./workers.ts');
  const count = workerCount(workers);
  if (address === undefined)
    throw new UsageError('--workers is for HTTP: over standard input and output there is one host');
  const number = workerNumber();
  if (number !== undefined) return { worker: number, address: addressOfWorker(address) };
  const status = await serveWorkers(count, address, log, terminal);
  if (status !== 0) terminal.exit(status);
  return 'parent';
}

/** Connects to the others: over a configured bus, otherwise over the parent of the workers. @throws UsageError */
export async function joinReplicas(
  sources: Sources,
  { multiply, workers }: WorkerFlags,
  address: Address | undefined,
  worker: number | undefined,
  log: Log,
): Promise<Replica> {
  const { keys } = sources;
  const stdio = address === undefined;
  try {
    const programs = sources.mounts.filter(({ upstream }) => upstream !== undefined).map(({ name }) => name);
    if (worker !== undefined && workers !== '1' && multiply !== true && programs.length > 0)
      throw new UsageError(
        `Each worker would start its own ${programs.join(', ')}, or connect to it; add --multiply to allow that`,
      );
    const isAlone = (worker === undefined || workers === '1') && sources.config.bus === undefined;
    if (typeof sources.config.explorer === 'object' && !isAlone)
      throw new UsageError(
        'explorer.clientId: only the process where a person signed in knows the person; serve with one process and no bus, or leave it out',
      );
    if (stdio) return { stdio, worker, bus: undefined, keys };
    const bus = await busOf(sources, log);
    if (worker === undefined || bus !== undefined) return { stdio, worker, bus, keys };
    const { busOfWorker } = await import('./workers.ts');
    const ofParent = await busOfWorker();
    return { stdio, worker, bus: ofParent.bus, keys: keys ?? ofParent.keys };
  } catch (error) {
    await closeMounts(sources.mounts);
    throw error;
  }
}

/** Each worker writes its own chain, as in `audit.2.jsonl`; a worker that replaces another one continues its chain. */
export function fileOfWorker(file: string, worker: number | undefined): string {
  if (worker === undefined || file === '-') return file;
  const { dir, name, ext } = parse(file);
  return join(dir, `${name}.${worker}${ext}`);
}
