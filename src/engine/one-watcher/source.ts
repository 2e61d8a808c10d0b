/**
 * One source that replicas watch together (`docs/decisions/0064-one-watcher.md`). The replica that has the lease watches what any
 * of them wants, and tells the others over the bus. The others try for the lease in turn. Where the bus is away, each watches by itself.
 */
import type { Bus } from '../../core/bus.ts';
import { type Context, createContext, type Log, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import { createTurns } from '../../core/waiting/turns.ts';
import { createOthers } from './others.ts';
import { createSpeech, type Want, type Word } from './speech.ts';
import { eventOf, type Subject } from './subject.ts';
import { createWatched, type OnChange, type Watched } from './watched.ts';

/** How long a lease lasts, and between two attempts to take or renew it, in milliseconds. */
export const LEASE_MS = 4_000;
export const TURN_MS = 1_000;

/**
 * How long the replica with the lease has to say that it watches something, in milliseconds, before this replica does so itself:
 * while a client waits, and afterwards.
 */
const ANSWER_MS = { first: 2_000, again: 10_000 } as const;

/** Until the source, or the replica with the lease, is asked again to watch what it refused to, in milliseconds. */
export const RETRY_MS = 10_000;

/** Watches that are placed at the source at a time. */
const CONCURRENCY = 16;

export interface SourceOptions {
  readonly bus: Bus;
  /** The same in all replicas that have the same source. */
  readonly name: string;
  /** Watches at the source. */
  readonly place: (subject: Subject, onChange: OnChange, ctx: Context) => Promise<AsyncDisposable>;
  /** Another replica has heard of this: whatever is kept and out of date is forgotten. */
  readonly heard: (subject: Subject, event: ChangeEvent) => void;
  /** Milliseconds by a clock that nobody sets. */
  readonly elapsed?: (() => number) | undefined;
}

export interface SharedSource {
  /** As `watch` of a provider. */
  watch(subject: Subject, onChange: OnChange, ctx: Context): Promise<AsyncDisposable>;
  /** Gives the lease back, and ends every watch. */
  close(): Promise<void>;
}

/** `holder` has the lease, `follower` knows that another one has it, `alone` cannot know. */
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
  const inTurn = createTurns(CONCURRENCY);
  const ending = new Set<Promise<void>>();
  const lifetime = new AbortController();
  let log: Log = SILENT;
  /** Undefined while nothing is wanted here. */
  let role: Role | undefined;
  /** Counts the changes of who watches. */
  let term = 0;
  /** Counts what is asked of the replica that has the lease. */
  let marks = 0;
  /** Until when the lease is certainly this replica's. */
  let until = 0;
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
    // It is for all who want it, in all replicas, so it is nobody's.
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

  /** Sees to it that changes are heard of: over the bus, or at the source. @throws what the source refuses with */
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

  /** Changes may have been missed: tells of one when changes are heard of again. */
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

  /** It is not watched, or by this replica itself in the place of the one that has the lease. */
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

  /** @param anew also where it is that already: what the others know of this replica, or it of them, may be wrong */
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

  /** Ends what nobody wants any more. */
  async function tidy(watched: Watched): Promise<void> {
    const { subject, listeners } = watched;
    if (listeners.size > 0 || (role === 'holder' && others.want(subject))) return;
    if (all.get(subject) === watched) all.delete(subject);
    await unplace(watched);
  }

  /** Takes the lease or renews it, or finds out that another one has it. @param anew as of `become` */
  function turn(anew: boolean): Promise<void> {
    turning = turning.then(() => takeTurn(anew));
    return turning;
  }

  async function takeTurn(anew: boolean): Promise<void> {
    clearTimeout(timer);
    if (lifetime.signal.aborted) return;
    if (all.size === 0) return rest();
    const asked = elapsed();
    const has = bus.whole ? await bus.memory.lease(topic, self, LEASE_MS).catch(() => undefined) : undefined;
    if (lifetime.signal.aborted) return;
    if (has === true) {
      until = asked + LEASE_MS;
      become('holder', anew);
    } else if (has === false) become('follower', anew);
    // The lease is still its own, and the others count on it.
    else if (role !== 'holder' || elapsed() >= until) become('alone', anew);
    if (role === 'holder') others.sweep();
    if (role === 'follower') speech.here(wanted().length);
    for (const watched of [...all.values()]) {
      void tidy(watched);
      if ((watched.missed || !watched.covered) && elapsed() >= watched.restsUntil) tryAgain(watched);
    }
    timer = setTimeout(() => void turn(false), TURN_MS);
    timer.unref();
  }

  /** Nothing is wanted here. */
  async function rest(): Promise<void> {
    const before = role;
    role = undefined;
    others.clear();
    if (before !== 'holder') return;
    await bus.memory.release(topic, self).catch(() => {});
    speech.left();
  }

  function wants(word: Extract<Word, { kind: 'wants' }>): void {
    if (role !== 'holder') return;
    const { more, over } = others.heard(word);
    for (const want of over) speech.watching(word.from, want, false);
    for (const want of more) {
      watchedOf(want[0])
        .place()
        .then(
          () => role === 'holder' && speech.watching(word.from, want, true),
          () => role === 'holder' && speech.watching(word.from, want, false),
        );
    }
    for (const watched of word.less.map((each) => all.get(each))) if (watched !== undefined) void tidy(watched);
    if (all.size === 0) void turn(false);
  }

  /** The replica that has the lease has said whether it watches this. */
  function answered([subject, mark]: Want, covers: boolean): void {
    const watched = all.get(subject);
    if (role !== 'follower' || watched?.mark !== mark) return;
    watched.answered(covers);
    if (covers && watched.placed) void unplace(watched);
    else if (!covers && !watched.placed) recover(watched);
  }

  function listen(word: Word): void {
    switch (word.kind) {
      case 'wants':
        wants(word);
        return;
      case 'here':
        if (role === 'holder' && !others.here(word)) speech.holding(word.from);
        return;
      case 'holding':
        if (role === 'follower' && (word.to ?? self) === self) become('follower', true);
        return;
      case 'watching':
      case 'refused':
        if (word.to === self) for (const want of word.wants) answered(want, word.kind === 'watching');
        return;
      case 'changed':
        tell(word.subject, word.event);
        return;
      case 'left':
        if (role === 'follower') void turn(false);
    }
  }

  const forget = [
    bus.listen(topic, (data) => listen(data as Word)),
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
      for (const each of forget) each();
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
