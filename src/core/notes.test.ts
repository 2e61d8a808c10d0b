import { describe, expect, it } from 'vitest';
import { MISSING_META_KEY } from '../protocol/meta.ts';
import type { CacheHint } from '../protocol/resources.ts';
import { type AnswerNotes, createNotes, holdNotes } from './notes.ts';

const OWN: CacheHint = { ttlMs: 60_000, cacheScope: 'public' };
const result = { items: [1] };

const finished = (note: (notes: AnswerNotes) => void, own = OWN, of: object = result): unknown => {
  const notes = createNotes();
  note(notes);
  return notes.finish(of, own);
};

describe('the freshness of an answer', () => {
  it('is the server’s own if no provider sets one', () => {
    expect(finished(() => {})).toEqual({ ...result, ...OWN });
    expect(finished((notes) => notes.plain())).toEqual({ ...result, ...OWN });
  });

  it('is that of its only part, shorter or longer than the server’s own', () => {
    for (const ttlMs of [0, 5, 3_600_000]) {
      expect(finished((notes) => notes.fresh({ ttlMs, cacheScope: 'private' }))).toEqual({
        ...result,
        ttlMs,
        cacheScope: 'private',
      });
    }
  });

  it.each<[CacheHint, CacheHint, CacheHint]>([
    [
      { ttlMs: 1, cacheScope: 'public' },
      { ttlMs: 2, cacheScope: 'public' },
      { ttlMs: 1, cacheScope: 'public' },
    ],
    [
      { ttlMs: 1, cacheScope: 'private' },
      { ttlMs: 2, cacheScope: 'public' },
      { ttlMs: 1, cacheScope: 'private' },
    ],
    [
      { ttlMs: 1, cacheScope: 'public' },
      { ttlMs: 0, cacheScope: 'private' },
      { ttlMs: 0, cacheScope: 'private' },
    ],
    [
      { ttlMs: 3, cacheScope: 'private' },
      { ttlMs: 2, cacheScope: 'private' },
      { ttlMs: 2, cacheScope: 'private' },
    ],
  ])('of %o and %o is the shorter and the narrower', (a, b, expected) => {
    for (const [first, second] of [
      [a, b],
      [b, a],
    ] as const) {
      const given = finished((notes) => {
        notes.fresh(first);
        notes.fresh(second);
      });
      expect(given).toEqual({ ...result, ...expected });
    }
    const beside = finished((notes) => {
      notes.plain();
      notes.fresh(a);
    }, b);
    expect(beside, 'the server’s own counts like a part').toEqual({ ...result, ...expected });
  });

  it('is 0 while a part is missing, and its scope is no wider than that of the other parts', () => {
    const part = { mount: 'docs', reason: 'It does not answer' };
    const given = finished((notes) => {
      notes.fresh({ ttlMs: 9, cacheScope: 'private' });
      notes.missing(part);
    });
    expect(given).toEqual({ ...result, _meta: { [MISSING_META_KEY]: [part] }, ttlMs: 0, cacheScope: 'private' });
  });
});

describe('a missing part', () => {
  it('is added to the _meta of the result, and to the missing parts of another gateway', () => {
    const part = { mount: 'docs', reason: 'It does not answer' };
    const theirs = { mount: 'inner', reason: 'Gone' };
    const given = finished(
      (notes) => {
        notes.passOn({ _meta: { 'example/kept': 1, [MISSING_META_KEY]: [theirs] } });
        notes.missing(part);
      },
      OWN,
      { ...result, _meta: { 'vitrine/truncatedBy': 'maxDepth' } },
    );
    expect(given).toMatchObject({
      _meta: { 'example/kept': 1, 'vitrine/truncatedBy': 'maxDepth', [MISSING_META_KEY]: [theirs, part] },
    });
  });

  it('is named once, however often it is noted', () => {
    const parts = [
      { reason: 'x' },
      { mount: 'a', reason: 'x' },
      { mount: 'b', reason: 'x' },
      { mount: 'a', reason: 'y' },
    ];
    const given = finished((notes) => {
      for (const part of [...parts, ...structuredClone(parts)]) notes.missing(part);
    });
    expect(given).toMatchObject({ _meta: { [MISSING_META_KEY]: parts } });
  });

  it('that is an entry is named as often as there are entries, also of one name and with one fault', () => {
    const entry = { mount: 'a', reason: 'x', entry: 'x:1' };
    const given = finished((notes) => {
      for (const part of [entry, { ...entry }]) notes.missing(part);
    });
    expect(given).toMatchObject({ _meta: { [MISSING_META_KEY]: [entry, entry] } });
  });

  it('does not grow in an answer that was finished', () => {
    const notes = createNotes();
    notes.missing({ mount: 'a', reason: 'x' });
    const before = notes.finish(result, OWN);
    const copy = structuredClone(before);
    notes.missing({ mount: 'b', reason: 'y' });
    expect(before).toEqual(copy);
  });
});

describe('fields of another server’s result', () => {
  it('are passed on unchanged, but never replace fields of the result', () => {
    const given = finished((notes) => {
      notes.passOn({ extra: { deep: [1] }, items: 'not these', ttlMs: 1, cacheScope: 'private', _meta: { a: 1 } });
    });
    expect(given).toEqual({ ...result, extra: { deep: [1] }, _meta: { a: 1 }, ...OWN });
  });

  it('of several are merged, the later over the earlier, also within _meta', () => {
    const given = finished(
      (notes) => {
        notes.passOn({ extra: 1, one: 1, _meta: { a: 1, b: 1 } });
        notes.passOn({ extra: 2, two: 2, _meta: { b: 2 } });
      },
      OWN,
      { _meta: { c: 3 } },
    );
    expect(given).toEqual({ extra: 2, one: 1, two: 2, _meta: { a: 1, b: 2, c: 3 }, ...OWN });
  });
});

describe('notes that are held', () => {
  const noteAll = (notes: AnswerNotes): void => {
    notes.fresh({ ttlMs: 3, cacheScope: 'private' });
    notes.plain();
    notes.passOn({ extra: 1 });
    notes.missing({ mount: 'a', reason: 'x' });
  };

  it('are as good as others once they are released', () => {
    const held = holdNotes();
    noteAll(held);
    expect(finished((notes) => held.release(notes))).toEqual(finished(noteAll));
  });

  it('count only when they are released, and later ones are dropped', () => {
    const held = holdNotes();
    const notes = createNotes();
    held.release(notes);
    noteAll(held);
    held.release(notes);
    expect(notes.finish(result, OWN)).toEqual({ ...result, ...OWN });
    const unwanted = holdNotes();
    noteAll(unwanted);
    expect(() => unwanted.release(undefined)).not.toThrow();
  });
});
