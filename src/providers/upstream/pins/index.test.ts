import { expect, it } from 'vitest';
import { createContext, SILENT } from '../../../core/context.ts';
import { createPins } from './index.ts';

/** Pins of a server whose lists never come, with the signals of these lists. */
function endless() {
  const signals: AbortSignal[] = [];
  const pins = createPins({
    mount: 'up',
    file: '/nonexistent/pins.json',
    log: SILENT,
    list: (_kind, { signal }) => {
      signals.push(signal);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  });
  return { pins, signals };
}

it('the definitions are listed once for all calls of a client, until none of these calls waits', async () => {
  const { pins, signals } = endless();
  const [first, second] = [new AbortController(), new AbortController()];
  const gone = pins.admit('tools', 'a', createContext({ signal: first.signal }));
  const goneToo = pins.admit('tools', 'b', createContext({ signal: second.signal }));
  first.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  second.abort(new Error('gone too'));
  await expect(goneToo).rejects.toThrow('gone too');
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

it('the first look at the definitions ends when no caller waits for it any more', async () => {
  const { pins, signals } = endless();
  const leaving = [new AbortController(), new AbortController()] as const;
  const waiting = leaving.map(({ signal }) => pins.objection('tools', { name: 'a' }, createContext({ signal })));
  for (const each of waiting) each.catch(() => {});
  await expect.poll(() => signals.length).toBe(2);
  leaving[0].abort(new Error('gone'));
  await expect(waiting[0]).rejects.toThrow('gone');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  leaving[1].abort(new Error('gone too'));
  await expect(waiting[1]).rejects.toThrow('gone too');
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});
