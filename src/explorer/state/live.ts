/** Notifies of changes on the server: one listen stream for everything on the page, opened again when the page shows something else. */
import type { Client } from '../client/client.ts';
import { type Cell, cell } from './cell.ts';

/** The most resources that are watched at the same time. */
const MAX_WATCHED = 100;

/** Milliseconds that the page must stay the same before its resources are watched. */
const SETTLE_MS = 250;

/** Milliseconds until a stream that ended is opened again: at first, and at most after further failures. */
const RETRY_MS = { first: 1_000, most: 30_000 } as const;

export interface Live {
  /** Whether the stream is open, so that changes are noticed. */
  readonly isOpen: Cell<boolean>;
  /** The resources that are watched now. */
  readonly watched: Cell<ReadonlySet<string>>;
  /** Sets the resources to watch for a part of the page. */
  watch(part: string, uris: readonly string[]): void;
  close(): void;
}

/** @param onChange called with the URI of a changed resource; with undefined if a list of the server has changed */
export function createLive(client: Client, onChange: (uri: string | undefined) => void): Live {
  const isOpen = cell(false);
  const watched = cell<ReadonlySet<string>>(new Set());
  const parts = new Map<string, readonly string[]>();
  let open: AbortController | undefined;
  let openKey = '';
  let settling: ReturnType<typeof setTimeout> | undefined;
  let retryMs: number = RETRY_MS.first;

  function reopen(): void {
    const uris = [...new Set([...parts.values()].flat())].slice(0, MAX_WATCHED);
    const key = uris.join('\n');
    if (open !== undefined && key === openKey) return;
    openKey = key;
    const before = open;
    open = new AbortController();
    const { signal } = open;
    const filter = {
      resourcesListChanged: true,
      toolsListChanged: true,
      promptsListChanged: true,
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
    };
    const onNotification = (method: string, params: { readonly uri?: unknown }): void => {
      if (method === 'notifications/subscriptions/acknowledged') {
        before?.abort();
        retryMs = RETRY_MS.first;
        watched.set(new Set(uris));
        isOpen.set(true);
      } else if (method === 'notifications/resources/updated') {
        if (typeof params.uri === 'string') onChange(params.uri);
      } else if (/\/list_changed$/.test(method)) onChange(undefined);
    };
    client
      .listen(filter, onNotification, signal)
      .catch(() => {})
      .finally(() => {
        before?.abort();
        if (signal.aborted) return;
        isOpen.set(false);
        watched.set(new Set());
        // A newer stream may be opening already. It must stay the one that `close` ends.
        if (open?.signal !== signal) return;
        open = undefined;
        clearTimeout(settling);
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
