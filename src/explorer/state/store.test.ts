/** Lists that do not end, or that change while they are read. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Client, Data, OnNotification } from '../client/client.ts';
import { cell } from './cell.ts';
import { createListing } from './listing.ts';
import { createStore, type Store } from './store.ts';

/** After so many pages, the lists of the server end, so that the test ends as well. */
const PAGES = 5_000;

type Answer = (method: string, params: Data) => Data | Promise<Data>;

function clientOf(answer: Answer): { readonly client: Client; readonly changed: () => void } {
  let notify: OnNotification = () => {};
  const client: Client = {
    async request<T>(method: string, params: Data = {}, signal?: AbortSignal) {
      const answered = await answer(method, params);
      signal?.throwIfAborted();
      return answered as T;
    },
    listen: (_notifications, onNotification) => {
      notify = onNotification;
      return new Promise(() => {});
    },
  };
  return { client, changed: () => notify('notifications/tools/list_changed', {}) };
}

let store: Store | undefined;

function storeOf(client: Client): Store {
  store = createStore({ client, exchanges: cell([]), server: 'far', addresses: false });
  return store;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('removeEventListener', () => {});
});

afterEach(() => {
  store?.close();
  store = undefined;
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const DISCOVERED = { capabilities: { tools: {}, prompts: {} } };

describe('lists that do not end', () => {
  it.each(['tools/list', 'prompts/list', 'resources/templates/list'])(
    'are given up if the pages of %s stay empty',
    async (list) => {
      let asked = 0;
      const { client } = clientOf((method) => {
        if (method === 'server/discover') return DISCOVERED;
        if (method !== list) return {};
        return ++asked < PAGES ? { nextCursor: `${asked}` } : {};
      });
      const { offers } = storeOf(client);
      await vi.waitFor(() => expect(offers.get().isKnown).toBe(true));
      expect(asked).toBeLessThanOrEqual(200);
    },
  );

  it('give no more entries than may be shown, even if one page has more', async () => {
    const tools = Array.from({ length: 300_000 }, (_, at) => ({ name: `tool ${at}`, inputSchema: {} }));
    const { client } = clientOf((method) =>
      method === 'server/discover' ? DISCOVERED : { tools, nextCursor: 'more' },
    );
    const { offers } = storeOf(client);
    await vi.waitFor(() => expect(offers.get().isKnown).toBe(true));
    expect(offers.get().tool).toHaveLength(1_000);
  });

  it('are shown whole if some pages on the way are empty', async () => {
    const { client } = clientOf((method, { cursor = '0' }) => {
      if (method === 'server/discover') return DISCOVERED;
      const at = Number(cursor);
      const tools = at % 3 === 0 ? [{ name: `tool ${at}`, inputSchema: {} }] : [];
      return { tools, ...(at < 60 && { nextCursor: `${at + 1}` }) };
    });
    const { offers } = storeOf(client);
    await vi.waitFor(() => expect(offers.get().isKnown).toBe(true));
    expect(offers.get().tool).toHaveLength(21);
  });

  it('are given up if the pages of a folder stay empty, and the folder counts as cut', async () => {
    let asked = 0;
    const { client } = clientOf(() => ({ resources: [], ...(++asked < PAGES && { nextCursor: `${asked}` }) }));
    const folder = createListing(client, 'x:///', () => {});
    const release = folder.hold();
    await vi.waitFor(() => expect(folder.listed.get().done || folder.listed.get().cut).toBe(true));
    expect(folder.listed.get()).toMatchObject({ entries: [], done: false, cut: true });
    expect(asked).toBeLessThanOrEqual(200);
    release();
  });
});

describe('a list of tools that changes while it is read', () => {
  it('is shown as it is at last, in whatever order the answers come', async () => {
    const waiting: (() => void)[] = [];
    let version = 0;
    const { client, changed } = clientOf((method) => {
      if (method === 'server/discover') return DISCOVERED;
      if (method !== 'tools/list') return {};
      const tools = [{ name: `version ${++version}`, inputSchema: {} }];
      return new Promise((resolve) => waiting.push(() => resolve({ tools })));
    });
    const { offers } = storeOf(client);
    await vi.advanceTimersByTimeAsync(500);
    changed();
    changed();
    await vi.advanceTimersByTimeAsync(0);
    while (waiting.length > 0) {
      waiting.pop()?.();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(version).toBeGreaterThan(1);
    expect(offers.get().tool).toMatchObject([{ name: `version ${version}` }]);
  });

  it('is not asked for again when the page has been left', async () => {
    let asked = 0;
    let answer = (): void => {};
    const { client, changed } = clientOf((method) => {
      if (method === 'server/discover') return DISCOVERED;
      if (method !== 'tools/list') return {};
      asked++;
      return new Promise((resolve) => {
        answer = () => resolve({ tools: [], nextCursor: 'more' });
      });
    });
    const left = storeOf(client);
    await vi.advanceTimersByTimeAsync(500);
    changed();
    left.close();
    const before = asked;
    answer();
    await vi.advanceTimersByTimeAsync(500);
    expect(asked).toBe(before);
  });
});
