/** The first look at the server of a database, when it is mounted. */
import type { Log } from '../../core/context.ts';
import type { ResourceError } from '../../core/errors.ts';
import { SERVER } from '../../core/waiting/fair-queue.ts';
import type { Lent } from './lending.ts';

/** How long the first look may take, in milliseconds. */
const FIRST_LOOK_MS = 5_000;

interface Reader {
  transaction(limits: Lent, work: (ask: (sql: string) => Promise<unknown>) => Promise<unknown>): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Asks the server something. One that does not answer yet is no reason not to start: it may come. One that refuses is.
 * @param refusalOf the error for a server that refuses; undefined for one that may answer later
 * @throws ResourceError `invalid` where the server refuses; the reader is closed then
 */
export async function firstLook(
  reader: Reader,
  refusalOf: (error: unknown) => ResourceError | undefined,
  log: Log,
): Promise<void> {
  try {
    const limits = { timeoutMs: FIRST_LOOK_MS, signal: new AbortController().signal, caller: SERVER };
    await reader.transaction(limits, (ask) => ask('SELECT 1'));
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal !== undefined) {
      await reader.close();
      throw refusal;
    }
    log.warn('the database does not answer yet', { error });
  }
}
