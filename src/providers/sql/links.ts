/**
 * Links between rows: a foreign key leads to the row that it names. Contents show links as relative references (RFC 3986
 * section 4.2), which hold under any name of the mount.
 */
import { encodeSegment } from '../../core/uri.ts';
import type { ShownCatalogue } from './catalogues.ts';
import type { ForeignKey, Identity, Parameter, Table, Value, ValueKind } from './dialect.ts';
import { encodeKey } from './keys.ts';
import { isKeyed, type Keyed, tablePath } from './place.ts';

/** Writes the reference from one resource to another. Both are path segments before percent-encoding. */
export function relativeReference(from: readonly string[], to: readonly string[]): string {
  const folder = from.slice(0, -1);
  let shared = 0;
  while (shared < folder.length && shared < to.length - 1 && folder[shared] === to[shared]) shared++;
  const up = '../'.repeat(folder.length - shared);
  const down = to.slice(shared).map(encodeSegment).join('/');
  // Without `./`, the text before a colon in the first segment would be read as a scheme (section 4.2).
  return up === '' && /^[^/]*:/.test(down) ? `./${down}` : up + down;
}

export interface Link {
  /** The positions of the foreign key's columns in the table. */
  readonly columns: readonly number[];
  /** The name of the link: the columns, joined by commas. */
  readonly name: string;
  /** Returns the path of the row that the values of a row refer to; undefined if one is NULL or cannot be in that key. */
  readonly pathOf: (values: readonly Value[]) => readonly string[] | undefined;
}

/** The links out of a table: its foreign keys that refer to the identity of a table, perhaps of the same one. */
export function linksOf(table: Table, catalogue: ShownCatalogue): readonly Link[] {
  const links = new Map<string, Link>();
  for (const key of table.foreignKeys) {
    const link = linkOf(table, key, catalogue);
    if (link !== undefined && !links.has(link.name)) links.set(link.name, link);
  }
  return [...links.values()];
}

function linkOf(table: Table, key: ForeignKey, catalogue: ShownCatalogue): Link | undefined {
  const target = catalogue.find(key.table.schema, key.table.name);
  if (target === undefined || !isKeyed(target)) return undefined;
  const { identity } = target;
  const order = identity.columns.map(({ name }) => key.references.indexOf(name));
  if (order.length !== key.references.length || order.includes(-1)) return undefined;
  const columns = key.columns.map((name) => table.columns.findIndex((column) => column.name === name));
  if (columns.includes(-1)) return undefined;
  return {
    columns,
    name: key.columns.join(','),
    pathOf(values) {
      const keyValues = order.map((at, place) => fitting(values[columns[at] ?? -1], identity.columns[place]?.kind));
      return rowPath(target, identity, keyValues);
    },
  };
}

function rowPath(
  target: Keyed,
  identity: Identity,
  keyValues: readonly (Parameter | undefined)[],
): readonly string[] | undefined {
  const values: Parameter[] = [];
  for (const value of keyValues) {
    if (value === undefined || value === null) return undefined;
    values.push(value);
  }
  const segment = encodeKey({ values }, identity);
  return segment === undefined ? undefined : [...tablePath(target), segment];
}

/** Converts a value to the kind of the column that it refers to: one table may have text where the other has integers. */
function fitting(value: Value | undefined, kind: ValueKind | undefined): Parameter | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object' && !(value instanceof Uint8Array)) return undefined;
  if (kind === 'integer' && typeof value === 'string' && /^-?\d{1,18}$/.test(value)) return BigInt(value);
  if (kind === 'text' && (typeof value === 'bigint' || typeof value === 'number')) return String(value);
  return value;
}
