/** A server of 2026-07-28 over HTTP that closes while a listen request is being prepared. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ENVELOPE } from '../../../test/e2e/raw.ts';
import { until } from '../../../test/e2e/waiting.ts';
import { slowWatches } from '../../../test/slow-watches.ts';
import { createEndpoint } from './index.ts';

/** Serves watches that are placed only when `place` is called. */
function overHttp() {
  const { vitrine, counts, place } = slowWatches();
  const endpoint = createEndpoint(vitrine);
  const listen = async (): Promise<number> => {
    const params = { notifications: { resourceSubscriptions: ['memory:///a.txt'] }, _meta: ENVELOPE };
    const { status } = await endpoint.fetch(
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          host: '127.0.0.1',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'subscriptions/listen',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }),
      }),
    );
    return status;
  };
  return { vitrine, endpoint, counts, place, listen };
}

describe('a listen request that is being prepared when the server closes', () => {
  it.each([0, 100])('is waited for, and leaves no watch that was placed %i ms later', async (laterMs) => {
    const { vitrine, endpoint, counts, place, listen } = overHttp();
    const answered = listen();
    await until(() => counts.asked > 0, 'the watch');
    let isClosed = false;
    const closing = endpoint.close().then(() => {
      isClosed = true;
    });
    await pause(laterMs);
    expect(isClosed).toBe(false);
    place();
    await closing;
    expect(counts).toMatchObject({ asked: 1, open: 0, removed: 1 });
    expect(await answered).toBe(503);
    await vitrine.close();
  });

  it('is not waited for any longer if the provider ignores that it is over, and leaves no watch either', async () => {
    const { vitrine, endpoint, counts, place, listen } = overHttp();
    const answered = listen();
    await until(() => counts.asked > 0, 'the watch');
    await endpoint.close();
    expect(counts).toMatchObject({ open: 0, removed: 0 });
    place();
    await until(() => counts.removed === 1, 'the end of the watch');
    expect(await answered).toBe(503);
    await vitrine.close();
  });
});
