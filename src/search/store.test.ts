import { appendFile, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { entry, found, storeCases } from '../../test/search/store-cases.ts';
import type { Count } from './counts.ts';
import { sqlitePackage } from './library.ts';
import { parseQuestion } from './question.ts';
import { rank } from './ranking.ts';
import { createStore, type FileStore, type StoreOptions } from './store.ts';
import { type Rows, SqlFault, type Statement } from './thread.ts';

const open: FileStore[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
});

async function storeIn(folder: string, options: Partial<StoreOptions> = {}): Promise<FileStore> {
  const store = createStore({
    folder,
    library: sqlitePackage(),
    maxBytes: 1e9,
    settings: '',
    stemming: 'english',
    diacritics: 'fold',
    ...options,
  });
  open.push(store);
  await store.open();
  return store;
}

describe('the store of an index', () => {
  const folders: Awaited<ReturnType<typeof temporaryFolder>>[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await folder[Symbol.asyncDispose]();
  });

  storeCases(async () => {
    const folder = await temporaryFolder({});
    folders.push(folder);
    return await storeIn(folder.path);
  });

  it('scores after many edits like a new one', async () => {
    await using folder = await temporaryFolder({});
    await using other = await temporaryFolder({});
    const [edited, anew] = [await storeIn(folder.path), await storeIn(other.path)];
    const scores = async (store: FileStore): Promise<readonly Rows[]> =>
      await store.ask(
        ['clock', 'iron OR brass', 'oak'].map((question) => [
          `SELECT uri, rank FROM words_1 JOIN chunk ON chunk.id = words_1.rowid
           JOIN resource ON resource.id = chunk.resource WHERE words_1 MATCH ? ORDER BY rank, uri`,
          question,
        ]),
      );
    const entries = ['brass clock', 'iron clock clock', 'brass bell', 'oak', 'keys'].map((text, at) =>
      entry(`${at}.md`, text),
    );
    await edited.put(entries);
    for (let edit = 0; edit < 20; edit++) await edited.put([entry('0.md', `brass clock ${edit}`)]);
    await edited.put(entries);
    await anew.put(entries);
    expect(await scores(edited)).toEqual(await scores(anew));
  });

  it('finds the same places in the same order, whether or not it begins with rare words', async () => {
    await using folder = await temporaryFolder({});
    const store = await storeIn(folder.path);
    // No two passages with rare words have the same length.
    const rare = (at: number): string =>
      at % 17 === 0
        ? `spring ${'pad '.repeat(at / 17)}`
        : at % 41 === 0
          ? `escapement ${'pad '.repeat(at / 41)}`
          : 'oak';
    const texts = Array.from(
      { length: 6_000 },
      (_, at) => `${at % 5 > 0 ? 'clock' : 'stool'} ${at % 3 > 0 ? 'brass' : 'walnut'} ${rare(at)}`,
    );
    await store.put(texts.map((text, at) => entry(`${at}.md`, text)));
    let steps = 0;
    const ask = (statements: readonly Statement[]): Promise<readonly Rows[]> => {
      steps += statements.filter(([, match]) => String(match).includes(' AND (')).length;
      return store.ask(statements);
    };
    const counted: Count = async (statements) => (await ask(statements)).map((rows) => Number(rows[0]?.[0]));
    const uncounted: Count = async (statements) => statements.map(() => 0);
    const placesBy = async (count: Count, question: string): Promise<readonly string[]> => {
      const places: string[] = [];
      for await (const { path } of rank({ ask, count }, parseQuestion(question), [1]))
        if (places.push(path) === 30) break;
      return places;
    };
    for (const question of [
      'clock spring',
      'brass clock escapement',
      'walnut spring',
      'clock walnut escapement',
      'oak spring brass',
      'spring escapement clock oak',
    ])
      expect(await placesBy(counted, question)).toEqual(await placesBy(uncounted, question));
    expect(steps).toBe(2);
  });

  it('keeps its entries over a restart, readable for its user only', async () => {
    await using folder = await temporaryFolder({});
    const first = await storeIn(folder.path);
    await first.put([entry('a.md', 'clock')]);
    await first.close();
    const again = await storeIn(folder.path);
    expect(await found(again, 'clock')).toEqual(['a.md']);
    for (const name of await readdir(folder.path))
      if (name.startsWith('index.sqlite')) expect((await stat(join(folder.path, name))).mode & 0o077).toBe(0);
  });

  it('begins again with other settings, and if the file is damaged or not an index', async () => {
    await using folder = await temporaryFolder({});
    const file = join(folder.path, 'index.sqlite');
    const damage = [
      () => writeFile(file, 'The letters of my grandmother'),
      () => truncate(file, 20_000),
      async () => {
        const bytes = await readFile(file);
        await writeFile(file, bytes.fill(0xaa, 4_096));
      },
      () => appendFile(file, ''),
    ];
    for (const [at, harm] of damage.entries()) {
      const before = await storeIn(folder.path);
      await before.put([entry('a.md', 'clock')]);
      await before.close();
      await harm();
      const after = await storeIn(folder.path, { settings: at === 3 ? 'other' : '' });
      expect(await found(after, 'clock')).toEqual([]);
      await after.put([entry('b.md', 'clock')]);
      expect(await found(after, 'clock')).toEqual(['b.md']);
      await after.discard();
    }
    expect(await readdir(folder.path)).toContain('index.damaged');
  });

  it('belongs to one server at a time', async () => {
    await using folder = await temporaryFolder({});
    const first = await storeIn(folder.path);
    const second = createStore({
      ...{ folder: folder.path, library: sqlitePackage(), maxBytes: 1e9, settings: '' },
      ...{ stemming: 'english', diacritics: 'fold' },
    });
    await expect(second.open()).rejects.toSatisfy((error) => error instanceof SqlFault && error.kind === 'locked');
    await first.close();
    await second.open();
    await second.close();
  });
});
