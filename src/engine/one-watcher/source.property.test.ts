/** Replicas that share a source, under any sequence of faults: no watch misses a change for good, and in the end one replica watches. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createCountedSource, type WatchingReplica, watchingReplica } from '../../../test/replicas/counted-source.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createHub } from '../../serving/bus/hub.ts';
import { resourceSubject, type Subject } from './subject.ts';

const SUBJECTS = ['a', 'b', 'c'].map((name) => resourceSubject(`file:///${name}`));
const REPLICAS = 3;

/** Longer than it takes until one replica watches again, in milliseconds. */
const SETTLED_MS = 40_000;

const at = fc.nat(REPLICAS - 1);
const subject = fc.constantFrom(...SUBJECTS);

const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('watch' as const), at, subject }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('unwatch' as const), at }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('change' as const), subject }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('kill' as const, 'leave' as const), at }) },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constantFrom('cut' as const, 'delay' as const, 'double' as const), at }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('mend' as const), at }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('refuse' as const, 'accept' as const), at }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant('later' as const), ms: fc.constantFrom(1, 30, 700, 3_000) }) },
);

/** A watch of a replica. */
interface Watcher {
  readonly by: WatchingReplica;
  readonly subject: Subject;
  handle: AsyncDisposable | undefined;
  /** Whether there is a change that it has not heard of yet. */
  owed: boolean;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function later<T>(ms: number, work?: Promise<T>): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await work;
}

it('no watch misses a change for good, and one replica watches in the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60, size: 'max' }), async (commands) => {
      // A failed run leaves timers.
      vi.clearAllTimers();
      const hub = createHub();
      const source = createCountedSource();
      const refusing = new Set<number>();
      source.refuse = (by) => (refusing.has(by) ? new ResourceError('limited', 'Too many') : undefined);
      let numbers = 0;
      const begin = (): WatchingReplica => watchingReplica(numbers++, source, hub);
      const replicas = Array.from({ length: REPLICAS }, begin);
      const gone: WatchingReplica[] = [];
      const watchers = new Set<Watcher>();
      const closing: Promise<void>[] = [];

      async function watch(by: WatchingReplica, what: Subject): Promise<void> {
        const watcher: Watcher = { by, subject: what, handle: undefined, owed: false };
        const told = (): void => {
          watcher.owed = false;
        };
        try {
          watcher.handle = await by.shared.watch(what, told, createContext());
          if (gone.includes(by)) return;
          watchers.add(watcher);
        } catch (error) {
          expect(refusing.size > 0 || gone.includes(by) ? error : undefined).toBe(error);
        }
      }

      function end(by: WatchingReplica): void {
        gone.push(by);
        for (const each of watchers) if (each.by === by) watchers.delete(each);
        replicas[replicas.indexOf(by)] = begin();
      }

      for (const each of commands) {
        const by = 'at' in each ? replicas[each.at] : undefined;
        if (each.does === 'later') await later(each.ms);
        if (each.does === 'change') {
          for (const watcher of watchers) if (watcher.subject === each.subject) watcher.owed = true;
          source.change(each.subject);
        }
        if (by === undefined) continue;
        if (each.does === 'watch') closing.push(watch(by, each.subject));
        if (each.does === 'unwatch') {
          const first = [...watchers].find((watcher) => watcher.by === by);
          if (first !== undefined) watchers.delete(first);
          if (first?.handle !== undefined) closing.push(Promise.resolve(first.handle[Symbol.asyncDispose]()));
        }
        if (each.does === 'kill') {
          by.kill();
          end(by);
        }
        if (each.does === 'leave') {
          closing.push(by.close());
          end(by);
        }
        if (each.does === 'cut' || each.does === 'delay' || each.does === 'double') by.faults[each.does]();
        if (each.does === 'mend') by.faults.mend();
        if (each.does === 'refuse') refusing.add(by.number);
        if (each.does === 'accept') refusing.delete(by.number);
      }

      refusing.clear();
      for (const { faults } of replicas) faults.mend();
      await later(SETTLED_MS, Promise.all(closing));
      expect([...watchers].filter(({ owed }) => owed)).toEqual([]);
      for (const what of SUBJECTS) {
        const isWanted = [...watchers].some((watcher) => watcher.subject === what);
        const by = source.watchers(what);
        expect({ what, count: by.length }).toEqual({ what, count: isWanted ? 1 : 0 });
      }
      const last = Promise.all([...replicas, ...gone].map((each) => each.close()));
      await later(SETTLED_MS, last);
      expect(source.size).toBe(0);
      hub.close();
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 150 },
  );
});
