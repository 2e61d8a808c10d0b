/**
 * Collects what all providers of an answer say of it as a whole, beside its content: how long it is fresh and for whom,
 * which parts are missing, and what else another server sent with it.
 */
import { MISSING_META_KEY } from '../protocol/meta.ts';
import type { CacheHint } from '../protocol/resources.ts';

/** A part of a list that is not in it, and why. */
export interface MissingPart {
  /** Left out where it is not for the mount to answer for. */
  readonly mount?: string | undefined;
  readonly reason: string;
  /** The URI or name of what is missing, where it is one entry of the mount. Not for callers who may not see it all. */
  readonly entry?: string | undefined;
}

export interface AnswerNotes {
  /** How fresh a part is. The answer is as fresh as its least fresh part, and shared no wider than its narrowest. */
  fresh(hint: CacheHint): void;
  /** A part comes from where nothing is known of freshness: the server's own hint counts for it. */
  plain(): void;
  missing(part: MissingPart): void;
  /** Fields of another server's result that are sent on as they came. */
  passOn(fields: Readonly<Record<string, unknown>>): void;
}

export interface CollectedNotes extends AnswerNotes {
  /** Nothing was noted that the answer would differ by. */
  readonly silent: boolean;
  /** The result with all that was noted. @param own the freshness of what says nothing of it */
  finish<T extends object>(result: T, own: CacheHint): T & CacheHint;
}

export interface HeldNotes extends AnswerNotes {
  /** Hands on what was noted so far, to each that asks for it; what is noted later is dropped. */
  release(to: AnswerNotes | undefined): void;
}

/** Keeps notes back until it is known whether what they are about is in the answer. */
export function holdNotes(): HeldNotes {
  const held: ((to: AnswerNotes) => void)[] = [];
  let released = false;
  const hold = (note: (to: AnswerNotes) => void): void => {
    if (!released) held.push(note);
  };
  return {
    fresh: (hint) => hold((to) => to.fresh(hint)),
    plain: () => hold((to) => to.plain()),
    missing: (part) => hold((to) => to.missing(part)),
    passOn: (fields) => hold((to) => to.passOn(fields)),
    release(to) {
      released = true;
      if (to !== undefined) for (const note of held) note(to);
    },
  };
}

export function createNotes(): CollectedNotes {
  let hint: CacheHint | undefined;
  let isPlain = false;
  const missing: MissingPart[] = [];
  let passed: Readonly<Record<string, unknown>> | undefined;
  return {
    get silent() {
      return hint === undefined && passed === undefined && missing.length === 0;
    },
    fresh(part) {
      hint = hint === undefined ? part : narrower(hint, part);
    },
    plain() {
      isPlain = true;
    },
    missing(part) {
      missing.push(part);
    },
    passOn(fields) {
      passed = passed === undefined ? fields : merged(passed, fields);
    },
    finish(result, own) {
      const { ttlMs, cacheScope } = hint === undefined ? own : isPlain ? narrower(hint, own) : hint;
      const said = passed === undefined ? result : merged(passed, result);
      if (missing.length === 0) return { ...said, ttlMs, cacheScope } as typeof result & CacheHint;
      // Another gateway may miss parts of its own.
      const theirs = (said as { readonly _meta?: Readonly<Record<string, unknown>> })._meta?.[MISSING_META_KEY];
      const all = [...(Array.isArray(theirs) ? theirs : []), ...missing];
      const whole = merged(said, { _meta: { [MISSING_META_KEY]: all } });
      // A missing part may be there at any moment, and no notification would tell of it.
      return { ...whole, ttlMs: 0, cacheScope } as unknown as typeof result & CacheHint;
    },
  };
}

const narrower = (a: CacheHint, b: CacheHint): CacheHint => ({
  ttlMs: Math.min(a.ttlMs, b.ttlMs),
  cacheScope: a.cacheScope === 'public' && b.cacheScope === 'public' ? 'public' : 'private',
});

/** The second wins, field by field, also within `_meta`. */
function merged<T extends object>(first: object, second: T): T {
  const a = (first as { readonly _meta?: object })._meta;
  const b = (second as { readonly _meta?: object })._meta;
  return { ...first, ...second, ...(a !== undefined && b !== undefined && { _meta: { ...a, ...b } }) };
}
