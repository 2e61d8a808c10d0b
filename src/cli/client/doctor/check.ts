/** The type of a check: data about one possible fault of a server, and a function that finds it. */

import type { Data } from '../../../protocol/data.ts';
import type { Examined } from './examined.ts';
import type { Limits } from './limits.ts';
import type { Era } from './wire.ts';
import type { HttpWire } from './wire-http.ts';
import type { StdioWire } from './wire-stdio.ts';

/**
 * `error`: the server violates the specification, or hosts fail because of it. `warning`: the server ignores a recommendation of the
 * specification, or does something that easily leads to mistakes.
 */
export type Level = 'error' | 'warning';

export interface Finding {
  readonly status: 'ok' | 'problem' | 'not-applicable';
  /** The first few instances of a problem, the things that were checked, or the reason why the check does not apply. */
  readonly saw: readonly string[];
  /** The number of all instances, of which `saw` has only the first few. */
  readonly count?: number | undefined;
  /** How the author of the server can fix it. */
  readonly mend?: string | undefined;
  /** Replaces the level of the check. */
  readonly level?: Level | undefined;
}

export interface Check {
  /** A stable name: scripts and documentation use it. */
  readonly id: string;
  readonly group: Group;
  /** A sentence that is true of a good server. */
  readonly title: string;
  /** The clause of the specification. */
  readonly clause: string;
  readonly level: Level;
  /** The only era, or transport, that the check applies to. Default: all. */
  readonly era?: Era | undefined;
  readonly transport?: 'stdio' | 'http' | undefined;
  run(ctx: CheckContext): Promise<Finding>;
}

export const GROUPS = [
  'Connection',
  'Lists',
  'Resources',
  'Templates and completion',
  'Subscriptions',
  'Tools',
  'Prompts',
  'Skills',
  'Freshness',
  'Standard input and output',
  'HTTP',
] as const;

export type Group = (typeof GROUPS)[number];

export interface CheckContext {
  readonly wire: StdioWire | HttpWire;
  readonly era: Era;
  /** The result of the handshake: of `initialize` or `server/discover`. */
  readonly hello: Data;
  readonly capabilities: Data;
  /** The server's lists and a sample of its resources, each requested once. */
  readonly examined: Examined;
  readonly limits: Limits;
  /** Whether tools may be called. */
  readonly callTools: boolean;
  /** Opens another connection of this era. */
  again(): StdioWire | HttpWire;
}

/** The most instances of a problem that are shown. */
const SHOWN = 5;

const MAX_SEEN_CHARACTERS = 300;

export const ok = (...saw: readonly string[]): Finding => ({ status: 'ok', saw });

export const notApplicable = (why: string): Finding => ({ status: 'not-applicable', saw: [why] });

/** Returns one problem with its instances; `ok` if there are none. */
export function problems(saw: readonly string[], mend: string, level?: Level): Finding {
  if (saw.length === 0) return ok();
  return {
    status: 'problem',
    saw: saw
      .slice(0, SHOWN)
      .map((each) => (each.length > MAX_SEEN_CHARACTERS ? `${each.slice(0, MAX_SEEN_CHARACTERS)}…` : each)),
    count: saw.length,
    mend,
    ...(level !== undefined && { level }),
  };
}

export const problem = (saw: string, mend: string, level?: Level): Finding => problems([saw], mend, level);
