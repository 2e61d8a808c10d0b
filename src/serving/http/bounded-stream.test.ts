/** An event stream that nobody reads gathers no more than it may. */
import { describe, expect, it } from 'vitest';
import { boundStream } from './bounded-stream.ts';

const EVENTS = { 'content-type': 'text/event-stream' };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

interface Source {
  readonly response: Response;
  send(text: string): void;
  end(): void;
  fail(error: Error): void;
  readonly cancelled: boolean;
}

function source(headers: HeadersInit = EVENTS): Source {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let cancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    start: (each) => {
      controller = each;
    },
    cancel: () => {
      cancelled = true;
    },
  });
  return {
    response: new Response(stream, { status: 202, headers }),
    send: (text) => controller?.enqueue(bytes(text)),
    end: () => controller?.close(),
    fail: (error) => controller?.error(error),
    get cancelled() {
      return cancelled;
    },
  };
}

/** Lets everything that was sent arrive. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

describe('a bounded stream', () => {
  it('brings what was sent before and after it is read, in order, with status and headers', async () => {
    const from = source();
    const response = boundStream(from.response, 100);
    from.send('one ');
    await settle();
    const text = response.text();
    from.send('two ');
    await settle();
    from.send('three');
    from.end();
    expect(await text).toBe('one two three');
    expect([response.status, response.headers.get('content-type')]).toEqual([202, 'text/event-stream']);
  });

  it('lets one message through that is longer than what may wait', async () => {
    const from = source();
    const response = boundStream(from.response, 4);
    from.send('a message of many bytes');
    from.end();
    expect(await response.text()).toBe('a message of many bytes');
  });

  it('counts what waits, and not what was taken', async () => {
    const from = source();
    const reader = boundStream(from.response, 4).body?.getReader();
    for (let round = 0; round < 50; round++) {
      from.send('abcd');
      expect((await reader?.read())?.value).toEqual(bytes('abcd'));
    }
    expect(from.cancelled).toBe(false);
  });

  it('cuts the connection when more waits, and ends the work behind it', async () => {
    const from = source();
    let cuts = 0;
    const response = boundStream(from.response, 4, () => cuts++);
    from.send('abc');
    from.send('de');
    from.send('fg');
    await settle();
    expect([cuts, from.cancelled]).toEqual([1, true]);
    await response.body?.cancel();
  });

  it('fails when there is no connection to cut', async () => {
    const from = source();
    const response = boundStream(from.response, 4);
    from.send('abc');
    from.send('de');
    await settle();
    await expect(response.text()).rejects.toThrow('more than 4 bytes');
    expect(from.cancelled).toBe(true);
  });

  it('fails as its source does, and ends its source when nobody wants it any more', async () => {
    const failing = source();
    const response = boundStream(failing.response, 4);
    failing.fail(new Error('the source broke'));
    await expect(response.text()).rejects.toThrow('the source broke');
    const left = source();
    await boundStream(left.response, 4).body?.cancel();
    expect(left.cancelled).toBe(true);
  });

  it('is made of event streams alone', () => {
    const { response } = source({ 'content-type': 'application/json' });
    expect(boundStream(response, 4)).toBe(response);
    const empty = new Response(null, { headers: EVENTS });
    expect(boundStream(empty, 4)).toBe(empty);
  });
});
