/** Checks the server of a database when it is mounted. */
import type { Log } from '../../core/context.ts';
import type { ResourceError } from '../../core/errors.ts';
import { SERVER } from '../../core/waiting/fair-queue.ts';
import type { Lent } from './lending.ts';

/** The most milliseconds for the query of the check. */
const FIRST_LOOK_MS = 5_000;

interface Reader {
  transaction(limits: Lent, work: (ask: (sql: string) => Promise<unknown>) => Promise<unknown>): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Sends one query to the server. If the server does not answer, the mount starts all the same, since the server may answer later.
 * @param refusalOf returns the error to throw if the server refuses; undefined if it may answer later
 * @throws ResourceError `invalid` if the server refuses; the reader is then closed
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
