import { expect, it } from 'vitest';
import { createEventQueue, MAX_WAITING_EVENTS } from './events.ts';

const updated = (uri: string) => ({ kind: 'updated', uri }) as const;

it('gives a change only once if it was reported twice before it was read', async () => {
  const queue = createEventQueue(async () => {});
  for (const uri of ['a:', 'b:', 'a:']) queue.push(updated(uri));
  expect([(await queue.events.next()).value, (await queue.events.next()).value]).toEqual([
    updated('a:'),
    updated('b:'),
  ]);
  queue.push(updated('a:'));
  expect((await queue.events.next()).value).toEqual(updated('a:'));
});

it('drops changes if too many wait, and says so', async () => {
  const queue = createEventQueue(async () => {});
  for (let at = 0; at <= MAX_WAITING_EVENTS; at++) queue.push(updated(`x:${at}`));
  queue.push(updated('last:'));
  expect((await queue.events.next()).value).toEqual({ kind: 'missed', reason: 'overflow' });
  expect((await queue.events.next()).value).toEqual(updated('last:'));
});

it('ends with an error after the waiting events, and ends for every reader that waits', async () => {
  const queue = createEventQueue(async () => {});
  queue.push(updated('a:'));
  queue.fail(new Error('lost'));
  queue.push(updated('b:'));
  expect((await queue.events.next()).value).toEqual(updated('a:'));
  await expect(queue.events.next()).rejects.toThrow('lost');
  const waiting = createEventQueue(async () => {});
  const readers = [waiting.events.next(), waiting.events.next()];
  waiting.end();
  expect((await Promise.all(readers)).every(({ done }) => done)).toBe(true);
});
