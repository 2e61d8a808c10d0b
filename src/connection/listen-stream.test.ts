import type { McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { createListenStream } from './listen-stream.ts';

type End = (cause: 'local' | 'remote') => void;

/** A connection whose streams are ended by hand, and the pauses that are waited for. */
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
    /** The server ends the latest stream. */
    async end() {
      ends.at(-1)?.('remote');
      await settle();
    },
    /** The pause is over. Gives how many there were. */
    async pass() {
      const due = pauses.splice(0);
      for (const act of due) act();
      await settle();
      return due.length;
    },
  };
}

it('is opened once for all who want it at the same time', async () => {
  const { link, stream, done } = scene();
  await Promise.all([stream.open(link), stream.open(link), stream.open(link)]);
  expect(done).toEqual(['opened 1']);
});

it('stays as it is when what is wanted is what it is open for', async () => {
  const { link, stream, done, want } = scene();
  await stream.open(link);
  want({ toolsListChanged: true });
  expect(await stream.open(link)).toEqual({ toolsListChanged: true });
  expect(done).toEqual(['opened 1']);
  want({ toolsListChanged: true, promptsListChanged: true });
  await stream.open(link);
  expect(done).toEqual(['opened 1', 'opened 2']);
});

it('is opened again when it has ended, and until that works', async () => {
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

it('that ended while nothing was watched any more is opened again when it ends later', async () => {
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
