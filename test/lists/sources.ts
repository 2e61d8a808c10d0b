/** For tests of lists over several sources: makes sources with wanted properties, and drains all pages of a list. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { type Context, createContext } from '../../src/core/context.ts';
import { type ListSource, pageAcross } from '../../src/core/lists/across.ts';
import { createNotes, type MissingPart } from '../../src/core/notes.ts';

export const ctx = createContext();
export const OWN = { ttlMs: 7, cacheScope: 'public' } as const;

export interface SourceParts {
  readonly remote?: boolean;
  readonly whole?: boolean;
  /** The most entries of one page, whatever is asked for. */
  readonly most?: number;
  /** Runs before each page; what it throws is the page's failure. */
  readonly before?: (cursor: string | undefined, ctx: Context) => Promise<void> | void;
}

/** A source whose cursor is the last entry that was shown, so that entries may come and go. */
export function sourceOf(name: string, entries: Iterable<string>, parts: SourceParts = {}): ListSource<string> {
  const { remote = true, whole, most = Number.POSITIVE_INFINITY, before } = parts;
  return {
    name,
    remote,
    async list({ cursor, limit }, context) {
      await before?.(cursor, context);
      const rest = [...entries].sort().filter((each) => cursor === undefined || each > cursor);
      const items = rest.slice(0, Math.min(limit, most));
      return { items, whole, nextCursor: rest.length > items.length ? items.at(-1) : undefined };
    },
  };
}

export const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(3, '0')}`);

export const failing = (error: unknown, parts: SourceParts = {}): ListSource<string> =>
  sourceOf('failing', [], {
    ...parts,
    before() {
      throw error;
    },
  });

export interface Drained {
  readonly items: readonly string[];
  readonly pages: readonly { readonly items: readonly string[]; readonly whole?: boolean | undefined }[];
  readonly missing: readonly MissingPart[];
}

export async function drain(
  sources: readonly ListSource<string>[],
  limit: number,
  between: (page: number) => readonly ListSource<string>[] | undefined = () => undefined,
): Promise<Drained> {
  const pages: Drained['pages'][number][] = [];
  const missing: MissingPart[] = [];
  let cursor: string | undefined;
  let now = sources;
  for (let count = 1; count < 2_000; count++) {
    const notes = { ...createNotes(), missing: (part: MissingPart) => void missing.push(part) };
    const page = await pageAcross(now, { cursor, limit }, { ...ctx, notes });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    pages.push(page);
    cursor = page.nextCursor;
    if (cursor === undefined) return { items: pages.flatMap(({ items }) => items), pages, missing };
    now = between(count) ?? now;
  }
  throw new Error('The list does not end');
}

/** Counts and page sizes of any sources. */
export const shapes = fc.array(
  fc.record({ count: fc.nat(9), most: fc.integer({ min: 1, max: 5 }), remote: fc.boolean(), whole: fc.boolean() }),
  { maxLength: 6 },
);
export const limits = fc.integer({ min: 1, max: 12 });
