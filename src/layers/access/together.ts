/**
 * Answers about what is missing leave together with those about what is hidden, at ticks that everybody waits for. One is
 * found out faster than the other, by a part of a millisecond, and who asks often enough could tell them apart by that.
 */
import { setTimeout as after } from 'node:timers/promises';

/** Between two ticks, in milliseconds: many times the difference that is to be covered. */
export const TICK_MS = 10;

let next: Promise<void> | undefined;

/** Resolves at the next tick. There is one timer, and only while somebody waits. */
export function nextTick(): Promise<void> {
  next ??= after(TICK_MS - (Date.now() % TICK_MS)).then(() => {
    next = undefined;
  });
  return next;
}
