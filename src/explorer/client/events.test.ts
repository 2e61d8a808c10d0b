/** Server-sent events in chunks of every size. */
import { describe, expect, it } from 'vitest';
import { eventsOf } from './events.ts';

const MIB = 1024 * 1024;

function bodyOf(chunks: Iterable<string | Uint8Array>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const each = chunks[Symbol.iterator]();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = each.next();
      if (done === true) controller.close();
      else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
    },
  });
}

async function all(chunks: Iterable<string | Uint8Array>): Promise<string[]> {
  const events: string[] = [];
  for await (const data of eventsOf(bodyOf(chunks))) events.push(data);
  return events;
}

function* repeated(text: string, times: number, end = '', begin = ''): Generator<string> {
  yield begin;
  for (let at = 0; at < times; at++) yield text;
  yield end;
}

describe('the events of a stream', () => {
  const TEXT =
    ': hello\r\n\r\ndata: {"ä": 1}\r\nid: 7\r\n\r\ndata:one\ndata:  two\ndata:\n\n\n\nevent: x\n\ndata: end\n\ndata: cut';
  const EVENTS = ['{"ä": 1}', 'one\n two\n', 'end'];

  it.each([1, 2, 3, 5, 1_000])('are the same in chunks of %i bytes', async (size) => {
    const bytes = new TextEncoder().encode(TEXT);
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    expect(await all(chunks)).toEqual(EVENTS);
  });

  it('take time in proportion to their length', async () => {
    const [event] = await all(repeated('x'.repeat(1_024), 16 * 1_024, '\n\n', 'data:'));
    expect(event).toHaveLength(16 * MIB);
  }, 30_000);

  it('may be many in one long chunk, and together longer than one may be', async () => {
    let count = 0;
    const chunk = `data: ${'x'.repeat(1_000)}\n\n`.repeat(1_024);
    for await (const data of eventsOf(bodyOf(repeated(chunk, 70)))) count += data.length > 0 ? 1 : 0;
    expect(count).toBe(70 * 1_024);
  });

  it.each([
    ['one line', 'x'.repeat(MIB)],
    ['very many lines', `data: ${'x'.repeat(1_000)}\n`.repeat(1_024)],
    ['lines without data', `id: ${'x'.repeat(1_000)}\n`.repeat(1_024)],
  ])('end the stream where one is too long, as %s', async (_, chunk) => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(chunk)),
      cancel: () => {
        cancelled = true;
      },
    });
    const read = async (): Promise<void> => {
      for await (const _ of eventsOf(body));
    };
    await expect(read()).rejects.toThrow('too long');
    expect(cancelled).toBe(true);
  });
});
