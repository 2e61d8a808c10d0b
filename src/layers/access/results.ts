/**
 * Applies the policy for reads to each resource that results and questions of mounted servers' tools and prompts embed or link.
 * A hidden resource is left out; any other that may not be read is replaced by a text.
 */
import type { Context } from '../../core/context.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { Owner } from '../../core/operations.ts';
import type { InputRequest } from '../../protocol/input-required.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Decisions } from './decisions.ts';

/** Runs an operation of another server, and removes from its result the resources that the caller may not read. */
export async function guardedResult<T>(
  { foreign }: Owner,
  ctx: Context,
  decisions: Decisions,
  run: () => Promise<T>,
): Promise<T> {
  const result = await run();
  return foreign === true && !readsEverything(ctx, decisions) ? ((await kept(result, ctx, decisions, 0)) as T) : result;
}

/** Removes such resources from the questions that the other server asks the client. */
export function guardedAsking({ foreign }: Owner, invocation: Invocation, decisions: Decisions): Invocation {
  const { client } = invocation;
  const ask = client?.ask;
  if (ask === undefined || foreign !== true || readsEverything(invocation, decisions)) return invocation;
  const guarded: typeof ask = async (request, ...rest) =>
    ask((await kept(request, invocation, decisions, 0)) as InputRequest, ...rest);
  return { ...invocation, client: { ...client, ask: guarded } };
}

const readsEverything = ({ principal }: Context, { policy }: Decisions): boolean =>
  policy.everything?.(principal) === true;

/** The most levels of nested blocks; deeper ones are left out. */
const MAX_DEPTH = 64;

const LEFT_OUT = Symbol('left out');

type Data = Readonly<Record<string, unknown>>;

/** Returns the value without forbidden resources; the same object if there are none in it. */
async function kept(value: unknown, ctx: Context, decisions: Decisions, depth: number): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return LEFT_OUT;
  if (Array.isArray(value)) {
    const all = await Promise.all(value.map((each) => kept(each, ctx, decisions, depth + 1)));
    return all.every((each, index) => each === value[index]) ? value : all.filter((each) => each !== LEFT_OUT);
  }
  const block = value as Data;
  const named = resourceIn(block);
  if (named !== undefined) {
    const { effect } = await decisions.decide(decisions.about('read', named), ctx);
    if (effect === 'hide') return LEFT_OUT;
    if (effect !== 'allow') return { type: 'text', text: `A resource was left out: ${named.uri} may not be read here` };
    return value;
  }
  const entries = await Promise.all(
    Object.entries(block).map(async ([key, each]) => [key, await kept(each, ctx, decisions, depth + 1)] as const),
  );
  if (entries.every(([key, each]) => each === block[key])) return value;
  // A message whose only content was left out is left out too.
  if (entries.some(([key, each]) => key === 'content' && each === LEFT_OUT)) return LEFT_OUT;
  return Object.fromEntries(entries.filter(([, each]) => each !== LEFT_OUT));
}

/** Returns the resource that a block embeds or links to. */
function resourceIn(block: Data): Resource | undefined {
  const described = block.type === 'resource' ? block.resource : block.type === 'resource_link' ? block : undefined;
  if (typeof described !== 'object' || described === null) return undefined;
  const { uri } = described as { readonly uri?: unknown };
  return typeof uri === 'string' ? ({ name: uri, ...described, uri } as Resource) : undefined;
}
