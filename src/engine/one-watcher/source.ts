/**
 * Lets replicas watch one source together (`docs/decisions/0064-one-watcher.md`). The replica with the lease watches every
 * subject that a replica wants, and tells the others of changes over the bus. The others keep trying to get the lease. While the
 * bus cannot be reached, each replica watches by itself.
 */
import type { Bus } from '../../core/bus.ts';
import { type Context, createContext, type Log, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import { createTurns } from '../../core/waiting/turns.ts';
import { createOthers, MAX_OTHERS } from './others.ts';
import { createSpeech, type Message, type Want } from './speech.ts';
import { eventOf, type Subject } from './subject.ts';
import { createWatched, type OnChange, type Watched } from './watched.ts';

/** How long a lease lasts, in milliseconds. */
export const LEASE_MS = 4_000;

/** The time between two attempts to take or renew the lease, in milliseconds. */
export const TURN_MS = 1_000;

/**
 * How long this replica waits for the replica with the lease to confirm a watch, in milliseconds, before it watches by itself:
 * `first` while a client waits, `again` later.
 */
const ANSWER_MS = { first: 2_000, again: 10_000 } as const;

/** After the source, or the replica with the lease, has refused a watch: the time before the next attempt, in milliseconds. */
export const RETRY_MS = 10_000;

/** The most watches that are being opened at the source at a time. */
const CONCURRENCY = 16;

/** The most watches that wait to be opened: more than the other replicas may want together. */
const MAX_WAITING = 2 * MAX_OTHERS;

export interface SourceOptions {
  readonly bus: Bus;
  /** The name of the source: the same in all replicas that have the same source. */
  readonly name: string;
  /** Watches a subject at the source. */
  readonly place: (subject: Subject, onChange: OnChange, ctx: Context) => Promise<AsyncDisposable>;
  /** Called if another replica has seen a change, or one may have been missed, so that the provider drops outdated caches. */
  readonly heard: (subject: Subject, event: ChangeEvent) => void;
  /** The milliseconds of a monotonic clock. */
  readonly elapsed?: (() => number) | undefined;
}

export interface SharedSource {
  /** Does the same as `watch` of a provider. */
  watch(subject: Subject, onChange: OnChange, ctx: Context): Promise<AsyncDisposable>;
  /** Gives the lease back, and ends every watch. */
  close(): Promise<void>;
}

/** `holder`: this replica has the lease. `follower`: another one has it. `alone`: the bus cannot be reached. */
type Role = 'holder' | 'follower' | 'alone';

export function createSharedSource({
  bus,
  name,
  place,
  heard,
  elapsed = () => performance.now(),
}: SourceOptions): SharedSource {
  const topic = `watch ${name}`;
  const self = crypto.randomUUID();
  const speech = createSpeech(bus, topic, self);
  const others = createOthers(elapsed);
  const all = new Map<Subject, Watched>();
  const inTurn = createTurns(CONCURRENCY, MAX_WAITING);
  const ending = new Set<Promise<void>>();
  const lifetime = new AbortController();
  let log: Log = SILENT;
  /** Undefined while this replica has nothing to watch. */
  let role: Role | undefined;
  /** Counts the changes of the role. */
  let term = 0;
  /** Counts the requests to the replica with the lease. */
  let marks = 0;
  /** Until then, by `elapsed`, this replica certainly has the lease. */
  let leaseUntil = 0;
  let turning = Promise.resolve();
  let entering: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const wanted = (): Watched[] => [...all.values()].filter(({ listeners }) => listeners.size > 0);

  function wantOf(watched: Watched): Want {
    watched.mark = ++marks;
    return [watched.subject, watched.mark];
  }

  function watchedOf(subject: Subject): Watched {
    const watched = all.get(subject) ?? createWatched(subject, open);
    all.set(subject, watched);
    return watched;
  }

  function open(watched: Watched): Promise<AsyncDisposable> {
    const { subject } = watched;
    const onChange = (event: ChangeEvent): void => {
      watched.tell(event);
      if (role === 'holder' && others.want(subject)) speech.changed(subject, event);
    };
    // The watch serves all clients of all replicas, so its context belongs to no caller.
    return inTurn(() => place(subject, onChange, createContext({ signal: lifetime.signal, log })));
  }

  function unplace(watched: Watched): Promise<void> {
    const done: Promise<void> = watched
      .unplace()
      .catch((error: unknown) => log.warn('a watch did not end', { error }))
      .finally(() => ending.delete(done));
    ending.add(done);
    return done;
  }

  /**
   * Makes sure that changes are noticed: over the bus, or at the source.
   * @throws the error with which the source refuses; ResourceError `unavailable` if nobody watches the subject any more
   */
  async function cover(watched: Watched, patienceMs: number): Promise<void> {
    let since: number;
    do {
      since = term;
      const covered = role === 'follower' && (watched.covered || (await watched.answer(patienceMs)));
      if (all.get(watched.subject) !== watched) throw new ResourceError('unavailable', 'It is not watched any more');
      if (since !== term) continue;
      if (covered) await unplace(watched);
      else await watched.place();
    } while (since !== term);
  }

  async function begin(watched: Watched): Promise<void> {
    if (role === undefined) {
      entering ??= turn(false).finally(() => {
        entering = undefined;
      });
      await entering;
    }
    if (role === 'follower') speech.want(wantOf(watched));
    await cover(watched, ANSWER_MS.first);
    watched.established = true;
  }

  /** Watches again after changes may have been missed, and then reports a change. */
  function recover(watched: Watched): void {
    if (!watched.established || watched.recovering || watched.listeners.size === 0) return;
    watched.recovering = true;
    watched.missed = true;
    cover(watched, ANSWER_MS.again)
      .then(
        () => {
          watched.missed = false;
          tell(watched.subject, eventOf(watched.subject));
        },
        (error: unknown) => {
          watched.restsUntil = elapsed() + RETRY_MS;
          log.debug('what is watched cannot be watched now', { error });
        },
      )
      .finally(() => {
        watched.recovering = false;
      });
  }

  /** Retries a subject that is not watched, or that this replica watches although another one has the lease. */
  function tryAgain(watched: Watched): void {
    if (watched.missed || !watched.placed) recover(watched);
    else if (role === 'follower' && watched.listeners.size > 0) {
      watched.restsUntil = elapsed() + RETRY_MS;
      speech.want(wantOf(watched));
    }
  }

  function tell(subject: Subject, event: ChangeEvent): void {
    heard(subject, event);
    all.get(subject)?.tell(event);
  }

  /**
   * Takes on a role.
   * @param anew even if it has this role already, because messages between the replicas may have been lost
   */
  function become(next: Role, anew = false): void {
    if (role === next && !anew) return;
    if (role !== next) others.clear();
    role = next;
    term++;
    if (next === 'holder') speech.holding();
    if (next === 'follower') speech.wantAll(wanted().map(wantOf));
    for (const watched of [...all.values()]) {
      watched.answered(false);
      void tidy(watched);
      recover(watched);
    }
  }

  /** Ends a watch that no replica wants any more. */
  async function tidy(watched: Watched): Promise<void> {
    const { subject, listeners } = watched;
    if (listeners.size > 0 || (role === 'holder' && others.want(subject))) return;
    if (all.get(subject) === watched) all.delete(subject);
    await unplace(watched);
  }

  /** Takes or renews the lease, or finds out that another replica has it. @param anew see `become` */
  function turn(anew: boolean): Promise<void> {
    turning = turning.then(() => takeTurn(anew));
    return turning;
  }

  async function takeTurn(anew: boolean): Promise<void> {
    clearTimeout(timer);
    if (lifetime.signal.aborted) return;
    if (all.size === 0) return rest();
    const startedAt = elapsed();
    const hasLease = bus.whole ? await bus.memory.lease(topic, self, LEASE_MS).catch(() => undefined) : undefined;
    if (lifetime.signal.aborted) return;
    if (hasLease === true) {
      leaseUntil = startedAt + LEASE_MS;
      become('holder', anew);
    } else if (hasLease === false) become('follower', anew);
    // A holder goes on until its lease ends, since the other replicas rely on it.
    else if (role !== 'holder' || elapsed() >= leaseUntil) become('alone', anew);
    if (role === 'holder') others.sweep();
    if (role === 'follower') speech.here(wanted().length);
    for (const watched of [...all.values()]) {
      void tidy(watched);
      if ((watched.missed || !watched.covered) && elapsed() >= watched.restsUntil) tryAgain(watched);
    }
    timer = setTimeout(() => void turn(false), TURN_MS);
    timer.unref();
  }

  /** Gives up the role, because this replica has nothing to watch. */
  async function rest(): Promise<void> {
    const before = role;
    role = undefined;
    others.clear();
    if (before !== 'holder') return;
    await bus.memory.release(topic, self).catch(() => {});
    speech.left();
  }

  /** Handles what another replica wants or no longer wants, if this one has the lease. */
  function serve(message: Extract<Message, { kind: 'wants' }>): void {
    if (role !== 'holder') return;
    const { more, over } = others.heard(message);
    for (const want of over) speech.watching(message.from, want, false);
    for (const want of more) {
      watchedOf(want[0])
        .place()
        .then(
          () => role === 'holder' && speech.watching(message.from, want, true),
          () => role === 'holder' && speech.watching(message.from, want, false),
        );
    }
    for (const watched of message.less.map((subject) => all.get(subject)))
      if (watched !== undefined) void tidy(watched);
    if (all.size === 0) void turn(false);
  }

  /** Handles the answer of the replica with the lease: whether it watches the subject. */
  function answered([subject, mark]: Want, covers: boolean): void {
    const watched = all.get(subject);
    if (role !== 'follower' || watched?.mark !== mark) return;
    watched.answered(covers);
    if (covers && watched.placed) void unplace(watched);
    else if (!covers && !watched.placed) recover(watched);
  }

  function listen(message: Message): void {
    switch (message.kind) {
      case 'wants':
        serve(message);
        return;
      case 'here':
        if (role === 'holder' && !others.here(message)) speech.holding(message.from);
        return;
      case 'holding':
        if (role === 'follower' && (message.to ?? self) === self) become('follower', true);
        return;
      case 'watching':
      case 'refused':
        if (message.to === self) for (const want of message.wants) answered(want, message.kind === 'watching');
        return;
      case 'changed':
        tell(message.subject, message.event);
        return;
      case 'left':
        if (role === 'follower') void turn(false);
    }
  }

  const stops = [
    bus.listen(topic, (data) => listen(data as Message)),
    bus.onMended(() => {
      if (role !== undefined) void turn(true);
    }),
  ];

  async function leave(watched: Watched, listener: OnChange): Promise<void> {
    if (!watched.listeners.delete(listener) || watched.listeners.size > 0) return;
    watched.ready = undefined;
    watched.established = false;
    watched.missed = false;
    watched.answered(false);
    if (role === 'follower') speech.unwant(watched.subject);
    await tidy(watched);
    if (all.size === 0) void turn(false);
  }

  return {
    async watch(subject, onChange, ctx) {
      ctx.signal.throwIfAborted();
      if (lifetime.signal.aborted) throw new ResourceError('unavailable', 'The server is shutting down');
      log = ctx.log;
      const watched = watchedOf(subject);
      const listener: OnChange = (event) => onChange(event);
      watched.listeners.add(listener);
      try {
        watched.ready ??= begin(watched);
        await abortable(watched.ready, ctx.signal);
      } catch (error) {
        await leave(watched, listener);
        throw error;
      }
      return { [Symbol.asyncDispose]: () => leave(watched, listener) };
    },

    async close() {
      lifetime.abort(new ResourceError('unavailable', 'The server is shutting down'));
      clearTimeout(timer);
      for (const stop of stops) stop();
      await turning;
      for (const watched of all.values()) {
        watched.answered(false);
        void unplace(watched);
      }
      all.clear();
      await rest();
      speech.close();
      await Promise.all(ending);
    },
  };
}
