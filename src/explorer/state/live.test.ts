import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Client, OnNotification } from '../client/client.ts';
import { createLive } from './live.ts';

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

interface Stream {
  readonly signal: AbortSignal;
  readonly notify: OnNotification;
  readonly end: () => void;
}

function fakeClient(): { readonly client: Client; readonly streams: Stream[] } {
  const streams: Stream[] = [];
  const client: Client = {
    request: () => Promise.reject(new Error('not used')),
    listen: (_notifications, notify, signal) =>
      new Promise((resolve) => {
        streams.push({ signal, notify, end: resolve });
        signal.addEventListener('abort', () => resolve());
      }),
  };
  return { client, streams };
}

describe('the stream of changes', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('ends with the page, even if the stream before it ended while this one was being opened', async () => {
    const { client, streams } = fakeClient();
    const live = createLive(client, () => {});
    await vi.advanceTimersByTimeAsync(250);
    streams[0]?.notify(ACKNOWLEDGED, {});
    live.watch('thing', ['memory:///a']);
    await vi.advanceTimersByTimeAsync(250);
    expect(streams).toHaveLength(2);
    streams[0]?.end();
    await vi.advanceTimersByTimeAsync(0);
    live.close();
    expect(streams[1]?.signal.aborted).toBe(true);
  });

  it('is not opened again after the page is left', async () => {
    const { client, streams } = fakeClient();
    const live = createLive(client, () => {});
    await vi.advanceTimersByTimeAsync(250);
    live.watch('thing', ['memory:///a']);
    streams[0]?.end();
    await vi.advanceTimersByTimeAsync(0);
    live.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(streams).toHaveLength(1);
  });
});
