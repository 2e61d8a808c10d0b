/** Who gets one of the few connections to a database, when more want to read than there are. */
import { createFairQueue, type FairQueue, MAX_WAIT_MS } from '../../core/waiting/fair-queue.ts';

/** Statements that wait for a connection. */
const MAX_WAITING = 1_000;

/**
 * @param connections that there are at a time
 * @param statementTimeoutSeconds a statement is waited for as long as one may take, at least
 */
export const connectionQueue = (connections: number, statementTimeoutSeconds: number): FairQueue =>
  createFairQueue({
    places: connections,
    maxWaiting: MAX_WAITING,
    maxWaitMs: Math.max(MAX_WAIT_MS, statementTimeoutSeconds * 1_000),
    busy: 'No connection to the database is free, because too much is asked of it at a time; try again later',
    limit: 'connections',
  });
