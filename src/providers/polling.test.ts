/** Watches by polling: the first look, which several callers share, and the end. */
import { expect, it } from 'vitest';
import { createContext } from '../core/context.ts';
import { createPolling } from './polling.ts';

it('a first look goes on for the other callers when the one that began it leaves', async () => {
  let answer = (_state: string): void => {};
  const polling = createPolling((_uri, { signal }) => {
    const looking = new Promise<string>((resolve, reject) => {
      answer = resolve;
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    return looking;
  }, 1);
  const leaving = new AbortController();
  const first = polling.watch('x:///a', 60_000, () => {}, createContext({ signal: leaving.signal }));
  const second = polling.watch('x:///a', 60_000, () => {}, createContext());
  leaving.abort(new Error('the first caller left'));
  await expect(first).rejects.toThrow('the first caller left');
  answer('one');
  await using _watch = await second;
  await polling.close();
});

it('a first look ends when all callers have left', async () => {
  let ended = false;
  const polling = createPolling(
    (_uri, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          ended = true;
          reject(signal.reason);
        });
      }),
    1,
  );
  const leaving = new AbortController();
  const watch = polling.watch('x:///a', 60_000, () => {}, createContext({ signal: leaving.signal }));
  leaving.abort(new Error('the caller left'));
  await expect(watch).rejects.toThrow('the caller left');
  expect(ended).toBe(true);
});

it('a watch is refused after closing, and if its caller has left', async () => {
  let looks = 0;
  const polling = createPolling(async () => String(looks++), 1);
  const left = createContext({ signal: AbortSignal.abort(new Error('the caller left')) });
  await expect(polling.watch('x:///a', 60_000, () => {}, left)).rejects.toThrow('the caller left');
  await polling.close();
  await expect(polling.watch('x:///a', 60_000, () => {}, createContext())).rejects.toMatchObject({
    code: 'unavailable',
  });
  expect(looks).toBe(0);
});
