import { stat } from 'node:fs';
import { expect, it } from 'vitest';
import { breaks, giveWay, mapInPieces } from './breaks.ts';

/** Work that lasts so many milliseconds. */
function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

it('lets timers that are due run first, also while events of the system are handled', async () => {
  const order = await new Promise<readonly string[]>((resolve) => {
    const done: string[] = [];
    stat('.', () => {
      setTimeout(() => done.push('another'), 1);
      work(5);
      void giveWay().then(() => resolve([...done, 'this one']));
    });
  });
  expect(order).toEqual(['another', 'this one']);
});

it('breaks work off after a while, and earlier where it ends', async () => {
  const taken = breaks();
  work(5);
  const end = taken.end();
  expect(end).toBeInstanceOf(Promise);
  await end;
  work(15);
  expect(taken()).toBeInstanceOf(Promise);
});

it('goes through many values in their order, and others have their turn in between', async () => {
  const order: (number | string)[] = [];
  setTimeout(() => order.push('another'), 1);
  const mapped = await mapInPieces([1, 2, 3], (value) => {
    work(15);
    order.push(value);
    return 2 * value;
  });
  expect(mapped).toEqual([2, 4, 6]);
  expect(order).toEqual([1, 'another', 2, 3]);
});
