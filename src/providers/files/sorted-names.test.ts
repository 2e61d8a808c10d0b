/** The stable order of names, and positions in it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Entry, type SortedNames, sortNames } from './sorted-names.ts';

async function* stream(entries: Iterable<Entry>): AsyncIterable<readonly Entry[]> {
  let some: Entry[] = [];
  for (const entry of entries) {
    some.push(entry);
    if (some.length < 100) continue;
    yield some;
    some = [];
  }
  yield some;
}

const all = (names: SortedNames): Entry[] => Array.from({ length: names.length }, (_, index) => names.at(index));

/** The order that the first sentence of the module describes. */
function reference(entries: readonly Entry[]): Entry[] {
  const group = ({ kind }: Entry): number => (kind === 'd' ? 0 : 1);
  return [...entries].sort((a, b) => group(a) - group(b) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

const kinds = ['d', 'f', 'l'] as const;

/** A sequence that looks random and is the same every time. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state;
  }
}

const entryOf = fc.record({
  kind: fc.constantFrom(...kinds),
  name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((name) => name.isWellFormed()),
});
const entriesOf = fc.uniqueArray(entryOf, { selector: (entry) => entry.name, maxLength: 200 });

describe('names in order', () => {
  it('are directories first, then by code units', async () => {
    const entries: Entry[] = [
      { kind: 'f', name: 'b' },
      { kind: 'l', name: 'B' },
      { kind: 'd', name: 'z' },
      { kind: 'f', name: 'ä' },
      { kind: 'd', name: 'Z' },
      { kind: 'f', name: 'a10' },
      { kind: 'f', name: 'a9' },
      { kind: 'f', name: '\u{1f600}' },
      { kind: 'f', name: '\ufb01' },
    ];
    expect(all(await sortNames(stream(entries))).map(({ name }) => name)).toEqual([
      'Z',
      'z',
      'B',
      'a10',
      'a9',
      'b',
      'ä',
      '\u{1f600}',
      '\ufb01',
    ]);
  });

  it('are the same as those of a plain sort, whatever they are', async () => {
    await fc.assert(
      fc.asyncProperty(entriesOf, async (entries) => {
        expect(all(await sortNames(stream(entries)))).toEqual(reference(entries));
      }),
    );
  });

  it('are the same as those of a plain sort for 100,000 of them', async () => {
    const next = numbers(7);
    const entries: Entry[] = Array.from({ length: 100_000 }, (_, index) => {
      const random = next.next().value ?? 0;
      const letters = 'abcXYZ-_.0189éß漢\u{1f600}';
      const name = [...letters].filter((_letter, bit) => (random >>> bit) & 1).join('') + index;
      return { kind: kinds[random % 3] ?? 'f', name };
    });
    const names = await sortNames(stream(entries));
    expect(names.length).toBe(100_000);
    const expected = reference(entries);
    expect(all(names)).toEqual(expected);
    expect(names.directories).toBe(expected.filter(({ kind }) => kind === 'd').length);
    for (let index = 0; index < expected.length; index += 997) {
      const entry = expected[index];
      if (entry !== undefined) expect(names.after(entry)).toBe(index + 1);
    }
  });

  it('may be none at all', async () => {
    const names = await sortNames(stream([]));
    expect({ length: names.length, directories: names.directories }).toEqual({ length: 0, directories: 0 });
    expect(names.after({ kind: 'd', name: 'a' })).toBe(0);
    expect(names.after({ kind: 'f', name: 'a' })).toBe(0);
  });
});

describe('a position', () => {
  it('is after an existing entry, or at the place of a missing one', async () => {
    await fc.assert(
      fc.asyncProperty(entriesOf, entryOf, async (entries, entry) => {
        const names = await sortNames(stream(entries.filter(({ name }) => name !== entry.name)));
        const behind = names.after(entry);
        const before = all(names).slice(0, behind);
        const rest = all(names).slice(behind);
        expect(reference([...before, entry])).toEqual([...before, entry]);
        expect(reference([entry, ...rest])).toEqual([entry, ...rest]);
      }),
    );
  });

  it('loses and repeats nothing when entries come and go between pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        entriesOf,
        fc.infiniteStream(fc.nat()),
        fc.integer({ min: 1, max: 7 }),
        async (entries, random, size) => {
          let present = entries;
          const stay = new Set(entries.filter(() => (random.next().value ?? 0) % 2 === 0).map(({ name }) => name));
          const seen: string[] = [];
          let position: Entry | undefined;
          for (;;) {
            const names = await sortNames(stream(present));
            const start = position === undefined ? 0 : names.after(position);
            const page = all(names).slice(start, start + size);
            seen.push(...page.map(({ name }) => name));
            position = page.at(-1);
            if (position === undefined) break;
            // Removes some of the other names, possibly also the last one that was shown.
            present = present.filter(({ name }) => stay.has(name) || (random.next().value ?? 0) % 3 > 0);
          }
          expect(new Set(seen).size).toBe(seen.length);
          for (const name of stay) expect(seen).toContain(name);
        },
      ),
    );
  });

  it('is found for a prefix of names in either group', async () => {
    const names = await sortNames(
      stream([
        { kind: 'd', name: 'da' },
        { kind: 'd', name: 'db' },
        { kind: 'f', name: 'fa' },
        { kind: 'l', name: 'fb' },
      ]),
    );
    expect([names.from(true, ''), names.from(true, 'db'), names.from(true, 'z')]).toEqual([0, 1, 2]);
    expect([names.from(false, ''), names.from(false, 'fb'), names.from(false, 'z')]).toEqual([2, 3, 4]);
  });
});

describe('memory', () => {
  it('is counted with all bytes of the names, and is the same for links as for files', async () => {
    const entries = Array.from({ length: 10_000 }, (_, index): Entry => ({ kind: 'l', name: `link-${index}` }));
    const links = await sortNames(stream(entries));
    const files = await sortNames(stream(entries.map(({ name }): Entry => ({ kind: 'f', name }))));
    expect(links.byteLength).toBe(files.byteLength);
    expect(files.byteLength).toBeGreaterThanOrEqual(entries.reduce((sum, { name }) => sum + name.length, 0));
    expect(new Set(all(links).map(({ kind }) => kind))).toEqual(new Set(['l']));
  });
});
