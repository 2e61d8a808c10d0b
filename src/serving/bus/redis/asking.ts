/** Asks several servers at once where the server of a bus is, and believes the one that knows the latest. */
import { ResourceError } from '../../../core/errors.ts';
import { abortable } from '../../../core/waiting/abortable.ts';
import {
  asRefusal,
  type Client,
  COMMAND_MS,
  connect,
  nameOf,
  type OpenClient,
  type Server,
  unavailable,
} from './client.ts';

/** A place that a server knows, and the number of the decision about it: it grows with each one. */
export interface Known {
  readonly host: string;
  readonly port: number;
  readonly epoch: number;
}

export interface Asking {
  readonly open: OpenClient;
  readonly servers: readonly Server[];
  /** As a sentence calls one of them, as in "The sentinel", and all of them. */
  readonly one: string;
  readonly all: string;
  /** @returns undefined where it knows of none */
  ask(client: Client, server: Server): Promise<Known | undefined>;
  /** Says that those who answer know of none. */
  readonly none: string;
}

/** @throws ResourceError `unavailable` with a sentence */
export async function askForPlace({ open, servers, one, all, ask, none }: Asking, signal: AbortSignal): Promise<Known> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(COMMAND_MS)]);
  const given = await Promise.allSettled(servers.map((server) => askOne(server)));
  signal.throwIfAborted();
  const answers = given.filter((each) => each.status === 'fulfilled').map(({ value }) => value);
  const [latest] = answers.filter((each) => each !== undefined).sort((a, b) => b.epoch - a.epoch);
  if (latest !== undefined) return latest;
  if (answers.length > 0) throw unavailable(none);
  const errors = given.filter((each) => each.status === 'rejected').map(({ reason }) => reason as unknown);
  // That somebody refuses says more than that others are away.
  const refusal = errors.find((each) => each instanceof ResourceError);
  if (refusal !== undefined) throw refusal;
  const each = servers.map((server, at) => `${nameOf(server)} (${messageOf(errors[at])})`);
  throw unavailable(`None of ${all} answers: ${each.join(', ')}`, errors[0]);

  async function askOne(server: Server): Promise<Known | undefined> {
    const client = open(server);
    // It is also what connecting rejects with.
    client.on('error', () => {});
    try {
      await connect(client, limit);
      return await abortable(ask(client, server), limit);
    } catch (error) {
      throw asRefusal(error, one, server);
    } finally {
      client.destroy();
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
