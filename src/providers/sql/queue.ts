/** Who gets one of the few connections to a database, when more want to read than there are. */
import { createFairQueue, type FairQueue } from '../../core/fair-queue.ts';

/** Statements that wait for a connection. */
const MAX_WAITING = 1_000;

/** @param connections that there are at a time */
export const connectionQueue = (connections: number): FairQueue =>
  createFairQueue({
    places: connections,
    maxWaiting: MAX_WAITING,
    busy: 'No connection to the database is free, because too much is asked of it at a time; try again later',
    limit: 'connections',
  });
