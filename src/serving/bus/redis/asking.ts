/** Asks several servers at once where the server of the bus is, and takes the most recent answer. */
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

/** The address of the master as one server knows it. `epoch` grows with each change of the master. */
export interface MasterAddress {
  readonly host: string;
  readonly port: number;
  readonly epoch: number;
}

export interface Asking {
  readonly open: OpenClient;
  readonly servers: readonly Server[];
  /** The name of one of the servers, at the beginning of an error message, such as "The sentinel". */
  readonly one: string;
  /** The name of all servers within an error message, such as "the sentinels". */
  readonly all: string;
  /** Asks one server. @returns undefined if it knows no master */
  ask(client: Client, server: Server): Promise<MasterAddress | undefined>;
  /** The error message if servers answer, and none of them knows a master. */
  readonly none: string;
}

/** @throws ResourceError `unavailable` if no server answers, or none knows a master */
export async function askForPlace(
  { open, servers, one, all, ask, none }: Asking,
  signal: AbortSignal,
): Promise<MasterAddress> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(COMMAND_MS)]);
  const given = await Promise.allSettled(servers.map((server) => askOne(server)));
  signal.throwIfAborted();
  const answers = given.filter((result) => result.status === 'fulfilled').map(({ value }) => value);
  const [latest] = answers.filter((answer) => answer !== undefined).sort((a, b) => b.epoch - a.epoch);
  if (latest !== undefined) return latest;
  if (answers.length > 0) throw unavailable(none);
  const errors = given.filter((result) => result.status === 'rejected').map(({ reason }) => reason as unknown);
  // A refusal tells an operator more than the failure of servers that are away.
  const refusal = errors.find((error) => error instanceof ResourceError);
  if (refusal !== undefined) throw refusal;
  const failures = servers.map((server, at) => `${nameOf(server)} (${messageOf(errors[at])})`);
  throw unavailable(`None of ${all} answers: ${failures.join(', ')}`, errors[0]);

  async function askOne(server: Server): Promise<MasterAddress | undefined> {
    const client = open(server);
    // `connect` rejects with the same error, so this listener has nothing to do.
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
