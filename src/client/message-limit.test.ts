import { describe, expect, it } from 'vitest';
import { limitBody } from './message-limit.ts';

const REQUEST = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'resources/read' });

/** A response whose body comes in these pieces. */
function response(type: string, pieces: readonly string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': type } });
}

const stream = (pieces: readonly string[], body: unknown = REQUEST): Promise<string> =>
  limitBody(response('text/event-stream', pieces), body, 20).text();

describe('a limit of 20 bytes', () => {
  it('is of a whole body that is no stream', async () => {
    expect(
      await limitBody(response('application/json', ['0123456789', '0123456789']), REQUEST, 20).text(),
    ).toHaveLength(20);
    await expect(
      limitBody(response('application/json', ['0123456789', '0123456789', '0']), REQUEST, 20).text(),
    ).rejects.toThrow();
  });

  it.each([['\n'], ['\r\n']])('is of each event of a stream, however it is cut (%j)', async (newline) => {
    const event = `data: "result"${newline}${newline}`;
    const text = event.repeat(50);
    for (const size of [1, 7, 100, text.length]) {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      expect(await stream(pieces)).toBe(text);
    }
  });

  it.each([1, 5, 200])('breaks off a longer event with an error for the request, in pieces of %i', async (size) => {
    const text = `data: ok\n\ndata: ${'x'.repeat(30)}\n\n`;
    const given = await stream(text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []);
    expect(given).toContain('"id":7,"error":{"code":-31998');
    expect(given).not.toContain('x'.repeat(30));
  });

  it('leaves nobody waiting for an answer that does not come', async () => {
    expect(await stream(['data: half of it\n'])).toContain('"id":7,"error":{"code":-31999');
    expect(await stream(['data: {"res', 'ult":1}\n\n'])).not.toContain('error');
    // The transport comes back for what follows an event with an id.
    expect(await stream(['id: 1\n\n'])).not.toContain('error');
    const listening = JSON.stringify({ id: 1, method: 'subscriptions/listen' });
    expect(await stream(['data: changed\n\n'], listening)).not.toContain('error');
  });
});
