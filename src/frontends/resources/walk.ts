/**
 * The default list: breadth first from the roots, lazily, a page at a time, without keeping the tree (design, section 4).
 *
 * The walk goes level by level. For each level it goes down from the roots again, but only through containers, and emits the
 * entries of that level. So its position is the path to where it stopped, a few containers and provider cursors, and no queue
 * of the whole tree is kept. Since each cursor names an entry, the walk neither repeats nor loses others when entries come and go.
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
  /** The limit that ended the walk before the end of the tree. */
  readonly truncatedBy?: 'maxResources' | 'maxDepth' | undefined;
}

/** A list that is under way: the container (null: the roots), the provider's cursor in it, and its children's level. */
type Frame = readonly [uri: string | null, cursor: string | null, level: number];

interface State {
  /** The level that is being emitted; the roots are level 0. */
  level: number;
  /** How many entries have been emitted on all pages. */
  emitted: number;
  /** Whether `maxListed` left out roots. Then there is no next level, and of the roots only those of `whole` lists follow. */
  cut?: true;
  /** Whether this level has a container, so that there is a next level. */
  deeper: boolean;
  /** The lists that remain, the last one first. */
  frames: Frame[];
}

/** How many entries of a container are listed together on the way down. */
const STEP = 32;

/** The most lists that are requested for one page. A deep tree whose levels are nearly empty can then give a short page. */
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

  // At `maxListed`, the walk goes on to the next entry without showing it: only this tells whether entries are left out.
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
      // A whole list comes without regard to the limit. This page is full, so the list comes on the next page.
      state.frames.push(frame);
      break;
    }
    if (page.nextCursor !== undefined) state.frames.push([uri, page.nextCursor, level]);
    if (emitting) {
      // A whole list contains everything below the container, too, and its owner has limited its length.
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

/** Lists a container. If it is gone or denied since its parent was listed, it has no children and does not end the walk. */
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
