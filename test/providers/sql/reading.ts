/** Reads databases as a client does: lists, pages by their links, rows by their URIs. */
import assert from 'node:assert/strict';
import { createContext } from '../../../src/core/context.ts';
import type { ResourceProvider } from '../../../src/core/provider.ts';
import { drainBody, EVERYTHING, listAll } from '../../../src/testing/observe.ts';
import { recordStore, type StoreTable } from './store.ts';

export interface ShownRow {
  readonly uri?: string;
  readonly row: Readonly<Record<string, unknown>>;
  readonly links?: Readonly<Record<string, string>>;
  /** The URI of the page that the row was on. */
  readonly base?: string;
}

interface ShownPage {
  readonly rows: readonly ShownRow[];
  readonly more: boolean;
  readonly next?: string;
}

/** The text of a resource in one format. */
export async function textOf(provider: ResourceProvider, uri: string, accept = 'application/json'): Promise<string> {
  const bodies = await provider.read(uri, { ...EVERYTHING, accept: [accept] }, createContext());
  const [body] = bodies;
  assert.ok(body !== undefined && bodies.length === 1, `One body of ${uri}`);
  assert.equal(body.resource.mimeType, accept);
  return Buffer.from(await drainBody(body)).toString('utf8');
}

export const jsonOf = async <T = ShownRow>(provider: ResourceProvider, uri: string): Promise<T> =>
  JSON.parse(await textOf(provider, uri)) as T;

/** Gives the URI that a reference in a resource leads to. */
export const resolved = (reference: string, base: string): string => new URL(reference, base).href;

/** All rows of a table, page by page; their URIs are absolute. `between` runs after each page that has a next one. */
export async function pagesOf(
  provider: ResourceProvider,
  table: string,
  between: (shown: readonly ShownRow[]) => Promise<void> | void = () => {},
): Promise<readonly ShownRow[]> {
  const rows: ShownRow[] = [];
  for (let uri: string | undefined = `${table}/~rows`; uri !== undefined; ) {
    const base: string = uri;
    const page: ShownPage = await jsonOf<ShownPage>(provider, base);
    assert.equal(page.more, page.next !== undefined, `A page with more behind it says where: ${base}`);
    rows.push(
      ...page.rows.map((row) => ({ ...row, base, ...(row.uri !== undefined && { uri: resolved(row.uri, base) }) })),
    );
    uri = page.next === undefined ? undefined : resolved(page.next, base);
    if (uri !== undefined) await between(rows);
  }
  return rows;
}

/** A value of the store that can be compared with a shown one: bytes become hexadecimal digits. */
const shown = (value: StoreTable['rows'][number][number]): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;

/** The values of a shown row. Bytes that the row only refers to are read; all bytes become hexadecimal digits. */
async function whole(provider: ResourceProvider, { row }: ShownRow, base: string): Promise<unknown[]> {
  return await Promise.all(
    Object.values(row).map(async (value) => {
      if (typeof value !== 'object' || value === null) return value;
      const { base64, uri } = value as { base64?: string; uri?: string };
      if (base64 !== undefined) return Buffer.from(base64, 'base64').toString('hex');
      const [body] = await provider.read(resolved(uri ?? '', base), EVERYTHING, createContext());
      return body === undefined ? undefined : Buffer.from(await drainBody(body)).toString('hex');
    }),
  );
}

/**
 * Reads every table of the record store by its pages, its list and the URI of each row, and compares the rows with the store.
 * @param tables the URI that tables lie below, as `sqlite://` or `postgres:///public`
 * @param same makes values of the database comparable: a decimal may have more zeros there
 */
export async function readsWholeStore(
  provider: ResourceProvider,
  tables: string,
  same: (value: unknown) => unknown = (value) => value,
): Promise<void> {
  for (const { name, columns, rows: expected } of recordStore()) {
    const table = `${tables}/${name}`;
    const names = columns.map(([column]) => column);
    const paged = await pagesOf(provider, table);
    const listed = (await listAll(provider, table)).map(({ uri }) => uri).filter((uri) => !/\/~[a-z]+$/.test(uri));
    const uris = paged.map(({ uri }) => uri ?? '');
    assert.equal(new Set(uris).size, expected.length, `Every row of ${name} has a URI of its own`);
    assert.deepEqual(listed, uris, `The list of ${name} is its pages`);
    assert.equal((await jsonOf<{ rows: number }>(provider, `${table}/~count`)).rows, expected.length);
    const inPages = await Promise.all(paged.map((row) => whole(provider, row, row.base ?? '')));
    const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
    const wanted = expected.map((row) => row.map((value) => same(shown(value)))).sort(byText);
    assert.deepEqual(inPages.map((row) => row.map(same)).sort(byText), wanted, `Rows of ${name}`);
    for (const [at, uri] of uris.entries()) {
      const alone = await jsonOf(provider, uri);
      assert.deepEqual(Object.keys(alone.row), names);
      assert.deepEqual(await whole(provider, alone, uri), inPages[at], uri);
    }
  }
}
