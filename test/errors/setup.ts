/**
 * In front of every test file: an error that leaves a server while a test runs has nothing of its inside in it, or the
 * test fails, whatever else it is about (SEC-RES-5). What the test itself sent may come back: an echo is no leak.
 */
import { afterAll, afterEach, expect, vi } from 'vitest';
import { internalsIn } from './internals.ts';
import { forgetSent, rememberSent, wasSent } from './sent.ts';
import { type Failure, installTap, onFailure } from './tap.ts';

const wrong: { readonly what: string; readonly error: Failure }[] = [];

installTap();
rememberSent();
onFailure((error) => {
  const { uri } = (error.data ?? {}) as { readonly uri?: unknown };
  const echoed = typeof uri === 'string' ? [uri] : [];
  const what = internalsIn(error, echoed, wasSent);
  if (what !== undefined) wrong.push({ what, error });
});

/** For the tests of the tap itself: what was found wrong so far, which is then forgotten. */
export const takeWrong = (): readonly { readonly what: string; readonly error: Failure }[] => wrong.splice(0);

// Files share a process: none leaves another one without a clock.
afterAll(() => {
  vi.useRealTimers();
});

afterEach(() => {
  forgetSent();
  const found = takeWrong().map(({ what, error }) => `${what} in ${JSON.stringify(error)}`);
  expect(found, 'errors that left with something of the inside').toEqual([]);
});
