/** Shares the connections to a database fairly among more callers than there are connections. */
import { createFairQueue, type FairQueue, MAX_WAIT_MS } from '../../core/waiting/fair-queue.ts';

/** The most statements that wait for a connection. */
const MAX_WAITING = 1_000;

/**
 * @param connections the most connections that are open at a time
 * @param statementTimeoutSeconds how long a statement may take. It may wait at least as long for a connection.
 */
export const connectionQueue = (connections: number, statementTimeoutSeconds: number): FairQueue =>
  createFairQueue({
    places: connections,
    maxWaiting: MAX_WAITING,
    maxWaitMs: Math.max(MAX_WAIT_MS, statementTimeoutSeconds * 1_000),
    busy: 'All connections to the database are in use; try again later',
    limit: 'connections',
  });
