/**
 * Collects notes of all providers about an answer as a whole: how long it is fresh and for whom, which parts are
 * missing, and further fields from another server.
 */
import { MISSING_META_KEY } from '../protocol/meta.ts';
import type { CacheHint } from '../protocol/resources.ts';

/** A part that is missing from a list, and the reason. */
export interface MissingPart {
  /** The mount of the part; left out where no mount is the cause. */
  readonly mount?: string | undefined;
  readonly reason: string;
  /** The URI or name of the missing entry, where it is a single one. Left out for callers who may not see the whole mount. */
  readonly entry?: string | undefined;
}

/** Names a missing part with its reason, such as `docs (It cannot be reached now)`. */
export function nameOfPart({ mount, reason, entry }: MissingPart): string {
  const place = [mount, entry].filter((name) => name !== undefined).join(', ');
  return place === '' ? reason : `${place} (${reason})`;
}

export interface AnswerNotes {
  /** Notes the freshness of a part. An answer is as fresh as its least fresh part, and shared no wider than its narrowest. */
  fresh(hint: CacheHint): void;
  /** Notes a part of unknown freshness: the server's own hint applies to it. */
  plain(): void;
  /** Notes a missing part. The answer names a part that is no single entry once, however often it is noted. */
  missing(part: MissingPart): void;
  /** Notes fields of another server's result, which are sent unchanged. */
  passOn(fields: Readonly<Record<string, unknown>>): void;
}

export interface CollectedNotes extends AnswerNotes {
  /** Whether the notes so far change nothing in the answer. */
  readonly silent: boolean;
  /** Returns the result with all notes. @param own the freshness of parts without their own */
  finish<T extends object>(result: T, own: CacheHint): T & CacheHint;
}

export interface HeldNotes extends AnswerNotes {
  /** Passes the notes so far to the given notes; later notes are dropped. */
  release(to: AnswerNotes | undefined): void;
}

/** Holds notes until it is known whether the answer includes the part that they are about. */
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
  /** Most answers have none. Single entries are their own keys: two may have the same name and the same fault. */
  let missing: Map<string | MissingPart, MissingPart> | undefined;
  let passed: Readonly<Record<string, unknown>> | undefined;
  return {
    get silent() {
      return hint === undefined && passed === undefined && missing === undefined;
    },
    fresh(part) {
      hint = hint === undefined ? part : narrower(hint, part);
    },
    plain() {
      isPlain = true;
    },
    missing(part) {
      missing ??= new Map();
      missing.set(part.entry === undefined ? JSON.stringify([part.mount, part.reason]) : part, part);
    },
    passOn(fields) {
      passed = passed === undefined ? fields : merged(passed, fields);
    },
    finish(result, own) {
      const { ttlMs, cacheScope } = hint === undefined ? own : isPlain ? narrower(hint, own) : hint;
      const said = passed === undefined ? result : merged(passed, result);
      if (missing === undefined) return { ...said, ttlMs, cacheScope } as typeof result & CacheHint;
      // Another gateway may report missing parts of its own.
      const theirs = (said as { readonly _meta?: Readonly<Record<string, unknown>> })._meta?.[MISSING_META_KEY];
      const all = [...(Array.isArray(theirs) ? theirs : []), ...missing.values()];
      const whole = merged(said, { _meta: { [MISSING_META_KEY]: all } });
      // A missing part may come back at any moment, without a notification.
      return { ...whole, ttlMs: 0, cacheScope } as unknown as typeof result & CacheHint;
    },
  };
}

const narrower = (a: CacheHint, b: CacheHint): CacheHint => ({
  ttlMs: Math.min(a.ttlMs, b.ttlMs),
  cacheScope: a.cacheScope === 'public' && b.cacheScope === 'public' ? 'public' : 'private',
});

/** Merges two objects; the second wins, field by field, also within `_meta`. */
function merged<T extends object>(first: object, second: T): T {
  const a = (first as { readonly _meta?: object })._meta;
  const b = (second as { readonly _meta?: object })._meta;
  return { ...first, ...second, ...(a !== undefined && b !== undefined && { _meta: { ...a, ...b } }) };
}
