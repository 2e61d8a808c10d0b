/** Loads the entries of a folder page by page while the user looks at it, and again when it has changed. */
import type { Resource } from '../../protocol/resources.ts';
import type { Client, Data } from '../client/client.ts';
import { isAbort, type Refusal, refusalOf } from '../client/refusal.ts';
import { type Cell, cell } from './cell.ts';
import { createRoots } from './tree.ts';

/** The most entries of one folder that are loaded; filters and sorting apply to these. */
const MAX_ENTRIES = 200_000;

/** The most pages without entries in one list. */
export const MAX_EMPTY_PAGES = 100;

/** How often newly loaded entries are shown, in milliseconds. */
const SHOW_MS = 250;

/** Milliseconds after which a server counts as slow. */
const SLOW_MS = 1_500;

export interface Listed {
  readonly entries: readonly Resource[];
  /** Whether all entries are loaded. */
  readonly done: boolean;
  /** Whether the folder has more entries than may be loaded. */
  readonly cut: boolean;
  /** Whether its server takes long to answer. */
  readonly slow?: boolean | undefined;
  readonly problem?: Refusal | undefined;
  /** The `_meta` of the first page. */
  readonly meta?: Data | undefined;
}

interface Page {
  readonly resources: readonly Resource[];
  readonly nextCursor?: string;
  readonly _meta?: Data;
}

export const NOTHING: Listed = { entries: [], done: false, cut: false };

export interface Listing {
  readonly listed: Cell<Listed>;
  /** Loads the entries unless they are loaded. @returns a function that releases them; loading ends with the last holder */
  hold(): () => void;
  refresh(): void;
}

/** @param changed called when entries are new or different */
export function createListing(
  client: Client,
  uri: string | undefined,
  changed: (uris: readonly string[]) => void,
): Listing {
  const listed = cell(NOTHING);
  let loading: AbortController | undefined;
  let holders = 0;

  async function load(again: boolean): Promise<void> {
    loading?.abort();
    loading = new AbortController();
    const { signal } = loading;
    const before = listed.get();
    const roots = uri === undefined ? createRoots() : undefined;
    const all: Resource[] = [];
    const entries = roots?.all ?? all;
    let empty = 0;
    const slow = setTimeout(() => listed.set({ ...listed.get(), slow: true }), SLOW_MS);
    let meta: Data | undefined;
    let shownAt = Number.NEGATIVE_INFINITY;
    try {
      let cursor: string | undefined;
      do {
        const params = { ...(uri !== undefined && { uri }), ...(cursor !== undefined && { cursor }) };
        const page: Page = await client.request<Page>('resources/list', params, signal);
        const added = roots?.add(page.resources);
        if (roots === undefined) for (const each of page.resources) all.push(each);
        if (page.resources.length === 0) empty++;
        meta ??= page._meta;
        cursor = page.nextCursor;
        // Roots come before all that lies below them.
        const done = cursor === undefined || added === 0;
        const cut = !done && (entries.length >= MAX_ENTRIES || empty >= MAX_EMPTY_PAGES);
        const isDue = performance.now() - shownAt > SHOW_MS;
        // The old entries stay until all new ones are loaded.
        if (done || cut || (!again && isDue)) {
          listed.set({ entries: entries.slice(), done, cut, meta });
          shownAt = performance.now();
        }
        if (done || cut) break;
      } while (cursor !== undefined);
      if (again) changed(different(before.entries, entries));
    } catch (error) {
      if (!isAbort(error)) listed.set({ ...listed.get(), problem: refusalOf(error) });
    } finally {
      clearTimeout(slow);
      if (listed.get().slow === true) listed.set({ ...listed.get(), slow: undefined });
      if (loading?.signal === signal) loading = undefined;
    }
  }

  return {
    listed,
    hold() {
      holders++;
      if (loading === undefined && !listed.get().done) void load(false);
      return () => {
        holders--;
        if (holders === 0 && !listed.get().done) loading?.abort();
      };
    },
    refresh: () => void load(listed.get().done),
  };
}

function different(before: readonly Resource[], after: readonly Resource[]): readonly string[] {
  const known = new Map(before.map((each) => [each.uri, stampOf(each)]));
  return after.filter((each) => known.get(each.uri) !== stampOf(each)).map(({ uri }) => uri);
}

/** Returns a text that differs whenever the resource is known to have changed. */
export const stampOf = ({ annotations, size }: Resource): string => `${annotations?.lastModified} ${size}`;
