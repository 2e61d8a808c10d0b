import { describe, expect, it } from 'vitest';
import { createContext, type Log } from '../../core/context.ts';
import type { Subscriptions } from '../subscriptions.ts';
import type { TaskNotices } from '../task-notices.ts';
import { prepareListening } from './prepare.ts';

const DECLARED = { resources: { subscribe: true as const }, extensions: {} };

/** Returns the levels of the log messages while a watch fails with the error. */
async function logged(failure: Error, signal: AbortSignal): Promise<readonly string[]> {
  const levels: string[] = [];
  const at = (level: string) => () => void levels.push(level);
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const subscriptions = { add: () => Promise.reject(failure) } as unknown as Subscriptions;
  const ctx = createContext({ log, signal });
  const filter = { resourceSubscriptions: ['docs+file:///a.md'] };
  expect(await prepareListening(subscriptions, {} as TaskNotices, filter, DECLARED, ctx)).toEqual({});
  return levels;
}

describe('a watch that cannot be placed', () => {
  it('is logged as a warning if the error is unexpected', async () => {
    expect(await logged(new Error('too many open files'), new AbortController().signal)).toEqual(['warn']);
  });

  it('is no warning if the client has gone meanwhile', async () => {
    const client = new AbortController();
    const gone = new Error('The client has gone');
    const levels = logged(gone, client.signal);
    client.abort(gone);
    expect(await levels).toEqual(['debug']);
  });
});
