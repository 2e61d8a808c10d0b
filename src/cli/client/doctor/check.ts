/** The type of a check: data about one thing that can be wrong with a server, and how the doctor finds it out. */

import type { Examined } from './examined.ts';
import type { Limits } from './limits.ts';
import type { Data, Era } from './wire.ts';
import type { HttpWire } from './wire-http.ts';
import type { StdioWire } from './wire-stdio.ts';

/** `error`: against the specification, or broken for hosts. `warning`: against its advice, or a trap. */
export type Level = 'error' | 'warning';

export interface Finding {
  readonly status: 'ok' | 'problem' | 'not-applicable';
  /** The first few instances of a problem, the things that were looked at, or the reason why the check does not apply. */
  readonly saw: readonly string[];
  /** Instances of the problem, where there are more than are shown. */
  readonly count?: number | undefined;
  /** How to mend it, for the author of the server. */
  readonly mend?: string | undefined;
  /** Instead of the check's. */
  readonly level?: Level | undefined;
}

export interface Check {
  /** Stable: scripts and documentation name it. */
  readonly id: string;
  readonly group: Group;
  /** The sentence that is true of a good server. */
  readonly title: string;
  /** The clause of the specification. */
  readonly clause: string;
  readonly level: Level;
  /** Only of one era, or over one transport. Default: all. */
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
  /** The server's lists and a sample of its resources, each asked for once. */
  readonly examined: Examined;
  readonly limits: Limits;
  /** Tools may be called. */
  readonly callTools: boolean;
  /** A further connection of this era. */
  again(): StdioWire | HttpWire;
}

/** Instances of a problem that are told. */
const SHOWN = 5;

const MAX_SEEN_CHARACTERS = 300;

export const ok = (...saw: readonly string[]): Finding => ({ status: 'ok', saw });

export const notApplicable = (why: string): Finding => ({ status: 'not-applicable', saw: [why] });

/** One problem, or as many as there are instances; `ok` for none. */
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
