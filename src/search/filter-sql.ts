/** Writes the filters of a question as SQL, for SQLite and for PostgreSQL. */
import { invalid } from '../core/errors.ts';
import type { Filters } from './question.ts';

/**
 * Turns filters into conditions on a row of `resource`, each after ` AND `; empty without filters.
 * @param like the operator that ignores case: `LIKE` in SQLite, `ILIKE` in PostgreSQL
 * @param parameter adds a parameter to the statement and returns its placeholder. It is called in the order of the placeholders.
 * @throws ResourceError `invalid`
 */
export function filterSql(
  filters: Filters,
  like: 'LIKE' | 'ILIKE',
  parameter: (value: string | number) => string,
): string {
  const { mount, folder, type, after, before, larger, smaller } = filters;
  const conditions: string[] = [];
  if (mount !== undefined) conditions.push(`mount = ${parameter(mount)}`);
  if (folder !== undefined) {
    const bare = folder.replace(/\/$/, '');
    const same = `uri IN (${parameter(folder)}, ${parameter(bare)})`;
    // The digit 0 follows the slash in the order of characters.
    const inside = `(uri > ${parameter(`${bare}/`)} AND uri < ${parameter(`${bare}0`)})`;
    conditions.push(`(${same} OR ${inside})`);
  }
  if (type !== undefined) conditions.push(`type ${like} ${parameter(typePattern(type))} ESCAPE '\\'`);
  if (after !== undefined) conditions.push(`changed >= ${parameter(after)}`);
  if (before !== undefined) conditions.push(`changed < ${parameter(before)}`);
  if (larger !== undefined) conditions.push(`size > ${parameter(larger)}`);
  if (smaller !== undefined) conditions.push(`size < ${parameter(smaller)}`);
  return conditions.map((condition) => ` AND ${condition}`).join('');
}

/** Returns the LIKE pattern of a filter: `image/*` is a range, `text/plain` a type with any parameters, `pdf` a part of a type. */
function typePattern(type: string): string {
  if (!/^[a-z0-9!#$&^_.+*/-]+$/.test(type)) throw invalid('type: takes a type as text/markdown, image/* or pdf');
  const escaped = type.replace(/[%_]/g, '\\$&');
  if (type.endsWith('/*')) return `${escaped.slice(0, -1)}%`;
  return type.includes('/') ? `${escaped}%` : `%${escaped}%`;
}
