/** An event stream that its client does not read holds a limited number of bytes. */
import { describe, expect, it } from 'vitest';
import { boundedBody } from './bounded-stream.ts';
import { EventStream } from './events.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A stream that counts how often it has ended. */
function source() {
  const events = new EventStream();
  let ends = 0;
  events.onEnd(() => ends++);
  return { events, ends: () => ends };
}

const textOf = (body: ReadableStream<Uint8Array>): Promise<string> => new Response(body).text();

/** Waits until everything that was sent has arrived. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

describe('a bounded stream', () => {
  it('gives the events from before and after the first read, in order', async () => {
    const { events } = source();
    events.write('zero ');
    const body = boundedBody(events, 100);
    events.write('one ');
    await settle();
    const text = textOf(body);
    events.write('two ');
    await settle();
    events.write('three');
    events.end();
    events.write('never');
    expect(await text).toBe('zero one two three');
  });

  it('gives the events of a stream that has ended already', async () => {
    const { events } = source();
    events.write('all');
    events.end();
    expect(await textOf(boundedBody(events, 100))).toBe('all');
  });

  it('lets a single message through that is longer than the limit', async () => {
    const { events } = source();
    const body = boundedBody(events, 4);
    events.write('a message of many bytes');
    events.end();
    expect(await textOf(body)).toBe('a message of many bytes');
  });

  it('counts the bytes that wait, and not those that the client has taken', async () => {
    const { events, ends } = source();
    const reader = boundedBody(events, 4).getReader();
    for (let round = 0; round < 50; round++) {
      events.write('abcd');
      expect((await reader.read()).value).toEqual(bytes('abcd'));
    }
    expect(ends()).toBe(0);
  });

  it('cuts the connection when more bytes wait, and ends its source', async () => {
    const { events, ends } = source();
    let cuts = 0;
    const body = boundedBody(events, 4, () => cuts++);
    events.write('abc');
    events.write('de');
    events.write('fg');
    await settle();
    expect([cuts, ends()]).toEqual([1, 1]);
    await body.cancel();
  });

  it('fails when there is no connection to cut', async () => {
    const { events, ends } = source();
    const body = boundedBody(events, 4);
    events.write('abc');
    events.write('de');
    await settle();
    await expect(textOf(body)).rejects.toThrow('more than 4 bytes');
    expect(ends()).toBe(1);
  });

  it('ends its source when the client cancels it', async () => {
    const { events, ends } = source();
    const body = boundedBody(events, 4);
    await body.cancel();
    expect(ends()).toBe(1);
  });
});
