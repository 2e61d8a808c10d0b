/** The time of the last message, as a replica gives it in a greeting over a new connection. */
import { afterEach, expect, it, vi } from 'vitest';
import { until } from '../../../../test/e2e/waiting.ts';
import { SILENT } from '../../../core/context.ts';
import { createSeal, unsealable } from '../../../core/keys.ts';
import { openCarrier } from './carrier.ts';
import type { Client } from './client.ts';

const KEYS = [new Uint8Array(32).fill(1)];
const CHANNEL = 'bus';

interface FakeOptions {
  readonly connect?: () => Promise<void>;
  readonly publish: (message: string) => Promise<void>;
  /** Called for each connection with a function that breaks it. */
  readonly onOpen: (breakIt: (error: unknown) => void) => void;
}

/** A client that acts as if it were connected to a Redis server. */
function fakeClient({ connect = async () => {}, publish, onOpen }: FakeOptions): Client {
  let isOpen = true;
  return {
    get isOpen() {
      return isOpen;
    },
    on(event: string, listener: (error: unknown) => void) {
      if (event !== 'error') return;
      onOpen((error) => {
        isOpen = false;
        listener(error);
      });
    },
    connect,
    subscribe: async () => {},
    destroy() {
      isOpen = false;
    },
    publish: (_channel: string, message: string) => publish(message),
  } as unknown as Client;
}

function opened(open: () => Client) {
  return openCarrier({
    place: { locate: async () => ({ host: 'h', port: 1, tls: false }), moves: false, sharded: false },
    open,
    channel: CHANNEL,
    keys: KEYS,
    log: SILENT,
    events: { mended() {}, received() {} },
    memoryOf: () => ({}) as never,
  });
}

afterEach(() => {
  vi.useRealTimers();
});

it('a greeting after sends that all timed out tells when the last of them was sent', async () => {
  const { open: unseal } = createSeal(KEYS, 'vitrine bus v1');
  const greetings: (readonly [string, string, number, number])[] = [];
  const broken: ((error: unknown) => void)[] = [];
  let isSlow = true;
  const { carrier, ready } = opened(() =>
    fakeClient({
      onOpen: (breakIt) => void broken.push(breakIt),
      async publish(message) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (isSlow) throw new Error('timed out');
        const sealed = unsealable(message);
        greetings.push(JSON.parse(String(sealed && unseal(sealed, Buffer.from(CHANNEL)))));
      },
    }),
  );
  await ready;
  try {
    const before = performance.now();
    expect(await Promise.all([carrier.send('one'), carrier.send('two')])).toEqual([false, false]);
    isSlow = false;
    for (const end of broken.splice(0)) end(new Error('ended'));
    await until(() => greetings.length > 0, 'a greeting');
    const [, text, count, agoMs] = greetings[0] ?? [];
    expect([text, count]).toEqual(['[]', 2]);
    expect(agoMs).toBeLessThan(performance.now() - before);
  } finally {
    await carrier.close();
  }
});

it('a greeting does not count a message for which there was no connection', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { open: unseal } = createSeal(KEYS, 'vitrine bus v1');
  const messages: (readonly [string, string, number, number?])[] = [];
  const broken: ((error: unknown) => void)[] = [];
  let isAway = false;
  const { carrier, ready } = opened(() =>
    fakeClient({
      onOpen: (breakIt) => void broken.push(breakIt),
      async connect() {
        if (isAway) throw new Error('away');
      },
      async publish(message) {
        const sealed = unsealable(message);
        messages.push(JSON.parse(String(sealed && unseal(sealed, Buffer.from(CHANNEL)))));
      },
    }),
  );
  await ready;
  try {
    expect(await carrier.send('one')).toBe(true);
    isAway = true;
    for (const end of broken.splice(0)) end(new Error('ended'));
    await until(() => !carrier.whole, 'the end of the connections');
    vi.advanceTimersByTime(1_000);
    expect(await carrier.send('two')).toBe(false);
    vi.advanceTimersByTime(1_000);
    isAway = false;
    await until(() => messages.length > 1, 'a greeting');
    expect(messages.map(([, ...rest]) => rest)).toEqual([
      ['one', 1],
      ['[]', 2, 2_000],
    ]);
  } finally {
    await carrier.close();
  }
});
