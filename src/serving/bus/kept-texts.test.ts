import { describe, expect, it } from 'vitest';
import { createHub } from './hub.ts';
import { createKeptTexts } from './kept-texts.ts';
import { serveWorker, workerBus } from './worker.ts';

const ROOM = { maxBytes: 100, ttlMs: 1_000 };

describe('texts that can be made again', () => {
  it('make room for others: those that were used longest ago are forgotten', async () => {
    const texts = createKeptTexts(() => 0);
    for (const name of ['a', 'b', 'c']) await texts.keep(name, 'x'.repeat(30), ROOM);
    expect(await texts.kept('a')).toBe('x'.repeat(30));
    await texts.keep('d', 'x'.repeat(30), ROOM);
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(async (name) => (await texts.kept(name)) !== undefined))).toEqual(
      [true, false, true, true],
    );
    // A text that replaces one of the same size takes no more room.
    for (let each = 0; each < 9; each++) await texts.keep('d', 'y'.repeat(30), ROOM);
    expect(await texts.kept('a')).toBeDefined();
    await texts.keep('e', 'x'.repeat(200), ROOM);
    expect(await texts.kept('e')).toBeUndefined();
    expect(await texts.kept('d')).toBe('y'.repeat(30));
  });

  it('are forgotten when nobody used them for a time', async () => {
    let now = 0;
    const texts = createKeptTexts(() => now);
    await texts.keep('a', 'text', ROOM);
    await texts.keep('b', 'text', ROOM);
    now = 900;
    expect(await texts.kept('a')).toBe('text');
    now = 1_800;
    expect(await texts.kept('a')).toBe('text');
    expect(await texts.kept('b')).toBeUndefined();
  });

  it('are kept in the parent of the workers, for all workers', async () => {
    const hub = createHub();
    const ends: (() => void)[] = [];
    const worker = async () => {
      const toParent = new Set<(message: unknown) => void>();
      const toWorker = new Set<(message: unknown) => void>();
      const end = (mine: Set<(message: unknown) => void>, theirs: Set<(message: unknown) => void>) => ({
        send: (message: object) => {
          const copy = JSON.parse(JSON.stringify(message)) as unknown;
          setImmediate(() => theirs.forEach((each) => void each(copy)));
        },
        onMessage(listener: (message: unknown) => void) {
          mine.add(listener);
          return () => mine.delete(listener);
        },
      });
      ends.push(serveWorker(end(toParent, toWorker), hub, [new Uint8Array(32)]));
      return (await workerBus(end(toWorker, toParent))).bus;
    };
    const [one, other] = [await worker(), await worker()];
    await one.memory.keep('a', 'text', ROOM);
    expect(await other.memory.kept('a')).toBe('text');
    expect(await other.memory.kept('b')).toBeUndefined();
    await Promise.all([one.close(), other.close()]);
    for (const end of ends) end();
    hub.close();
  });
});
