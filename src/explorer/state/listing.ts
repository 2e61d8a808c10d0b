/** The entries of a folder, loaded page by page for as long as somebody looks at them, and again when it has changed. */
import type { Resource } from '../../protocol/resources.ts';
import type { Client, Data } from '../client/client.ts';
import { isAbort, type Refusal, refusalOf } from '../client/refusal.ts';
import { type Cell, cell } from './cell.ts';

/** Entries of one folder that are loaded; a filter and an order are of these. */
const MAX_ENTRIES = 200_000;

/** Milliseconds after which further entries are shown while more are coming. */
const SHOW_MS = 250;

/** Milliseconds after which a server counts as slow. */
const SLOW_MS = 1_500;

export interface Listed {
  readonly entries: readonly Resource[];
  /** Whether these are all. */
  readonly done: boolean;
  /** There are more than are loaded. */
  readonly cut: boolean;
  /** Its server takes long to answer. */
  readonly slow?: boolean | undefined;
  readonly problem?: Refusal | undefined;
  /** In the `_meta` of the first page. */
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
  /** Loads it where it is not loaded yet. @returns ends it when nobody else looks */
  hold(): () => void;
  refresh(): void;
}

/** @param changed told of entries that are new or others than before */
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
    const entries: Resource[] = [];
    const slow = setTimeout(() => listed.set({ ...listed.get(), slow: true }), SLOW_MS);
    let meta: Data | undefined;
    let shownAt = Number.NEGATIVE_INFINITY;
    try {
      let cursor: string | undefined;
      do {
        const params = { ...(uri !== undefined && { uri }), ...(cursor !== undefined && { cursor }) };
        const page: Page = await client.request<Page>('resources/list', params, signal);
        for (const each of page.resources) entries.push(each);
        meta ??= page._meta;
        cursor = page.nextCursor;
        const done = cursor === undefined || uri === undefined;
        const cut = !done && entries.length >= MAX_ENTRIES;
        const isDue = performance.now() - shownAt > SHOW_MS;
        // The entries before stay until all are there anew.
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

/** Another one whenever the resource is known to have changed. */
export const stampOf = ({ annotations, size }: Resource): string => `${annotations?.lastModified} ${size}`;
