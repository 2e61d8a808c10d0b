/**
 * What `subscriptions/listen` (2026-07-28) asks for, made ready before it is acknowledged: every watch is in place when
 * the client learns of it, and what cannot be honoured is left out of the acknowledgement.
 */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { MAX_SUBSCRIPTIONS, type Subscriptions } from '../subscriptions.ts';

/** `params.notifications` of the request, as far as it is understood here. */
export interface ListenFilter {
  readonly resourcesListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly toolsListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
}

/** The filter of a listen message, or undefined when it is malformed, which the SDK then answers. */
export function filterOf(params: Readonly<Record<string, unknown>> | undefined): ListenFilter | undefined {
  const filter = params?.notifications;
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) return undefined;
  const { resourceSubscriptions } = filter as { resourceSubscriptions?: unknown };
  if (resourceSubscriptions !== undefined && !isStrings(resourceSubscriptions)) return undefined;
  return filter;
}

const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** What was made ready; `release` takes it back. */
export interface Listening {
  /** The filter that can be honoured, with every other field as it was. */
  readonly honoured: ListenFilter;
  release(): Promise<void>;
}

/** Watches open at the same time for one request. */
const CONCURRENCY = 16;

export async function prepareListening(
  subscriptions: Subscriptions,
  filter: ListenFilter,
  ctx: Context,
): Promise<Listening> {
  // More could not be honoured, so no work is done for them.
  const wanted = [...new Set(filter.resourceSubscriptions ?? [])].slice(0, MAX_SUBSCRIPTIONS);
  const accepted: string[] = [];
  for (let at = 0; at < wanted.length && !ctx.signal.aborted; at += CONCURRENCY) {
    const batch = wanted.slice(at, at + CONCURRENCY);
    const added = await Promise.all(batch.map((uri) => tryTo(() => subscriptions.add(uri, ctx), uri, ctx)));
    accepted.push(...batch.filter((_, index) => added[index]));
  }
  const listed =
    filter.resourcesListChanged === true && (await tryTo(() => subscriptions.addList(ctx), undefined, ctx));
  const prompts =
    filter.promptsListChanged === true && (await tryTo(() => subscriptions.addPrompts(ctx), undefined, ctx));
  const tools = filter.toolsListChanged === true && (await tryTo(() => subscriptions.addTools(ctx), undefined, ctx));
  const {
    resourcesListChanged: _list,
    promptsListChanged: _prompts,
    toolsListChanged: _tools,
    resourceSubscriptions: _uris,
    ...others
  } = filter;
  return {
    honoured: {
      ...others,
      ...(listed && { resourcesListChanged: true }),
      ...(prompts && { promptsListChanged: true }),
      ...(tools && { toolsListChanged: true }),
      ...(filter.resourceSubscriptions !== undefined && { resourceSubscriptions: accepted }),
    },
    async release() {
      await Promise.all(accepted.map((uri) => subscriptions.remove(uri)));
      if (listed) await subscriptions.removeList();
      if (prompts) await subscriptions.removePrompts();
      if (tools) await subscriptions.removeTools();
    },
  };
}

async function tryTo(add: () => Promise<void>, uri: string | undefined, ctx: Context): Promise<boolean> {
  try {
    await add();
    return true;
  } catch (error) {
    const expected = error instanceof ResourceError && error.code !== 'internal';
    ctx.log[expected ? 'debug' : 'warn']('not listened to', { uri, error });
    return false;
  }
}
