/**
 * The default list: breadth first from the roots, lazily, a page at a time, without keeping the tree (design, section 4).
 *
 * It goes level by level. For each level it goes down from the roots again, but only through containers, and emits what
 * lies on that level. So its position is the way to where it stopped, a few containers and provider cursors, and nobody
 * has to hold a queue of the whole tree. Since each cursor names an entry, entries that come and go move nothing.
 */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { isWalked } from '../../core/own-content.ts';
import type { Page, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';

export interface WalkLimits {
  readonly pageSize: number;
  readonly maxListed: number;
  readonly maxDepth: number;
}

export interface WalkPage {
  readonly resources: readonly Resource[];
  readonly position?: string | undefined;
  /** Which limit ended the walk before the tree did. */
  readonly truncatedBy?: 'maxResources' | 'maxDepth' | undefined;
}

/** A list that is under way: the container (null: the roots), the provider's cursor in it, and its children's level. */
type Frame = readonly [uri: string | null, cursor: string | null, level: number];

interface State {
  /** The level that is being emitted; the roots are level 0. */
  level: number;
  /** How many have been emitted on all pages. */
  emitted: number;
  /** Entries were left out by the limit: there is no next level, and of the roots only lists that are whole go on. */
  cut?: true;
  /** Whether this level has a container, so that there is a next level. */
  deeper: boolean;
  /** The lists that are still to be gone through, the last one first. */
  frames: Frame[];
}

/** How many entries of a container are looked at together on the way down. */
const STEP = 32;

/** How many lists are asked for in one page, which is then short: a tree may be deep, and its levels nearly empty. */
export const MAX_LISTS = 1_000;

export async function walkPage(
  provider: Pick<ResourceProvider, 'list'>,
  position: string | undefined,
  limits: WalkLimits,
  ctx: Context,
): Promise<WalkPage> {
  const state: State = position === undefined ? start(0, 0) : (JSON.parse(position) as State);
  const resources: Resource[] = [];
  const room = (): number => limits.pageSize - resources.length;
  const left = (): number => limits.maxListed - state.emitted;

  // With nothing left it goes on to the next entry, which is not shown: only that tells whether something is left out.
  for (let lists = 0; lists < MAX_LISTS && (room() > 0 || left() <= 0); ) {
    ctx.signal.throwIfAborted();
    const frame = state.frames.pop();
    if (frame === undefined) {
      if (state.cut) return { resources, truncatedBy: 'maxResources' };
      if (!state.deeper) return { resources };
      if (state.level + 1 >= limits.maxDepth) return { resources, truncatedBy: 'maxDepth' };
      Object.assign(state, start(state.level + 1, state.emitted));
      continue;
    }
    const [uri, cursor, level] = frame;
    const emitting = level === state.level;
    lists++;
    const wanted = emitting ? Math.max(1, left() > 0 ? Math.min(room(), left()) : room()) : STEP;
    const page = await tolerantList(
      provider,
      uri,
      { cursor: cursor ?? undefined, limit: wanted, containersOnly: !emitting },
      ctx,
    );
    if (emitting && page.whole && room() <= 0 && page.resources.length > 0) {
      // It has no limit, and the page is full: its turn comes on the next one.
      state.frames.push(frame);
      break;
    }
    if (page.nextCursor !== undefined) state.frames.push([uri, page.nextCursor, level]);
    if (emitting) {
      // This list holds all that lies below as well, and its owner has decided how long it is.
      if (page.whole) {
        resources.push(...page.resources);
        continue;
      }
      if (left() <= 0 && page.resources.length > 0) {
        if (uri !== null) return { resources, truncatedBy: 'maxResources' };
        state.cut = true;
        continue;
      }
      resources.push(...page.resources);
      state.emitted += page.resources.length;
      state.deeper ||= page.resources.some(isWalked);
    } else {
      const containers = page.whole ? [] : page.resources.filter(isWalked);
      state.frames.push(...containers.reverse().map((container): Frame => [container.uri, null, level + 1]));
    }
  }
  if (state.frames.length === 0 && state.cut) return { resources, truncatedBy: 'maxResources' };
  if (state.frames.length === 0 && !state.deeper) return { resources };
  return { resources, position: JSON.stringify(state) };
}

const start = (level: number, emitted: number): State => ({ level, emitted, deeper: false, frames: [[null, null, 0]] });

/** A container that is gone or closed since its parent was listed has no children; it does not end the walk. */
async function tolerantList(
  provider: Pick<ResourceProvider, 'list'>,
  uri: string | null,
  page: Page,
  ctx: Context,
): Promise<ResourcePage> {
  try {
    return await provider.list(uri ?? undefined, page, ctx);
  } catch (error) {
    if (uri === null || !(error instanceof ResourceError)) throw error;
    if (error.code !== 'not-found' && error.code !== 'denied' && error.code !== 'not-listable') throw error;
    ctx.log.debug('left out of the default list', { uri, reason: error.code });
    return { resources: [] };
  }
}
