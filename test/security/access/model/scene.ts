/** One server under test, who asks it, and what its answers say. */
import type { Reply } from '../asking.ts';
import type { Outcome } from '../outcomes.ts';
import type { Asker } from './asking.ts';
import type { Effect, Reference } from './reference.ts';
import type { MountName, Thing } from './things.ts';

/** One server, one person, and what the reference says of both. */ export interface Scene {
  readonly asker: Asker;
  readonly reference: Reference;
  readonly mounts: readonly MountName[];
  /** The things that exist; some others are only said to be. */
  readonly things: readonly Thing[];
  /** Gives what is in memory in `docs` another text, and so tells of a change. */
  readonly touch: (thing: Thing, mimeType: string) => void;
}

/** The outcome of a decision, by its effect. */
export const OUTCOMES: Readonly<Record<Effect, Outcome>> = {
  allow: 'answered',
  ask: 'asked',
  deny: 'denied',
  hide: 'missing',
};

/** Whoever could do nothing by a method has no such method. */
export const isNoMethod = ({ error }: Reply): boolean => error?.code === -32_601;

/** Of a tool that does nothing but what is asked about again, resource by resource. */
export const toolEffect = (
  { reference }: Scene,
  name: string,
  args: Readonly<Record<string, unknown>> | undefined,
): Effect => reference.decide({ operation: 'call', name, arguments: args, onlyResources: true });

/** The URIs, templates or names in a list of an answer, or in what a tool answers with. */
export function entriesOf(reply: Reply, field: string): readonly string[] {
  const result = reply.result ?? {};
  const data = (result.structuredContent ?? result) as Readonly<Record<string, unknown>>;
  const entries = (data[field] ?? []) as readonly Readonly<Record<string, unknown>>[];
  return entries.map(({ uri, uriTemplate, name }) => String(uri ?? uriTemplate ?? name));
}
