/**
 * Requests resources from web servers, and keeps their answers. Contents are kept in a cache with a limit in bytes, and are
 * requested again only on the condition that they have changed. The facts about them are kept for longer.
 */

import { LRUCache } from 'lru-cache';
import type { BodyContent } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ReadOptions } from '../../core/provider.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import type { Limits } from './config.ts';
import { ENCODINGS, tooLarge, unpacked } from './decode.ts';
import { type Facts, factsOf, renewed, sameContent } from './facts.ts';
import { faultOfStatus } from './fault.ts';
import type { Opened } from './opened.ts';
import { openWindow, windowOf } from './ranges.ts';
import type { Send, WebAnswer } from './send.ts';
import type { Target } from './target.ts';

/** The whole content of a resource, with its facts. */
export interface Kept {
  readonly facts: Facts;
  readonly bytes: Uint8Array;
}

export interface Answers {
  /**
   * Returns the server's facts about a resource, without its content; undefined if the server refuses a HEAD request.
   * @throws ResourceError `not-found` if the server says so; `limited`, `unavailable`, `timeout` or `denied` if it cannot tell now
   */
  facts(target: Target, ctx: Pick<Context, 'signal'>): Promise<Facts | undefined>;
  /** Returns the latest facts that the server gave, however old they are. Sends no request. */
  known(uri: string): Facts | undefined;
  /**
   * Opens the content of a resource, or a window of it, for reading.
   * @throws ResourceError `not-found`, `denied`, `limited`, `unavailable`, `timeout`, `too-large`, `invalid`
   */
  open(target: Target, want: ReadOptions, ctx: Pick<Context, 'signal'>): Promise<Opened>;
  /** Returns the whole content in memory. @param ask sends a request even while the latest answer is fresh */
  whole(target: Target, maxBytes: number, ctx: Pick<Context, 'signal'>, ask?: boolean): Promise<Kept>;
  /** Sends a GET request without using the cache. The caller closes the answer. */
  ask(target: Target, headers: Readonly<Record<string, string>>, ctx: Pick<Context, 'signal'>): Promise<WebAnswer>;
  /** Forgets all about a resource that has changed; without a URI, about all resources. */
  forget(uri?: string): void;
}

/** Milliseconds for which facts are used without another HEAD request, even if they are not fresh. */
const FACTS_MS = 5_000;

/** The most resources whose facts are kept. */
const MAX_FACTS = 10_000;

/** Contents up to this size are read at once, others as a stream. */
const SMALL_BYTES = 64 * 1024;

interface FactsUntil {
  /** An error if the resource is missing; undefined if the server answered a HEAD request with another error. */
  readonly facts: Facts | ResourceError | undefined;
  /** In milliseconds since 1970. */
  readonly until: number;
  /** The error if the server could not tell. The facts are then those of before. */
  readonly failure?: ResourceError;
}

export function createAnswers(send: Send, limits: Limits): Answers {
  const cache =
    limits.cacheBytes === 0
      ? undefined
      : new LRUCache<string, Kept>({
          maxSize: limits.cacheBytes,
          // One large content must not push out all others.
          maxEntrySize: Math.max(1, Math.floor(limits.cacheBytes / 4)),
          sizeCalculation: ({ bytes }) => bytes.byteLength + 512,
        });
  const factsByUri = new LRUCache<string, FactsUntil>({ max: MAX_FACTS });
  const pending = new Map<string, Promise<Facts | undefined>>();

  /** Returns the facts about a resource if they may be used without another HEAD request. */
  const latestFacts = (uri: string): FactsUntil | undefined => {
    const latest = factsByUri.get(uri);
    return latest !== undefined && latest.until > Date.now() ? latest : undefined;
  };

  const hasAccess = ({ access }: Target): boolean =>
    Object.keys(access.headers).length + Object.keys(access.query).length > 0;

  const ask = (
    target: Target,
    headers: Readonly<Record<string, string>>,
    { signal }: Pick<Context, 'signal'>,
    method: 'GET' | 'HEAD' = 'GET',
  ): Promise<WebAnswer> =>
    send({
      method,
      url: target.url,
      access: target.access,
      headers: { accept: acceptOf(target), 'accept-encoding': ENCODINGS, ...headers },
      signal,
      uri: target.uri,
    });

  const factsIn = (answer: WebAnswer, target: Target): Facts =>
    factsOf(answer, { ttlMs: limits.ttlMs, credentials: hasAccess(target) });

  /** Keeps the facts. If they have no size, that of an earlier answer about the same content counts. */
  function remember(uri: string, facts: Facts): Facts {
    const before = factsByUri.get(uri)?.facts;
    const old = before instanceof ResourceError ? undefined : before;
    const size = facts.size ?? (old !== undefined && sameContent(old, facts) ? old.size : undefined);
    const all = { ...facts, size };
    factsByUri.set(uri, { facts: all, until: Math.max(facts.freshUntil, facts.at + FACTS_MS) });
    return all;
  }

  function keep(uri: string, facts: Facts, bytes: Uint8Array): Kept {
    const kept = { facts: { ...facts, size: bytes.byteLength }, bytes };
    const reusable = facts.etag !== undefined || facts.modified !== undefined || facts.freshUntil > Date.now();
    if (facts.noStore || !reusable) cache?.delete(uri);
    else cache?.set(uri, kept);
    remember(uri, kept.facts);
    return kept;
  }

  async function askHead(target: Target, ctx: Pick<Context, 'signal'>): Promise<Facts | undefined> {
    let answer = await ask(target, UNPACKED, ctx, 'HEAD');
    answer.close();
    if (failsOnlyAtHead(answer)) {
      answer = await ask(target, UNPACKED, ctx);
      answer.close();
    }
    if (answer.status >= 200 && answer.status < 300) return remember(target.uri, factsIn(answer, target));
    const fault = faultOfStatus(answer.status, target.uri, answer.header('retry-after'));
    if (cannotTell(answer)) {
      const before = factsByUri.get(target.uri)?.facts;
      factsByUri.set(target.uri, { facts: before, until: Date.now() + FACTS_MS, failure: fault });
      throw fault;
    }
    const facts = fault.code === 'not-found' ? fault : undefined;
    factsByUri.set(target.uri, { facts, until: Date.now() + FACTS_MS });
    if (facts !== undefined) throw facts;
    return undefined;
  }

  /** Requests the whole content. Returns the kept content if the server answers that it has not changed. */
  async function conditional(
    target: Target,
    ctx: Pick<Context, 'signal'>,
  ): Promise<{ readonly kept: Kept } | { readonly answer: WebAnswer; readonly facts: Facts }> {
    const kept = cache?.get(target.uri);
    const answer = await ask(target, kept === undefined ? {} : conditionsOf(kept.facts), ctx);
    if (answer.status === 304 && kept !== undefined) {
      answer.close();
      const facts = renewed(kept.facts, factsIn(answer, target));
      return { kept: keep(target.uri, facts, kept.bytes) };
    }
    assertContent(answer, target.uri);
    return { answer, facts: remember(target.uri, factsIn(answer, target)) };
  }

  const fresh = (uri: string): Kept | undefined => {
    const kept = cache?.get(uri);
    return kept !== undefined && kept.facts.freshUntil > Date.now() ? kept : undefined;
  };

  async function whole(target: Target, maxBytes: number, ctx: Pick<Context, 'signal'>, again = false): Promise<Kept> {
    const kept = again ? undefined : fresh(target.uri);
    const got = kept === undefined ? await conditional(target, ctx) : { kept };
    if ('kept' in got) {
      if (got.kept.bytes.byteLength > maxBytes) throw tooLarge(maxBytes, target.uri);
      return got.kept;
    }
    return keep(target.uri, got.facts, await collected(got.answer, got.facts, maxBytes, target.uri));
  }

  /** Yields the chunks of a stream, and keeps the content after its end, unless it is too large for the cache. */
  async function* kept(answer: WebAnswer, facts: Facts, maxBytes: number, uri: string): AsyncIterable<Uint8Array> {
    let chunks: Uint8Array[] | undefined = [];
    let size = 0;
    for await (const chunk of unpacked(answer, maxBytes, uri)) {
      size += chunk.byteLength;
      if (size > limits.cacheBytes / 4) chunks = undefined;
      chunks?.push(chunk);
      yield chunk;
    }
    if (chunks !== undefined) keep(uri, facts, Buffer.concat(chunks));
  }

  async function openAs(target: Target, accept: readonly string[], ctx: Pick<Context, 'signal'>) {
    const answer = await ask(target, { accept: preferred(accept) }, ctx);
    assertContent(answer, target.uri);
    return { answer, facts: factsIn(answer, target) };
  }

  return {
    ask,
    whole,

    known(uri) {
      const facts = factsByUri.get(uri)?.facts;
      return facts instanceof ResourceError ? undefined : facts;
    },

    async facts(target, ctx) {
      const { uri } = target;
      let latest = latestFacts(uri);
      const running = pending.get(uri);
      if (latest === undefined && running !== undefined) {
        // Simultaneous callers share one request. If it fails, for example because its caller leaves, the others send their own.
        await abortable(running, ctx.signal).catch(() => {});
        ctx.signal.throwIfAborted();
        latest = latestFacts(uri);
      }
      if (latest?.failure !== undefined) throw latest.failure;
      if (latest?.facts instanceof ResourceError) throw latest.facts;
      if (latest !== undefined) return latest.facts;
      const request = askHead(target, ctx).finally(() => {
        if (pending.get(uri) === request) pending.delete(uri);
      });
      pending.set(uri, request);
      return await request;
    },

    async open(target, want, ctx) {
      const { uri } = target;
      if (want.range !== undefined) {
        const kept = fresh(uri);
        if (kept !== undefined) return { facts: kept.facts, ...windowOf(kept.bytes, want.range, uri) };
        return await openWindow({ ask, factsIn, maxBytes: limits.maxBytes }, target, want.range, ctx);
      }
      const maxBytes = Math.min(want.maxBytes, limits.maxBytes);
      const old = want.accept === undefined ? fresh(uri) : undefined;
      const got =
        old !== undefined
          ? { kept: old }
          : want.accept !== undefined
            ? await openAs(target, want.accept, ctx)
            : await conditional(target, ctx);
      if ('kept' in got) {
        if (got.kept.bytes.byteLength > maxBytes) throw tooLarge(maxBytes, uri);
        return { facts: got.kept.facts, content: { kind: 'bytes', bytes: got.kept.bytes } };
      }
      const { answer, facts } = got;
      // The cache has only the server's default format.
      const cacheable = want.accept === undefined;
      if ((facts.size ?? 0) > maxBytes) {
        answer.close();
        throw tooLarge(maxBytes, uri);
      }
      if (facts.size !== undefined && facts.size <= SMALL_BYTES) {
        const bytes = await collected(answer, facts, maxBytes, uri);
        const all = cacheable ? keep(uri, facts, bytes).facts : facts;
        return { facts: all, content: { kind: 'bytes', bytes } };
      }
      const content: BodyContent = {
        kind: 'stream',
        size: facts.size,
        open: () => (cacheable ? kept(answer, facts, maxBytes, uri) : unpacked(answer, maxBytes, uri)),
      };
      return { facts, content, close: async () => answer.close() };
    },

    forget(uri) {
      if (uri === undefined) {
        cache?.clear();
        factsByUri.clear();
        return;
      }
      cache?.delete(uri);
      factsByUri.delete(uri);
    },
  };
}

/** The header that requests content unpacked, so that the answer has its size. */
const UNPACKED = { 'accept-encoding': 'identity' };

/** Whether a server refuses neither the method nor the resource: it is busy, or fails. It refuses the method with 501. */
const cannotTell = ({ status }: WebAnswer): boolean =>
  status === 408 || status === 429 || (status >= 500 && status !== 501);

/** Whether a GET request may succeed. Some servers fail at each HEAD. One that says when to come again is busy. */
const failsOnlyAtHead = (answer: WebAnswer): boolean =>
  cannotTell(answer) && answer.status >= 500 && answer.header('retry-after') === undefined;

/** Returns the headers of a conditional request. */
export function conditionsOf({ etag, modified }: Facts): Readonly<Record<string, string>> {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(modified !== undefined && { 'if-modified-since': modified }),
  };
}

/** Closes an answer that does not have the whole content, and throws. @throws ResourceError by its status */
export function assertContent(answer: WebAnswer, uri: string): void {
  if (answer.status >= 200 && answer.status < 300 && answer.status !== 206) return;
  answer.close();
  throw faultOfStatus(answer.status, uri, answer.header('retry-after'));
}

async function collected(answer: WebAnswer, facts: Facts, maxBytes: number, uri: string): Promise<Uint8Array> {
  if ((facts.size ?? 0) > maxBytes) {
    answer.close();
    throw tooLarge(maxBytes, uri);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of unpacked(answer, maxBytes, uri)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const acceptOf = ({ description }: Target): string =>
  description.mimeType === undefined ? '*/*' : `${description.mimeType}, */*;q=0.5`;

/** Returns an `Accept` header with the wanted types, the best first, and then any type, which is better than no answer. */
const preferred = (accept: readonly string[]): string =>
  [
    ...accept
      .filter((type) => /^[\w*.+-]+\/[\w*.+-]+$/.test(type))
      .slice(0, 8)
      .map((type, place) => (place === 0 ? type : `${type};q=0.${9 - place}`)),
    '*/*;q=0.1',
  ].join(', ');
