/** Reading the lists of FTS5 without FTS5 gives the same passages and scores. */
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { entry } from '../../test/search/store-cases.ts';
import { sqlitePackage } from './library.ts';
import { createStore, type FileStore } from './store.ts';
import type { ScoredKind } from './thread.ts';

const open: FileStore[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
});

async function storeIn(folder: string): Promise<FileStore> {
  const common = { maxBytes: 1e9, settings: '', stemming: 'english', diacritics: 'fold' } as const;
  const store = createStore({ folder, library: sqlitePackage(), ...common });
  open.push(store);
  await store.open();
  return store;
}

/** Always the same numbers: Marsaglia's xorshift. */
let state = 2_463_534_242;
function random(below: number): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % below;
}

/** Picks one of many words: some are in most texts, many are in hardly any, and a few have an ending or an accent. */
const word = (): string => {
  const at = Math.floor(3_000 ** (random(1_000) / 1_000));
  return at % 7 === 0 ? `clock${at}s` : at % 11 === 0 ? `café${at}` : `word${at}`;
};
const text = (): string => Array.from({ length: 1 + random(120) }, word).join(' ');
const named = (at: number) => entry(`${at}.md`, text(), { title: `${word()} ${word()}` });

const COLUMNS =
  'SELECT json_group_array(json_array(chunk.id)) FROM json_each(?) AS number JOIN chunk ON chunk.id = number.value';

async function scored(store: FileStore, terms: readonly (readonly string[])[], limit: number): Promise<ScoredKind> {
  const [kind] = (await store.score({ kinds: [1], terms, limit, columns: COLUMNS })) ?? [];
  if (kind === undefined) throw new Error('It was left to FTS5');
  return kind;
}

async function byStatements(store: FileStore, match: string, limit: number): Promise<readonly (readonly number[])[]> {
  const sql = `SELECT rowid, -rank FROM words_1 WHERE words_1 MATCH ? ORDER BY rank, rowid LIMIT ${limit}`;
  const [rows = []] = await store.ask([[sql, match]]);
  return rows.map((row) => row.map(Number));
}

const rounded = (rows: readonly (readonly number[])[]): readonly (readonly (number | string | undefined)[])[] =>
  rows.map(([passage, score]) => [passage, score?.toFixed(9)]);

async function expectSame(store: FileStore, terms: readonly (readonly string[])[]): Promise<void> {
  const one = terms.map((forms) => `(${forms.map((form) => `"${form}"`).join(' OR ')})`);
  const { some, all, counts } = await scored(store, terms, 40);
  expect(rounded(some)).toEqual(rounded(await byStatements(store, one.join(' OR '), 40)));
  if (terms.length > 1) expect(rounded(all)).toEqual(rounded(await byStatements(store, one.join(' AND '), 40)));
  for (const [at, match] of one.entries())
    expect(counts[at]).toBe(
      Number((await store.ask([['SELECT count(*) FROM words_1 WHERE words_1 MATCH ?', match]]))[0]?.[0]?.[0]),
    );
}

const questions = (): readonly (readonly string[])[][] => [
  [['word1']],
  [['word1'], ['word2'], ['word3']],
  [['nothing'], ['word4']],
  [['CAFE11', 'clock7'], ['word5']],
  ...Array.from({ length: 12 }, () => Array.from({ length: 1 + random(4) }, () => [word()])),
];

describe('words are scored', () => {
  it('as FTS5 does, while many passages are added, changed and removed, and after the file was opened again', async () => {
    await using folder = await temporaryFolder({});
    let store = await storeIn(folder.path);
    for (let round = 0; round < 24; round++) {
      const from = random(3) === 0 ? random(Math.max(1, round * 90)) : round * 100;
      await store.put(Array.from({ length: 100 }, (_, at) => named(from + at)));
      const gone = await store.known(Array.from({ length: random(30) }, () => named(random(round * 100 + 1)).uri));
      await store.remove([...gone.values()].map(({ id }) => id));
      if (round % 6 === 5) {
        await store.close();
        store = await storeIn(folder.path);
      }
      for (const terms of round % 4 === 3 ? questions() : questions().slice(0, 4)) await expectSame(store, terms);
    }
  });

  it('with lists of many pages', async () => {
    await using folder = await temporaryFolder({});
    const store = await storeIn(folder.path);
    const often = (at: number): string => `${'brass '.repeat(1 + (at % 400))}${'oak '.repeat(at % 3)}`;
    for (let from = 0; from < 1_500; from += 500)
      await store.put(Array.from({ length: 500 }, (_, at) => entry(`${from + at}.md`, often(from + at))));
    await expectSame(store, [['brass']]);
    await expectSame(store, [['brass'], ['oak']]);
  });

  it('in large tables without those that most passages have, if there are others', async () => {
    await using folder = await temporaryFolder({});
    const store = await storeIn(folder.path);
    const texts = (at: number): string =>
      `brass ${at % 5 > 0 ? 'clock ' : ''}${at % 1_000 === 7 ? `bell ${'pad '.repeat(at / 1_000)}` : ''}`;
    for (let from = 0; from < 6_000; from += 1_000)
      await store.put(Array.from({ length: 1_000 }, (_, at) => entry(`${from + at}.md`, texts(from + at))));
    for (let again = 0; again < 2; again++) {
      const { some, all, counts } = await scored(store, [['brass'], ['bell'], ['clock']], 10);
      expect(counts).toEqual([6_000, 6, 4_800]);
      const bell = (await byStatements(store, '"bell"', 10)).map(([passage]) => passage);
      expect(some.map(([passage]) => passage)).toEqual(bell);
      expect(all.map(([passage]) => passage)).toEqual(bell);
    }
    const { some, all } = await scored(store, [['brass'], ['clock']], 10);
    expect(some).toHaveLength(10);
    expect(all).toHaveLength(10);
  });

  it('not if the index splits a word into several', async () => {
    await using folder = await temporaryFolder({});
    const store = await storeIn(folder.path);
    await store.put([entry('a.md', '鐘 樓')]);
    expect(await store.score({ kinds: [1], terms: [['a b']], limit: 1, columns: COLUMNS })).toBeNull();
  });
});
