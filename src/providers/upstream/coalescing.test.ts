import { describe, expect, it } from 'vitest';
import { type Context, createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createNotes } from '../../core/notes.ts';
import { type Coalescing, createCoalescing } from './coalescing.ts';

interface Begun {
  readonly ctx: Context;
  finish(value: string): void;
  fail(error: unknown): void;
}

/** Work that ends when the test lets it, or when it is aborted. */
function createWork() {
  const begun: Begun[] = [];
  const work = (ctx: Context): Promise<string> =>
    new Promise((finish, fail) => {
      begun.push({ ctx, finish, fail });
      ctx.signal.addEventListener('abort', () => fail(ctx.signal.reason));
    });
  return { begun, work };
}

/** Waits until the work has begun so many times, and returns the latest run. */
async function latest(begun: readonly Begun[], count: number): Promise<Begun> {
  while (begun.length < count) await new Promise(setImmediate);
  return begun[count - 1] as Begun;
}

function setup() {
  const coalescing: Coalescing<string> = createCoalescing();
  const { begun, work } = createWork();
  const ask = (ctx = createContext(), key = 'list'): Promise<string> => coalescing.run(key, ctx, work);
  return { begun, ask };
}

describe('shared work', () => {
  it('runs once and waits once, however many request it', async () => {
    const { begun, ask } = setup();
    const first = ask();
    const others = Array.from({ length: 50 }, () => ask());
    expect(begun.length).toBe(1);
    begun[0]?.finish('before');
    expect(await first).toBe('before');
    (await latest(begun, 2)).finish('after');
    expect(new Set(await Promise.all(others))).toEqual(new Set(['after']));
    expect(begun.length).toBe(2);
  });

  it('begins after the request: a request during a run gets the next run', async () => {
    const { begun, ask } = setup();
    const first = ask();
    const second = ask();
    begun[0]?.finish('old');
    await first;
    const running = await latest(begun, 2);
    const third = ask();
    running.finish('new');
    expect(await second).toBe('new');
    (await latest(begun, 3)).finish('newer');
    expect(await third).toBe('newer');
  });

  it('is shared by key', async () => {
    const { begun, ask } = setup();
    const both = [ask(createContext(), 'a'), ask(createContext(), 'b')];
    expect(begun.length).toBe(2);
    for (const [index, each] of begun.entries()) each.finish(`${index}`);
    expect(await Promise.all(both)).toEqual(['0', '1']);
  });

  it('goes on when one of its callers leaves, and ends when all have', async () => {
    const { begun, ask } = setup();
    const leaving = new AbortController();
    const lasting = new AbortController();
    const running = ask();
    const gone = ask(createContext({ signal: leaving.signal }));
    const stays = ask(createContext({ signal: lasting.signal }));
    leaving.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    begun[0]?.finish('one');
    await running;
    const { ctx } = await latest(begun, 2);
    expect(ctx.signal.aborted).toBe(false);
    lasting.abort(new Error('gone too'));
    await expect(stays).rejects.toThrow('gone too');
    expect(ctx.signal.aborted).toBe(true);
  });

  it('without callers is not begun, and a later caller gets a run of its own', async () => {
    const { begun, ask } = setup();
    const leaving = new AbortController();
    const running = ask();
    const gone = ask(createContext({ signal: leaving.signal }));
    leaving.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    const late = ask();
    begun[0]?.finish('one');
    await running;
    (await latest(begun, 2)).finish('two');
    expect(await late).toBe('two');
    expect(begun.length).toBe(2);
  });

  it('that fails is tried again for waiting callers, unless it took too long', async () => {
    const { begun, ask } = setup();
    const first = ask();
    const second = ask();
    begun[0]?.fail(new ResourceError('unavailable', 'broke'));
    await expect(first).rejects.toThrow('broke');
    const third = ask();
    (await latest(begun, 2)).fail(new ResourceError('timeout', 'too slow'));
    await expect(second).rejects.toThrow('too slow');
    await expect(third).rejects.toThrow('too slow');
    const fourth = ask();
    (await latest(begun, 3)).finish('well');
    expect(await fourth).toBe('well');
  });

  it('gives its notes to all callers', async () => {
    const coalescing: Coalescing<string> = createCoalescing();
    const all = [createNotes(), createNotes(), createNotes()];
    const asked = all.map((notes) =>
      coalescing.run('list', createContext({ notes }), async (ctx) => {
        ctx.notes?.missing({ mount: 'up', reason: 'It is away' });
        return '';
      }),
    );
    await Promise.all(asked);
    for (const notes of all) {
      expect(notes.finish({}, { ttlMs: 1, cacheScope: 'private' })).toMatchObject({
        _meta: { 'vitrine/missing': [{ mount: 'up', reason: 'It is away' }] },
      });
    }
  });
});
