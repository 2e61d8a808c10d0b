/**
 * Runs before every test file: if an error with internals leaves a server during any test, that test fails (SEC-RES-5). Text
 * that the test itself sent may come back.
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

/** For the tests of the tap itself: the problems so far, which are then forgotten. */
export const takeWrong = (): readonly { readonly what: string; readonly error: Failure }[] => wrong.splice(0);

// Test files share a process, so none may leave the clock replaced.
afterAll(() => {
  vi.useRealTimers();
});

afterEach(() => {
  forgetSent();
  const found = takeWrong().map(({ what, error }) => `${what} in ${JSON.stringify(error)}`);
  expect(found, 'errors with internals that left a server').toEqual([]);
});
