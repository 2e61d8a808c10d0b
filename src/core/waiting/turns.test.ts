/** Work in turns: its order, its errors, and how much may wait. */
import { describe, expect, it } from 'vitest';
import { createTurns } from './turns.ts';

/** A piece of work that ends when it is told to. */
function piece(begun: string[], name: string) {
  let end = (): void => {};
  const work = () =>
    new Promise<string>((resolve) => {
      begun.push(name);
      end = () => resolve(name);
    });
  return { work, end: () => end() };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  it('run so much at a time, in order, also after work that fails', async () => {
    const begun: string[] = [];
    const inTurn = createTurns(1, 10);
    const [a, c] = [piece(begun, 'a'), piece(begun, 'c')];
    const first = inTurn(a.work);
    const second = inTurn(async () => {
      begun.push('b');
      throw new Error('b failed');
    });
    const third = inTurn(c.work);
    await soon();
    expect(begun).toEqual(['a']);
    a.end();
    await expect(second).rejects.toThrow('b failed');
    await soon();
    c.end();
    expect(await Promise.all([first, third])).toEqual(['a', 'c']);
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it.each([0, 1, 3])('let %i pieces of work wait, and refuse more until there is room', async (most) => {
    const begun: string[] = [];
    const inTurn = createTurns(2, most);
    const pieces = Array.from({ length: 2 + most }, (_, at) => piece(begun, `${at}`));
    const running = pieces.map(({ work }) => inTurn(work));
    const more = inTurn(async () => begun.push('more'));
    await expect(more).rejects.toMatchObject({ code: 'limited' });
    pieces[0]?.end();
    await soon();
    for (const { end } of pieces) end();
    for (let turn = 0; turn < pieces.length; turn++) {
      await soon();
      for (const { end } of pieces) end();
    }
    await Promise.all(running);
    await inTurn(async () => begun.push('last'));
    expect(begun).toEqual([...pieces.keys(), 'last'].map(String));
  });
});
