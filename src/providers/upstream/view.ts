/**
 * One view of an upstream, for one client or for all clients that share it: a connection that is kept up, and the facts
 * learned over it. A URL leads to the same server on every connection, so its connections share the facts. Each
 * connection to a program starts a server with its own state, so it has facts of its own.
 */
import type { ClientFeatures } from '../../core/context.ts';
import { createCoalescing } from './coalescing.ts';
import { createKnownResources, type KnownResources } from './known.ts';
import { createLists, type Fetching, type Lists } from './lists.ts';
import type { Supervisor } from './supervisor.ts';
import type { Watching } from './watching.ts';

export type Ask = ClientFeatures['ask'];

/** The facts learned about a server, and the watches on its changes. */
export interface Learned {
  readonly lists: Lists;
  readonly known: KnownResources;
  readonly watching: Watching;
}

export interface View extends Learned {
  /** Names the client, or the group of clients, that uses the view. */
  readonly key: string;
  readonly supervisor: Supervisor;
  /** Requests for pages of lists that are under way. */
  readonly fetching: Fetching;
  /** The number of calls that are under way. */
  running: number;
  /** Resolves when the read that a client has given up ends; undefined if there is none. */
  ending: Promise<void> | undefined;
  usedAt: number;
  /** Whether a client has ever watched changes through it. */
  watched: boolean;
  /** Asks the client of the latest request a question. */
  ask: Ask;
  close(): Promise<void>;
}

/** @param watching makes the watches of a connection; @param learned facts shared with other connections to the same server */
export function createView(
  key: string,
  name: string,
  supervisor: Supervisor,
  watching: (supervisor: Supervisor) => Watching,
  learned?: Learned,
): View {
  const own = learned ?? { lists: createLists(name), known: createKnownResources(), watching: watching(supervisor) };
  return {
    ...own,
    key,
    supervisor,
    fetching: createCoalescing(),
    running: 0,
    ending: undefined,
    usedAt: Date.now(),
    watched: false,
    ask: undefined,
    async close() {
      if (learned === undefined) await own.watching.close();
      await supervisor.close();
    },
  };
}

/** Whether the view can be closed: it has no call under way and no watch. */
export const isIdle = (view: View): boolean => view.running === 0 && !view.watching.busy;
