import type { McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { createListenStream } from './listen-stream.ts';

type End = (cause: 'local' | 'remote') => void;

/** A connection whose streams the test ends, and the pauses in between. */
function scene() {
  const ends: End[] = [];
  const pauses: (() => void)[] = [];
  const done: string[] = [];
  let wanted: SubscriptionFilter = { toolsListChanged: true };
  let refuses = false;
  const link = {
    ended: false,
    async listen(filter: SubscriptionFilter): Promise<McpSubscription> {
      if (refuses) throw new Error('refused');
      let end: End = () => {};
      const closed = new Promise<'local' | 'remote'>((resolve) => {
        end = resolve;
      });
      done.push(`opened ${ends.push(end)}`);
      return { honoredFilter: filter, closed, close: async () => end('local') } as McpSubscription;
    },
  };
  const stream = createListenStream<typeof link>({
    limits: { timeoutMs: 1_000, signal: new AbortController().signal },
    filter: () => wanted,
    later: (_, __, act) => void pauses.push(act),
    reopened: () => void done.push('reopened'),
    failed: () => void done.push('failed'),
  });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    link,
    stream,
    done,
    want(filter: SubscriptionFilter) {
      wanted = filter;
    },
    refuse(now: boolean) {
      refuses = now;
    },
    /** Ends the latest stream, as the server would. */
    async end() {
      ends.at(-1)?.('remote');
      await settle();
    },
    /** Ends all pauses. @returns how many there were */
    async pass() {
      const due = pauses.splice(0);
      for (const act of due) act();
      await settle();
      return due.length;
    },
  };
}

it('the stream is opened once for all concurrent listeners', async () => {
  const { link, stream, done } = scene();
  await Promise.all([stream.open(link), stream.open(link), stream.open(link)]);
  expect(done).toEqual(['opened 1']);
});

it('the stream stays open if its filter does not change', async () => {
  const { link, stream, done, want } = scene();
  await stream.open(link);
  want({ toolsListChanged: true });
  expect(await stream.open(link)).toEqual({ toolsListChanged: true });
  expect(done).toEqual(['opened 1']);
  want({ toolsListChanged: true, promptsListChanged: true });
  await stream.open(link);
  expect(done).toEqual(['opened 1', 'opened 2']);
});

it('the stream is opened again when it has ended, until that works', async () => {
  const { link, stream, done, refuse, end, pass } = scene();
  await stream.open(link);
  refuse(true);
  await end();
  expect([await pass(), await pass()]).toEqual([1, 1]);
  refuse(false);
  expect(await pass()).toBe(1);
  expect(done).toEqual(['opened 1', 'failed', 'failed', 'opened 2', 'reopened']);
  expect(await pass()).toBe(0);
});

it('the stream that ended while nothing was watched is opened again for the next listener', async () => {
  const { link, stream, done, want, end, pass } = scene();
  await stream.open(link);
  want({});
  await end();
  expect(await pass()).toBe(1);
  want({ toolsListChanged: true });
  await stream.open(link);
  await end();
  expect(await pass()).toBe(1);
  expect(done).toEqual(['opened 1', 'opened 2', 'opened 3', 'reopened']);
});
