/**
 * Sends the answers about missing and about hidden resources at the same moments. Vitrine finds one of the two faster, by a
 * part of a millisecond: without common ticks, a client that asks often enough could tell them apart by their time.
 */
import { setTimeout as after } from 'node:timers/promises';

/** The time between two ticks, in milliseconds: many times the difference that it hides. */
export const TICK_MS = 10;

let next: Promise<void> | undefined;

/** Resolves at the next tick. There is one timer, and only while somebody waits. */
export function nextTick(): Promise<void> {
  next ??= after(TICK_MS - (Date.now() % TICK_MS)).then(() => {
    next = undefined;
  });
  return next;
}
