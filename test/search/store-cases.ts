/** The laws of every store of an index, whatever its database. */
import { expect, it } from 'vitest';
import type { Entry, IndexStore } from '../../src/search/index-store.ts';
import { parseQuestion, questionOfName } from '../../src/search/question.ts';

export const entry = (name: string, text: string, more: Partial<Entry> = {}): Entry => ({
  uri: `m+memory:///${name}`,
  parent: 'm+memory:///',
  mount: 'm',
  container: false,
  kind: '',
  version: '1',
  type: 'text/plain',
  name,
  title: '',
  path: name,
  changed: '2025-04-01T00:00:00.000Z',
  size: text.length,
  problem: undefined,
  passages: [{ headings: [], page: undefined, lines: { first: 1, last: 1 }, bytes: undefined, text }],
  ...more,
});

export async function found(
  store: IndexStore,
  question: string,
  kinds?: readonly number[],
): Promise<readonly string[]> {
  const all = kinds ?? (await store.kinds()).map(({ id }) => id);
  const names: string[] = [];
  for await (const { path } of store.find(parseQuestion(question), all)) names.push(path);
  return names;
}

/** @param storeIn gives an empty store each time */
export function storeCases(storeIn: () => Promise<IndexStore>): void {
  it('finds words, forms and beginnings of words, phrases, and words near each other', async () => {
    const store = await storeIn();
    await store.put([
      entry('winding.md', 'The carriage clock is wound on Tuesdays, with the small key'),
      entry('café.md', 'The café clock never strikes'),
      entry('keys.md', 'Keys hang behind the door; the small one is a key of iron'),
      entry('案内.txt', '懐中時計の巻き方'),
    ]);
    expect(await found(store, 'how is the carriage clock wound')).toEqual(['winding.md', 'café.md']);
    expect(await found(store, 'clocks')).toHaveLength(2);
    expect(await found(store, 'cafe')).toEqual(['café.md']);
    expect(await found(store, '"small key"')).toEqual(['winding.md']);
    expect(await found(store, 'carr*')).toEqual(['winding.md']);
    expect(await found(store, 'NEAR(small iron, 5)')).toEqual(['keys.md']);
    expect(await found(store, 'NEAR(small iron, 1)')).toEqual([]);
    expect(await found(store, '時計')).toEqual(['案内.txt']);
    expect(await found(store, '計時')).toEqual([]);
  });

  it('finds by the beginnings of all words of a title and a name, and by nothing else', async () => {
    const store = await storeIn();
    await store.put([
      entry('spare-hands.md', 'Of brass', { title: 'For a carriage clock' }),
      entry('clocks/bell.md', 'The spare hands of a clock', { name: 'bell.md' }),
      entry('café.md', 'Of nothing'),
    ]);
    const kinds = (await store.kinds()).map(({ id }) => id);
    for (const [typed, names] of [
      ['hand', ['spare-hands.md']],
      ['Clo han', ['spare-hands.md']],
      ['hand*) OR bell type:pdf', []],
      ['brass', []],
      ['cafe', ['café.md']],
    ] as const) {
      const given: string[] = [];
      for await (const { path } of store.find(questionOfName(typed), kinds)) given.push(path);
      expect(given, typed).toEqual(names);
    }
  });

  it('finds whole words, their forms and phrases in titles and names alone', async () => {
    const store = await storeIn();
    await store.put([
      entry('spare-hands.md', 'Of brass', { title: 'A clock that was wound' }),
      entry('bell.md', 'The brass of spare hands, to wind'),
      entry('clock.md', 'Of hands that are spare'),
    ]);
    const kinds = (await store.kinds()).map(({ id }) => id);
    for (const [term, names] of [
      [{ words: ['clock'] }, ['clock.md', 'spare-hands.md']],
      [{ words: ['brass'] }, []],
      [{ words: ['cloc'] }, []],
      [{ words: ['spare', 'hands'] }, ['spare-hands.md']],
      [{ words: ['spare', 'han'], prefix: true }, ['spare-hands.md']],
      [{ words: ['brass', 'han'], prefix: true }, []],
      [{ words: ['hands', 'spare'], near: 5 }, ['spare-hands.md']],
      [{ words: ['wind'], forms: ['wound'] }, ['spare-hands.md']],
    ] as const) {
      const given: string[] = [];
      const terms = [{ prefix: false, required: true, byName: true, ...term }];
      for await (const { path } of store.find({ terms, filters: {} }, kinds)) given.push(path);
      expect(given.sort(), JSON.stringify(term)).toEqual(names);
    }
  });

  it('takes a typed text as words, whatever it would mean to the database', async () => {
    const store = await storeIn();
    await store.put([entry('a.md', 'clock OR 1 text')]);
    for (const text of ['clock) OR (', 'text : clock', '^clock', 'clock + OR', '-clock', 'NOT clock', "'clock';--"])
      expect(await found(store, text)).toEqual(['a.md']);
    expect(await found(store, 'text:clock')).toEqual([]);
  });

  it('filters by mount, folder, type, time and size', async () => {
    const store = await storeIn();
    await store.put([
      entry('a.md', 'clock', { type: 'text/markdown' }),
      entry('f/b.md', 'clock of brass', { mount: 'n', changed: '2020-01-01T00:00:00.000Z' }),
    ]);
    const both = ['a.md', 'f/b.md'];
    expect(await found(store, 'clock')).toEqual(both);
    expect(await found(store, 'clock mount:n')).toEqual(['f/b.md']);
    expect(await found(store, 'clock in:m+memory:///f')).toEqual(['f/b.md']);
    expect(await found(store, 'clock in:m+memory:///f/')).toEqual(['f/b.md']);
    expect(await found(store, 'clock in:m+memory:///')).toEqual(both);
    expect(await found(store, 'clock type:markdown')).toEqual(['a.md']);
    expect(await found(store, 'clock type:text/*')).toEqual(both);
    expect(await found(store, 'clock after:2024')).toEqual(['a.md']);
    expect(await found(store, 'clock before:2024')).toEqual(['f/b.md']);
    expect(await found(store, 'clock larger:5')).toEqual(['f/b.md']);
    expect(await found(store, 'clock smaller:999999999999999g')).toEqual(both);
    expect(await found(store, 'clock larger:99999999999g')).toEqual([]);
    expect(await found(store, 'clock smaller:1k')).toEqual(both);
  });

  it('forgets what is replaced, and what is removed with all below it', async () => {
    const store = await storeIn();
    const inside = { parent: 'm+memory:///f' };
    await store.put([entry('f', '', { container: true }), entry('f/a.md', 'clock', inside), entry('b.md', 'clock')]);
    await store.put([entry('b.md', 'piano')]);
    expect(await found(store, 'clock')).toEqual(['f/a.md']);
    const known = await store.known(['m+memory:///f']);
    await store.remove([...known.values()].map(({ id }) => id));
    expect(await found(store, 'clock')).toEqual([]);
    expect((await store.figures()).resources).toBe(1);
  });

  it('scores as if the store held only the requested kinds', async () => {
    const store = await storeIn();
    const seen = ['brass clock', 'iron clock clock', 'iron', 'brass bell', 'oak'].map((text, at) =>
      entry(`${at}.md`, text, { kind: at % 2 === 0 ? 'one' : 'two' }),
    );
    const hidden = Array.from({ length: 50 }, (_, at) => entry(`h${at}.md`, 'iron iron', { kind: 'hidden' }));
    await store.put([...hidden, ...seen]);
    const alone = await storeIn();
    await alone.put(seen);
    const kinds = (await store.kinds()).filter(({ key }) => key !== 'hidden').map(({ id }) => id);
    for (const question of ['iron clock', 'brass', 'iron oak bell'])
      expect(await found(store, question, kinds)).toEqual(await found(alone, question));
    expect(await found(store, 'iron', [])).toEqual([]);
  });

  it('orders results after many edits as a new store does', async () => {
    const edited = await storeIn();
    const texts = ['brass clock', 'iron clock clock, long wound', 'iron', 'brass bell', 'oak', 'a spring', 'keys'];
    const entries = texts.map((text, at) => entry(`${at}.md`, text, { kind: at % 2 === 0 ? 'one' : 'two' }));
    await edited.put(entries);
    for (let edit = 0; edit < 15; edit++) {
      await edited.put([entry('0.md', `brass clock number ${edit}`, { kind: 'one' }), entry('gone.md', 'iron bell')]);
      await edited.remove([...(await edited.known(['m+memory:///gone.md'])).values()].map(({ id }) => id));
    }
    await edited.put(entries);
    const anew = await storeIn();
    await anew.put(entries);
    for (const question of ['iron clock', 'brass', 'oak bell keys'])
      expect(await found(edited, question)).toEqual(await found(anew, question));
  });
}
