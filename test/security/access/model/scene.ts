/** One server under test, its caller, and what its answers contain. */
import type { Reply } from '../asking.ts';
import type { Outcome } from '../outcomes.ts';
import type { Asker } from './asking.ts';
import type { Effect, Reference } from './reference.ts';
import type { MountName, Thing } from './things.ts';

/** One server, one person, and the decisions of the reference for both. */
export interface Scene {
  readonly asker: Asker;
  readonly reference: Reference;
  readonly mounts: readonly MountName[];
  /** The things that exist. Others are only claimed to exist. */
  readonly things: readonly Thing[];
  /** Changes the texts of the resources of `docs`, which are in memory, so that subscribers are notified. */
  readonly touch: (thing: Thing, mimeType: string) => void;
}

/** The outcome of a request, by the effect of the decision. */
export const OUTCOMES: Readonly<Record<Effect, Outcome>> = {
  allow: 'answered',
  ask: 'asked',
  deny: 'denied',
  hide: 'missing',
};

/** Whether the caller does not have the method, because the caller could use nothing of it. */
export const isNoMethod = ({ error }: Reply): boolean => error?.code === -32_601;

/** Decides about a tool that only reads resources. By default it is allowed, and each resource is decided about on its own. */
export const toolEffect = (
  { reference }: Scene,
  name: string,
  args: Readonly<Record<string, unknown>> | undefined,
): Effect => reference.decide({ operation: 'call', name, arguments: args, onlyResources: true });

/** The URIs, templates or names in the list of an answer, or in the result of a list tool. */
export function entriesOf(reply: Reply, field: string): readonly string[] {
  const result = reply.result ?? {};
  const data = (result.structuredContent ?? result) as Readonly<Record<string, unknown>>;
  const entries = (data[field] ?? []) as readonly Readonly<Record<string, unknown>>[];
  return entries.map(({ uri, uriTemplate, name }) => String(uri ?? uriTemplate ?? name));
}
