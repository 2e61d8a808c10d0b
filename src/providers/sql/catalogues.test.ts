/** Which catalogue counts if the database changes while it is read. */
import { expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { createCatalogues } from './catalogues.ts';
import type { Catalogue, Connection, Limits, Table } from './dialect.ts';
import type { LimitsOf } from './limits.ts';

const limitsOf: LimitsOf = () => ({}) as Limits;
const config = { tables: undefined, views: true };

const catalogueWith = (name: string): Catalogue => ({
  tables: [{ name, kind: 'table', columns: [], primaryKey: [], foreignKeys: [] } as unknown as Table],
});

/** A database that gives its catalogue when the test says so. */
function database(): { readonly connection: Connection; readonly answers: ((found: Catalogue | Error) => void)[] } {
  const answers: ((found: Catalogue | Error) => void)[] = [];
  const catalogue = (): Promise<Catalogue> =>
    new Promise((resolve, reject) => {
      answers.push((found) => (found instanceof Error ? reject(found) : resolve(found)));
    });
  return { connection: { catalogue } as unknown as Connection, answers };
}

it('a catalogue that was being read when it was forgotten does not count afterwards', async () => {
  const { connection, answers } = database();
  const catalogues = createCatalogues(connection, config, limitsOf);
  const names = async (): Promise<readonly string[]> =>
    (await catalogues.get(createContext())).tables.map(({ name }) => name);
  const before = names();
  await expect.poll(() => answers.length).toBe(1);
  catalogues.forget();
  const after = names();
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.(catalogueWith('new'));
  expect(await after).toEqual(['new']);
  answers[0]?.(catalogueWith('old'));
  expect(await before).toEqual(['old']);
  expect(await names()).toEqual(['new']);
  expect(answers).toHaveLength(2);
});

it('a forgotten catalogue does not count either if nothing is requested before its reading ends', async () => {
  const { connection, answers } = database();
  const catalogues = createCatalogues(connection, config, limitsOf);
  const before = catalogues.get(createContext());
  await expect.poll(() => answers.length).toBe(1);
  catalogues.forget();
  answers[0]?.(catalogueWith('old'));
  await before;
  const after = catalogues.get(createContext());
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.(catalogueWith('new'));
  expect((await after).find(undefined, 'new')).toBeDefined();
});

it('a failed reading is not kept, and a successful one is shared', async () => {
  const { connection, answers } = database();
  const catalogues = createCatalogues(connection, config, limitsOf);
  const failing = catalogues.get(createContext());
  await expect.poll(() => answers.length).toBe(1);
  answers[0]?.(new Error('away'));
  await expect(failing).rejects.toThrow('away');
  const both = [catalogues.get(createContext()), catalogues.get(createContext())];
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.(catalogueWith('one'));
  const [first, second] = await Promise.all(both);
  expect(first).toBe(second);
  expect(await catalogues.get(createContext())).toBe(first);
});
