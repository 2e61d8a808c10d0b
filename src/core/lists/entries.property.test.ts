import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryProvider } from '../../providers/memory/index.ts';
import { createContext } from '../context.ts';
import { ResourceError } from '../errors.ts';
import { applyLayers, type Layer, wrapProvider } from '../layer.ts';
import { createNotes } from '../notes.ts';
import type { ResourceProvider } from '../provider.ts';
import { mapEntries } from './entries.ts';
import { fillPage } from './filtered-list.ts';

/** Fails at some entries, each time that it comes to them. */
const failing =
  (at: ReadonlySet<string>): Layer =>
  (inner) =>
    wrapProvider(inner, {
      async list(uri, page, ctx) {
        const listed = await inner.list(uri, page, ctx);
        const make = <T extends { readonly name: string }>(entry: T): T => {
          if (at.has(entry.name)) throw new TypeError(`cannot read properties of ${entry.name}`);
          return { ...entry, title: entry.name.toUpperCase() };
        };
        return { ...listed, resources: mapEntries(listed.resources, make, ctx) };
      },
    });

/** Filters entries as the access layer does, and fails at some. */
const judging =
  (at: ReadonlySet<string>): Layer =>
  (inner) =>
    wrapProvider(inner, {
      async list(uri, page, ctx) {
        const { items, ...rest } = await fillPage(
          async (wanted) => {
            const { resources, ...more } = await inner.list(uri, wanted, ctx);
            return { ...more, items: resources };
          },
          page,
          async (entry) => {
            if (at.has(entry.name)) throw new Error('no decision');
            return entry;
          },
          ctx,
        );
        return { ...rest, resources: items };
      },
    });

async function drain(provider: ResourceProvider, limit: number) {
  const notes = createNotes();
  const errors: unknown[] = [];
  const ignore = (): void => {};
  const log = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (_: string, facts?: object) => void errors.push(facts),
  };
  const ctx = createContext({ notes, log });
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await provider.list('memory:///', { cursor, limit }, ctx);
    names.push(...page.resources.map((each) => each.name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const { _meta } = notes.finish<{ _meta?: Record<string, unknown> }>({}, { ttlMs: 1, cacheScope: 'private' });
  return { names, errors, missing: _meta?.['vitrine/missing'] as readonly object[] | undefined };
}

const NAMES = Array.from({ length: 40 }, (_, index) => `entry-${String(index).padStart(2, '0')}`);

describe('a layer that fails at some entries', () => {
  it('loses these alone, wherever they are and however many, and the log names them', async () => {
    const provider = memoryProvider({ resources: Object.fromEntries(NAMES.map((name) => [name, { text: name }])) });
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(NAMES),
        fc.subarray(NAMES),
        fc.integer({ min: 1, max: 50 }),
        async (first, second, limit) => {
          const layered = applyLayers(provider, [judging(new Set(second)), failing(new Set(first))]);
          const { names, errors, missing = [] } = await drain(layered, limit);
          const lost = new Set([...first, ...second]);
          expect(names).toEqual(NAMES.filter((name) => !lost.has(name)));
          const logged = new Set(errors.map((facts) => String((facts as { entry: string }).entry)));
          expect(logged).toEqual(new Set([...lost].map((name) => `memory:///${name}`)));
          // The answer does not name the entries, since the caller may not be allowed to know their names.
          expect(missing.length > 0).toBe(lost.size > 0);
          expect(JSON.stringify(missing)).not.toContain('entry-');
        },
      ),
      { numRuns: 60 },
    );
  });

  it('fails the list if its error tells the client what is wrong', () => {
    const unavailable = new ResourceError('unavailable', 'The rules cannot be read now');
    const make = (): never => {
      throw unavailable;
    };
    expect(() => mapEntries([{ uri: 'a:b', name: 'b' }], make, createContext())).toThrow(unavailable);
  });

  it('fails the list once the caller is gone', () => {
    const aborted = AbortSignal.abort(new Error('gone'));
    const make = (): never => {
      throw new Error('gone');
    };
    const ctx = createContext({ signal: aborted });
    expect(() => mapEntries([{ uri: 'a:b', name: 'b' }], make, ctx)).toThrow('gone');
  });
});
