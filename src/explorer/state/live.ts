/** Changes at the source: one listen stream for all that is on the page, opened anew when something else is. */
import type { Client } from '../client/client.ts';
import { type Cell, cell } from './cell.ts';

/** The most resources that are watched at the same time. */
const MAX_WATCHED = 100;

/** Milliseconds for which what is on the page has to stay the same before it is watched. */
const SETTLE_MS = 250;

/** Milliseconds until a stream that ended is opened again, at first and at most. */
const RETRY_MS = { first: 1_000, most: 30_000 } as const;

export interface Live {
  /** Whether changes are told now. */
  readonly isOpen: Cell<boolean>;
  /** The resources whose changes are told now. */
  readonly watched: Cell<ReadonlySet<string>>;
  /** Watches these from now on. @param part of the page that they are on */
  watch(part: string, uris: readonly string[]): void;
  close(): void;
}

/** @param told of a resource that changed; undefined for the lists of a server */
export function createLive(client: Client, told: (uri: string | undefined) => void): Live {
  const isOpen = cell(false);
  const watched = cell<ReadonlySet<string>>(new Set());
  const parts = new Map<string, readonly string[]>();
  let open: AbortController | undefined;
  let wanted = '';
  let settling: ReturnType<typeof setTimeout> | undefined;
  let retryMs: number = RETRY_MS.first;

  function reopen(): void {
    const uris = [...new Set([...parts.values()].flat())].slice(0, MAX_WATCHED);
    const key = uris.join('\n');
    if (open !== undefined && key === wanted) return;
    wanted = key;
    const before = open;
    open = new AbortController();
    const { signal } = open;
    const filter = {
      resourcesListChanged: true,
      toolsListChanged: true,
      promptsListChanged: true,
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
    };
    const heard = (method: string, params: { readonly uri?: unknown }): void => {
      if (method === 'notifications/subscriptions/acknowledged') {
        before?.abort();
        retryMs = RETRY_MS.first;
        watched.set(new Set(uris));
        isOpen.set(true);
      } else if (method === 'notifications/resources/updated') {
        if (typeof params.uri === 'string') told(params.uri);
      } else if (/\/list_changed$/.test(method)) told(undefined);
    };
    client
      .listen(filter, heard, signal)
      .catch(() => {})
      .finally(() => {
        before?.abort();
        if (signal.aborted) return;
        isOpen.set(false);
        watched.set(new Set());
        open = undefined;
        settling = setTimeout(reopen, retryMs);
        retryMs = Math.min(retryMs * 2, RETRY_MS.most);
      });
  }

  settling = setTimeout(reopen, SETTLE_MS);
  return {
    isOpen,
    watched,
    watch(part, uris) {
      parts.set(part, uris);
      clearTimeout(settling);
      settling = setTimeout(reopen, SETTLE_MS);
    },
    close() {
      clearTimeout(settling);
      open?.abort();
    },
  };
}
