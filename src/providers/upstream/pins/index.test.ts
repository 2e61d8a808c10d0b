import { expect, it } from 'vitest';
import { createContext, SILENT } from '../../../core/context.ts';
import { createPins } from './index.ts';

it('the definitions are listed once for all calls of a client, until none of these calls waits', async () => {
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
