import { expect, it } from 'vitest';
import type { Connection } from './connection.ts';
import type { Link } from './link.ts';
import { createWatching } from './watching.ts';

const URI = 'notes:///a.txt';

/** A connection of the 2025 era that records its requests. `kept` counts who keeps it up. */
function recorded() {
  const requests: string[] = [];
  const link = {
    era: 'legacy',
    facts: { subscribe: true, listChanged: true },
    ended: false,
    async request(method: string) {
      requests.push(method);
      return {};
    },
  } as unknown as Link;
  const state = { kept: 0 };
  const connection: Connection = {
    get: async () => link,
    current: undefined,
    keep() {
      state.kept++;
      return { [Symbol.dispose]: () => void state.kept-- };
    },
    close: async () => {},
  };
  return { requests, link, state, connection };
}

it('a watch that ended with the connection is not restored when the connection is back', async () => {
  const { requests, link, state, connection } = recorded();
  const watching = createWatching(connection, 1_000, () => {});
  const one = watching.watch(URI, undefined);
  const list = watching.watch(undefined, undefined);
  await Promise.all([one.ready, list.ready]);
  expect(state.kept).toBe(1);
  watching.down(true);
  await expect(one[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'unavailable' });
  await expect(list[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'unavailable' });
  expect(state.kept).toBe(0);
  watching.up(link, true);
  await watching.close();
  expect(requests).toEqual(['resources/subscribe']);
});

it('closing the client takes the listeners of its watches off the signals of the caller', async () => {
  const { connection } = recorded();
  const watching = createWatching(connection, 1_000, () => {});
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(signal, args);
  };
  await watching.watch(URI, signal).ready;
  expect(listeners).toBe(1);
  await watching.close();
  expect(listeners).toBe(0);
});
