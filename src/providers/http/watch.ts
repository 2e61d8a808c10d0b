/** Reports changes by polling: sends a conditional request from time to time, as long as somebody is subscribed. */
import { createHash } from 'node:crypto';
import { createContext, type Log, SILENT } from '../../core/context.ts';
import { notFound, ResourceError } from '../../core/errors.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import { type Answers, assertContent, conditionsOf } from './answers.ts';
import type { Catalogue } from './catalogue.ts';
import type { Limits } from './config.ts';
import { unpacked } from './decode.ts';
import { isFeed, type Target } from './target.ts';

export interface Watching {
  /**
   * Resolves after the first look.
   * @param uri undefined for the default list
   * @throws ResourceError `limited`, `not-found`, `unavailable` after `close`; the reason of the signal
   */
  add(uri: string | undefined, onChange: (event: ChangeEvent) => void, signal: AbortSignal): Promise<AsyncDisposable>;
  close(): Promise<void>;
}

/** The result of a look. */
interface Seen {
  /** The hash of the content; undefined if the resource was missing. */
  readonly hash: string | undefined;
  /** The headers that make the next request conditional. */
  readonly conditions: Readonly<Record<string, string>>;
}

interface Poll {
  readonly listeners: Set<(event: ChangeEvent) => void>;
  readonly ready: Promise<void>;
  stop(): void;
}

/** The most resources of one mount that are watched. */
const MAX_WATCHED = 1_000;

/** The most HEAD requests that find out whether a resource is a feed, in one look at the default list. */
const MAX_HEAD_REQUESTS = 16;

/** The highest factor of the pause between two looks while looks fail. */
const MAX_BACKOFF = 16;

const NOTHING: Seen = { hash: undefined, conditions: {} };

export function createWatching(catalogue: Catalogue, answers: Answers, limits: Limits, log: Log = SILENT): Watching {
  const polls = new Map<string | undefined, Poll>();
  let closed = false;

  async function lookAt(uri: string, before: Seen | undefined, signal: AbortSignal): Promise<Seen> {
    const target = await found(uri, signal);
    if (target === undefined) return NOTHING;
    if (target.inline !== undefined) return { hash: hashOf(target.inline.bytes), conditions: {} };
    const answer = await answers.ask(target, before?.conditions ?? {}, { signal });
    if (answer.status === 304 && before !== undefined) {
      answer.close();
      return before;
    }
    try {
      assertContent(answer, uri);
    } catch (error) {
      if (error instanceof ResourceError && error.code === 'not-found') return NOTHING;
      throw error;
    }
    const hash = createHash('sha256');
    for await (const chunk of unpacked(answer, limits.maxBytes, uri)) hash.update(chunk);
    const etag = answer.header('etag');
    const modified = answer.header('last-modified');
    // Without an `ETag` the next request has no condition: `Last-Modified` cannot tell two changes within a second apart.
    const conditions = etag === undefined ? {} : conditionsOf({ etag, modified } as Parameters<typeof conditionsOf>[0]);
    return { hash: hash.digest('base64'), conditions };
  }

  async function found(uri: string, signal: AbortSignal): Promise<Target | undefined> {
    try {
      return await catalogue.find(uri, createContext({ signal }), true);
    } catch (error) {
      if (error instanceof ResourceError && error.code === 'not-found') return undefined;
      throw error;
    }
  }

  /**
   * Looks at the URIs of the default list. The first look requests facts about resources that may be feeds.
   * @param unanswered the URIs of those whose request has failed: the next look requests their facts again
   */
  async function lookAtAll(before: Seen | undefined, unanswered: Set<string>, signal: AbortSignal): Promise<Seen> {
    const ctx = createContext({ signal });
    const uris: string[] = [];
    let requests = 0;
    for (const target of await catalogue.targets(ctx)) {
      uris.push(target.uri);
      if (target.feed === false) continue;
      const isDue = before === undefined || unanswered.delete(target.uri);
      const ask = isDue && target.head && target.feed === undefined && ++requests <= MAX_HEAD_REQUESTS;
      const facts = ask
        ? await answers.facts(target, ctx).catch(() => void unanswered.add(target.uri))
        : answers.known(target.uri);
      if (!isFeed(target, facts)) continue;
      for (const entry of await catalogue.children(target, ctx, true)) uris.push(entry.uri);
    }
    return { hash: hashOf(JSON.stringify(uris)), conditions: {} };
  }

  function start(uri: string | undefined): Poll {
    const ending = new AbortController();
    const listeners: Poll['listeners'] = new Set();
    let timer: NodeJS.Timeout | undefined;
    let seen: Seen | undefined;
    let failures = 0;
    const unanswered = new Set<string>();

    async function look(): Promise<void> {
      try {
        const now = await (uri === undefined
          ? lookAtAll(seen, unanswered, ending.signal)
          : lookAt(uri, seen, ending.signal));
        const changed = seen !== undefined && seen.hash !== now.hash;
        seen = now;
        failures = 0;
        if (!changed || ending.signal.aborted) return;
        if (uri !== undefined) answers.forget(uri);
        const event: ChangeEvent = uri === undefined ? { kind: 'list-changed' } : { kind: 'updated', uri };
        for (const listener of [...listeners]) listener(event);
      } catch (error) {
        if (ending.signal.aborted) return;
        failures++;
        log.debug('a look for changes failed', { uri, error });
      }
    }

    function later(): void {
      if (ending.signal.aborted) return;
      const backoff = Math.min(2 ** failures, MAX_BACKOFF);
      // The pause varies, so that watches that began together do not all look at the same time.
      const wait = limits.pollMs * backoff * (0.9 + Math.random() * 0.2);
      timer = setTimeout(() => void look().then(later), wait);
      timer.unref();
    }

    const ready = look();
    void ready.then(later);
    return {
      listeners,
      ready,
      stop() {
        ending.abort();
        clearTimeout(timer);
        listeners.clear();
      },
    };
  }

  /** Refuses a resource that is missing, unless a feed may get it as an entry. @throws ResourceError `not-found` */
  async function assertWatchable(uri: string, signal: AbortSignal): Promise<void> {
    const ctx = createContext({ signal });
    try {
      await catalogue.find(uri, ctx);
    } catch (error) {
      const absent = error instanceof ResourceError && error.code === 'not-found';
      if (!absent) throw error;
      if ((await catalogue.feedsFor(uri, ctx)).length === 0) throw notFound(uri);
    }
  }

  return {
    async add(uri, onChange, signal) {
      if (uri !== undefined) await assertWatchable(uri, signal);
      signal.throwIfAborted();
      if (closed) throw new ResourceError('unavailable', 'The server is stopping', { uri });
      let poll = polls.get(uri);
      if (poll === undefined) {
        if (polls.size >= MAX_WATCHED)
          throw new ResourceError('limited', `At most ${MAX_WATCHED} resources of this mount can be watched`, { uri });
        poll = start(uri);
        polls.set(uri, poll);
      }
      const joined = poll;
      const listener = (event: ChangeEvent): void => onChange(event);
      joined.listeners.add(listener);
      const leave = (): void => {
        if (!joined.listeners.delete(listener) || joined.listeners.size > 0) return;
        joined.stop();
        if (polls.get(uri) === joined) polls.delete(uri);
      };
      try {
        await abortable(joined.ready, signal);
      } catch (error) {
        leave();
        throw error;
      }
      return { [Symbol.asyncDispose]: async () => leave() };
    },
    async close() {
      closed = true;
      for (const poll of polls.values()) poll.stop();
      polls.clear();
    },
  };
}

const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('base64');
