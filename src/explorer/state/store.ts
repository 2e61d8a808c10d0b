/** The state of the page, and functions that change it. The address holds the state; all other data can be requested again. */
import type { PromptDescription, ToolDescription } from '../../protocol/content.ts';
import { SERVER_INFO_KEY } from '../../protocol/meta.ts';
import type { Resource, ResourceTemplate } from '../../protocol/resources.ts';
import type { Client, Data } from '../client/client.ts';
import { type Exchange, MAX_EXCHANGES } from '../client/exchange.ts';
import { type Cell, cell } from './cell.ts';
import { createListing, type Listing, MAX_EMPTY_PAGES } from './listing.ts';
import { createLive, type Live } from './live.ts';
import { addressOfPlace, type Place, placeOf } from './place.ts';
import { parentOf } from './tree.ts';

/** The most folders whose entries are kept, which is more than one page shows together with the mounts. */
const MAX_LISTINGS = 128;

/** The most templates that are shown, and likewise tools and prompts. */
const MAX_OFFERS = 1_000;

/** The most changed resources that are marked until the user looks at them. */
const MAX_MARKS = 1_000;

interface Discovered {
  readonly capabilities?: Data;
  readonly instructions?: unknown;
  readonly _meta?: Data;
}

/** The server's own description. */
export interface About {
  readonly title: string;
  readonly description?: string | undefined;
  readonly instructions?: string | undefined;
  /** The server may send any text, so the component that shows it checks whether it is an address. */
  readonly website?: string | undefined;
}

export interface Offers {
  /** Whether the offers have been loaded. */
  readonly isKnown: boolean;
  readonly template: readonly ResourceTemplate[];
  readonly tool: readonly ToolDescription[];
  readonly prompt: readonly PromptDescription[];
}

export interface Store {
  readonly client: Client;
  readonly place: Cell<Place>;
  readonly roots: Cell<readonly Resource[]>;
  readonly about: Cell<About>;
  readonly offers: Cell<Offers>;
  /** Resources that changed since the user looked at them. */
  readonly marks: Cell<ReadonlySet<string>>;
  /** Increases when the resource on the page has changed. */
  readonly changes: Cell<number>;
  readonly exchanges: Cell<readonly Exchange[]>;
  readonly live: Live;
  /** Returns the list of a folder. @param uri undefined for the roots */
  listing(uri: string | undefined): Listing;
  /** Returns a resource from the lists that have been loaded; undefined if none has it. */
  known(uri: string): Resource | undefined;
  go(place: Place, replace?: boolean): void;
  /** Returns the URI of the previous place. */
  before(): string | undefined;
  /** Removes the mark of a resource, because the user looks at it. */
  looked(uri: string): void;
  close(): void;
}

export interface StoreOptions {
  readonly client: Client;
  readonly exchanges: Cell<readonly Exchange[]>;
  /** The title of the server until it has answered. */
  readonly server: string;
  /** Whether the address of the page follows the place. A frame in a host cannot do this. Default: true. */
  readonly addresses?: boolean;
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Adds an exchange that has begun, or replaces it when it has ended. */
export function recordExchange(exchanges: Cell<readonly Exchange[]>, exchange: Exchange): void {
  const before = exchanges.get();
  const at = before.findLastIndex(({ id }) => id === exchange.id);
  exchanges.set(at < 0 ? [...before, exchange].slice(-MAX_EXCHANGES) : before.with(at, exchange));
}

export function createStore({ client, exchanges, server, addresses = true }: StoreOptions): Store {
  const first: Place = (addresses ? placeOf(new URL(location.href)) : undefined) ?? { kind: 'home' };
  const place = cell(first);
  const marks = cell<ReadonlySet<string>>(new Set());
  const changes = cell(0);
  const roots = cell<readonly Resource[]>([]);
  const about = cell<About>({ title: server });
  const offers = cell<Offers>({ isKnown: false, template: [], tool: [], prompt: [] });
  const listings = new Map<string, Listing>();

  const mark = (uris: readonly string[]): void => {
    const added = uris.filter((uri) => uri !== shown());
    if (added.length > 0) marks.set(new Set([...marks.get(), ...added].slice(-MAX_MARKS)));
  };
  const shown = (): string | undefined => {
    const at = place.get();
    return at.kind === 'resource' ? at.uri : undefined;
  };

  function listing(uri: string | undefined): Listing {
    const key = uri ?? '';
    const folder = listings.get(key) ?? createListing(client, uri, mark);
    // The most recently used folder is at the end.
    listings.delete(key);
    listings.set(key, folder);
    for (const old of listings.keys()) {
      if (listings.size <= MAX_LISTINGS) break;
      if (old !== '') listings.delete(old);
    }
    return folder;
  }

  const live = createLive(client, (uri) => {
    if (uri === undefined) {
      listing(undefined).refresh();
      void loadOffers();
      return;
    }
    if (uri === shown()) changes.set(changes.get() + 1);
    const listed = listings.get(uri);
    if (listed !== undefined) return listed.refresh();
    mark([uri]);
    const above = parentOf(roots.get(), uri);
    if (above !== undefined) listings.get(above)?.refresh();
  });

  const releaseRoots = listing(undefined).hold();
  const unfollow = listing(undefined).listed.follow(({ entries }) => roots.set(entries));

  async function pagesOf<T>(method: string, field: string): Promise<readonly T[]> {
    const all: T[] = [];
    let empty = 0;
    let cursor: string | undefined;
    do {
      const page = await client.request<Data>(method, cursor === undefined ? {} : { cursor }, lifetime.signal);
      const items = Array.isArray(page[field]) ? page[field].slice(0, MAX_OFFERS - all.length) : [];
      all.push(...items);
      if (items.length === 0) empty++;
      cursor = typeof page.nextCursor === 'string' ? page.nextCursor : undefined;
    } while (cursor !== undefined && all.length < MAX_OFFERS && empty < MAX_EMPTY_PAGES);
    return all;
  }

  const none = (): readonly never[] => [];

  const lifetime = new AbortController();
  let isLoading = false;
  let isOutdated = false;

  /** Loads the offers; if they are being loaded, again afterwards, so that an older answer never replaces a newer one. */
  async function loadOffers(): Promise<void> {
    isOutdated = true;
    if (isLoading) return;
    isLoading = true;
    try {
      while (isOutdated && !lifetime.signal.aborted) {
        isOutdated = false;
        await loadOffersOnce();
      }
    } finally {
      isLoading = false;
    }
  }

  async function loadOffersOnce(): Promise<void> {
    const discovered = await client
      .request<Discovered>('server/discover', {}, lifetime.signal)
      .catch((): Discovered => ({}));
    if (lifetime.signal.aborted) return;
    const { capabilities = {}, instructions, _meta } = discovered;
    const info = (_meta?.[SERVER_INFO_KEY] ?? {}) as Data;
    about.set({
      title: textIn(info.title) ?? textIn(info.name) ?? server,
      description: textIn(info.description),
      instructions: textIn(instructions),
      website: textIn(info.websiteUrl),
    });
    const [template, tool, prompt] = await Promise.all([
      pagesOf<ResourceTemplate>('resources/templates/list', 'resourceTemplates').catch(none),
      'tools' in capabilities ? pagesOf<ToolDescription>('tools/list', 'tools').catch(none) : [],
      'prompts' in capabilities ? pagesOf<PromptDescription>('prompts/list', 'prompts').catch(none) : [],
    ]);
    if (!lifetime.signal.aborted) offers.set({ isKnown: true, template, tool, prompt });
  }
  void loadOffers();

  let now = shown();
  let before: string | undefined;
  place.follow(() => {
    before = now;
    now = shown();
  });
  const back = (): void => place.set(placeOf(new URL(location.href)) ?? { kind: 'home' });
  if (addresses) addEventListener('popstate', back);

  return {
    client,
    place,
    roots,
    about,
    offers,
    marks,
    changes,
    exchanges,
    live,
    listing,
    known(uri) {
      const above = parentOf(roots.get(), uri);
      const entries = above === undefined ? roots.get() : (listings.get(above)?.listed.get().entries ?? []);
      return entries.find((each) => each.uri === uri);
    },
    go(next, replace = false) {
      const address = addressOfPlace(next);
      if (addresses && address !== location.pathname + location.search)
        history[replace ? 'replaceState' : 'pushState'](null, '', address);
      place.set(next);
    },
    before: () => before,
    looked(uri) {
      if (!marks.get().has(uri)) return;
      const rest = new Set(marks.get());
      rest.delete(uri);
      marks.set(rest);
    },
    close() {
      lifetime.abort();
      live.close();
      unfollow();
      releaseRoots();
      removeEventListener('popstate', back);
    },
  };
}
