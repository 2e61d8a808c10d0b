/**
 * Holds searches between two pages. A search is paused meanwhile, and ended when its caller does not continue. Searches
 * live in this process; a caller with the cursor of an ended one can repeat the search.
 */
import { type Context, withSignal } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { MissingPart } from '../../core/notes.ts';
import type { SearchMatch } from '../../core/provider.ts';
import { collectMissing } from './missing.ts';

/** The most open searches. */
const MAX_OPEN = 32;

/** The most open searches of one peer. */
const MAX_PER_PEER = 8;

/** How long a paused search is kept, in milliseconds. */
const IDLE_MS = 60_000;

export interface OpenSearch {
  readonly id: string;
  /** The number of matches given so far. */
  count: number;
  /** The number of matches examined so far, given or not. */
  readonly looked: number;
  /** Whether a page of the search is being made. */
  readonly busy: boolean;
  /** The parts that could not be searched so far. */
  readonly missing: readonly MissingPart[];
  /** Adds a part that the answers name as missing. */
  leaveOut(part: MissingPart): void;
  /** Returns the next match, or undefined at the end. */
  next(): Promise<SearchMatch | undefined>;
  /** Runs one page. Only one page may run at a time. The caller's signal ends the search. */
  use<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T>;
}

interface Held extends OpenSearch {
  readonly peer: string;
  readonly principal: string;
  busy: boolean;
  looked: number;
  idle: NodeJS.Timeout | undefined;
  end(): Promise<void>;
}

export interface OpenSearches {
  /** @throws ResourceError `limited` when too many are open and none is idle */
  start(begin: (ctx: Context) => AsyncIterable<SearchMatch>, ctx: Context): OpenSearch;
  /** Returns the search with this id, if it belongs to the caller and is still open. */
  resume(id: string, ctx: Context): OpenSearch | undefined;
  end(id: string): Promise<void>;
  close(): Promise<void>;
}

export function createOpenSearches(): OpenSearches {
  const open = new Map<string, Held>();

  async function end(id: string): Promise<void> {
    const search = open.get(id);
    open.delete(id);
    await search?.end();
  }

  /** Ends the oldest paused search where there are too many. */
  function makeRoom(peer: string): void {
    const ofPeer = [...open.values()].filter((search) => search.peer === peer);
    const crowded = ofPeer.length >= MAX_PER_PEER ? ofPeer : open.size >= MAX_OPEN ? [...open.values()] : [];
    if (crowded.length === 0) return;
    const oldest = crowded.find((search) => !search.busy);
    if (oldest === undefined) throw new ResourceError('limited', 'Too many searches are running; wait for one to end');
    void end(oldest.id);
  }

  return {
    start(begin, ctx) {
      makeRoom(ctx.peer);
      const controller = new AbortController();
      // The search outlives the request of its first page, so it has its own signal.
      const { notes, parts } = collectMissing();
      const own = withSignal({ ...ctx, notes }, controller.signal);
      const matches = begin(own)[Symbol.asyncIterator]();
      const search: Held = {
        id: crypto.randomUUID(),
        peer: ctx.peer,
        principal: ctx.principal.id,
        count: 0,
        looked: 0,
        busy: false,
        idle: undefined,
        get missing() {
          return parts();
        },
        leaveOut: (part) => notes.missing(part),
        async next() {
          const result = await matches.next();
          if (result.done) return undefined;
          search.looked++;
          return result.value;
        },
        async use(signal, run) {
          if (search.busy) throw new ResourceError('limited', 'Another page of this search is being made; wait for it');
          const stop = (): void => controller.abort(signal.reason);
          search.busy = true;
          clearTimeout(search.idle);
          if (signal.aborted) stop();
          signal.addEventListener('abort', stop, { once: true });
          try {
            return await run();
          } catch (error) {
            await end(search.id);
            throw error;
          } finally {
            signal.removeEventListener('abort', stop);
            search.busy = false;
            if (open.has(search.id)) search.idle = setTimeout(() => void end(search.id), IDLE_MS).unref();
          }
        },
        async end() {
          clearTimeout(search.idle);
          controller.abort();
          await matches.return?.().catch(() => {});
        },
      };
      open.set(search.id, search);
      return search;
    },
    resume(id, ctx) {
      const search = open.get(id);
      return search?.principal === ctx.principal.id ? search : undefined;
    },
    end,
    async close() {
      await Promise.all([...open.keys()].map(end));
    },
  };
}
