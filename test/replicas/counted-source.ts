/** A source that counts its watches, and replicas in the process of a test that watch it together. */
import type { ChangeEvent } from '../../src/core/provider.ts';
import { createSharedSource, type SharedSource } from '../../src/engine/one-watcher/source.ts';
import { eventOf, type Subject } from '../../src/engine/one-watcher/subject.ts';
import type { Hub } from '../../src/serving/bus/hub.ts';
import { type FaultyBus, faultyBus } from './faulty-bus.ts';

type OnChange = (event: ChangeEvent) => void;

interface Placed {
  readonly by: number;
  readonly subject: Subject;
  readonly onChange: OnChange;
}

export interface CountedSource {
  /** The replicas that watch the subject now, by number. A replica with two watches is listed twice. */
  watchers(subject: Subject): readonly number[];
  readonly size: number;
  change(subject: Subject): void;
  /** Refuses a watch of a replica; undefined accepts it. */
  refuse: (by: number) => Error | undefined;
  place(by: number, subject: Subject, onChange: OnChange): Promise<AsyncDisposable>;
  /** Ends the replica, with all its watches. */
  gone(by: number): void;
}

export function createCountedSource(): CountedSource {
  const placed = new Set<Placed>();
  const gone = new Set<number>();
  const source: CountedSource = {
    watchers: (subject) => [...placed].filter((each) => each.subject === subject).map(({ by }) => by),
    get size() {
      return placed.size;
    },
    change(subject) {
      for (const each of [...placed]) if (each.subject === subject) each.onChange(eventOf(subject));
    },
    refuse: () => undefined,
    async place(by, subject, onChange) {
      await Promise.resolve();
      const refused = source.refuse(by);
      if (refused !== undefined) throw refused;
      const each = { by, subject, onChange };
      if (!gone.has(by)) placed.add(each);
      return { [Symbol.asyncDispose]: async () => void placed.delete(each) };
    },
    gone(by) {
      gone.add(by);
      for (const each of [...placed]) if (each.by === by) placed.delete(each);
    },
  };
  return source;
}

export interface WatchingReplica {
  readonly number: number;
  readonly shared: SharedSource;
  readonly faults: FaultyBus;
  /** The subjects of changes for which this replica was told to drop its caches. */
  readonly heard: Subject[];
  close(): Promise<void>;
  /** Ends without a message to the others. */
  kill(): void;
}

export function watchingReplica(number: number, source: CountedSource, hub: Hub): WatchingReplica {
  const faults = faultyBus(hub);
  const heard: Subject[] = [];
  const shared = createSharedSource({
    bus: faults.bus,
    name: 'counted',
    place: (subject, onChange) => source.place(number, subject, onChange),
    heard: (subject) => void heard.push(subject),
  });
  return {
    number,
    shared,
    faults,
    heard,
    async close() {
      await shared.close();
      await faults.bus.close();
    },
    kill() {
      faults.cut();
      source.gone(number);
    },
  };
}
