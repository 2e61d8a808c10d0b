/**
 * An upstream as one client sees it, or all who share: a connection that is kept up, and what was learned over it. Behind
 * a URL there is one server, whatever the connection; a program that is started again is another one, with a state of its
 * own, so what was learned of one says nothing of the other.
 */
import type { ClientFeatures } from '../../core/context.ts';
import { createCoalescing } from './coalescing.ts';
import { createKnown, type Known } from './known.ts';
import { createLists, type Fetching, type Lists } from './lists.ts';
import type { Supervisor } from './supervisor.ts';
import type { Watching } from './watching.ts';

export type Ask = ClientFeatures['ask'];

/** The facts learned of a server, and the watches on its changes. */
export interface Learned {
  readonly lists: Lists;
  readonly known: Known;
  readonly watching: Watching;
}

export interface View extends Learned {
  /** Whose it is. */
  readonly key: string;
  readonly supervisor: Supervisor;
  /** Pages of lists that come over its connection. */
  readonly fetching: Fetching;
  /** Calls that are under way. */
  running: number;
  usedAt: number;
  /** Somebody has watched changes in it. */
  watched: boolean;
  /** Asks the client on its latest request. */
  ask: Ask;
  close(): Promise<void>;
}

/** @param watching is made for the connection; @param learned is shared with other connections to the same server */
export function createView(
  key: string,
  name: string,
  supervisor: Supervisor,
  watching: (supervisor: Supervisor) => Watching,
  learned?: Learned,
): View {
  const own = learned ?? { lists: createLists(name), known: createKnown(), watching: watching(supervisor) };
  return {
    ...own,
    key,
    supervisor,
    fetching: createCoalescing(),
    running: 0,
    usedAt: Date.now(),
    watched: false,
    ask: undefined,
    async close() {
      if (learned === undefined) await own.watching.close();
      await supervisor.close();
    },
  };
}

/** Whether nobody would miss it now. */
export const isIdle = (view: View): boolean => view.running === 0 && !view.watching.busy;
