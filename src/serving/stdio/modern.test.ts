/** A connection of 2026-07-28 over standard input and output that closes while a listen request is being prepared. */
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ENVELOPE } from '../../../test/e2e/raw.ts';
import { until } from '../../../test/e2e/waiting.ts';
import { slowWatches } from '../../../test/slow-watches.ts';
import { serveStdio } from './index.ts';

/** Serves watches that are placed only when `place` is called. */
function overStdio() {
  const { vitrine, counts, place } = slowWatches();
  const [input, output] = [new PassThrough(), new PassThrough()];
  let written = '';
  output.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  const serving = serveStdio(vitrine, { input, output });
  return {
    vitrine,
    serving,
    output,
    counts,
    place,
    messages: () =>
      written
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    listen(id: number, uri: string): void {
      const params = { notifications: { resourceSubscriptions: [uri] }, _meta: ENVELOPE };
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params })}\n`);
    },
  };
}

describe('a listen request that is being prepared when the connection closes', () => {
  it.each([
    ['before', true],
    ['after', false],
  ])('leaves no watch that was placed %s the end', async (_, isBefore) => {
    const { vitrine, serving, counts, place, listen, messages } = overStdio();
    listen(1, 'memory:///a.txt');
    await until(() => counts.asked > 0, 'the first watch');
    if (isBefore) place();
    const closing = serving.close();
    if (!isBefore) place();
    await closing;
    await until(() => counts.open === 0, 'the end of the watch', 2_000);
    expect(messages()).toMatchObject([{ id: 1, error: { message: 'The server is shutting down' } }]);
    await vitrine.close();
  });

  it('is followed by no other listen request that waited for it', async () => {
    const { vitrine, serving, counts, place, listen, messages } = overStdio();
    listen(1, 'memory:///a.txt');
    listen(2, 'memory:///b.txt');
    await until(() => counts.asked > 0, 'the first watch');
    const closing = serving.close();
    place();
    await closing;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(counts).toEqual({ asked: 1, open: 0, removed: 1 });
    expect(messages().filter(({ method }) => method !== undefined)).toEqual([]);
    await vitrine.close();
  });

  it('leaves no watch, and gets no answer, when the output breaks', async () => {
    const { vitrine, serving, output, counts, place, listen, messages } = overStdio();
    listen(1, 'memory:///a.txt');
    await until(() => counts.asked > 0, 'the first watch');
    output.emit('error', new Error('EPIPE'));
    place();
    await serving.closed;
    await until(() => counts.open === 0, 'the end of the watch', 2_000);
    expect(messages()).toEqual([]);
    await vitrine.close();
  });
});
