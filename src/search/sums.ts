/**
 * Corrects the sums of a table of words: how many rows it has, and how many words each column has. Scores depend on them. FTS5
 * adds new rows to the sums, but does not subtract the rows that are removed from a table without contents, so the index does.
 * The format is documented: https://sqlite.org/fts5.html#the_averages_record
 */
import { wordsTable } from './schema.ts';
import type { Rows, SqlValue, Statement } from './thread.ts';

/** The number of the row with the sums in the data of a table. */
const SUMS_ROW = 1;

/** Returns the statements that read the sums of a kind, and the lengths of some rows. @param rows their numbers, a list in JSON */
export const readSums = (kind: number, rows: string): readonly Statement[] => [
  [`SELECT hex(block) FROM ${wordsTable(kind)}_data WHERE id = ${SUMS_ROW}`],
  [`SELECT hex(sz) FROM ${wordsTable(kind)}_docsize WHERE id IN (SELECT value FROM json_each(?))`, rows],
];

/**
 * Subtracts rows from the sums. FTS5 reads the sums at the first change of the table in a transaction, and writes them at its
 * end, so these statements must come before any change.
 * @param sums in hexadecimal, as `readSums` gives them; likewise `lengths`
 */
export function takeOff(kind: number, sums: SqlValue | undefined, lengths: Rows): readonly Statement[] {
  const left = [...numbersOf(sums)];
  if (left.length === 0) return [];
  for (const [length] of lengths) {
    for (const [at, number] of [1, ...numbersOf(length)].entries()) left[at] = Math.max(0, (left[at] ?? 0) - number);
  }
  const block = Buffer.from(left.flatMap(bytesOf)).toString('hex');
  return [[`UPDATE ${wordsTable(kind)}_data SET block = unhex(?) WHERE id = ${SUMS_ROW}`, block]];
}

/** Reads numbers: groups of seven bits, the highest first. All but the last group of a number have the eighth bit set. */
function numbersOf(hex: SqlValue | undefined): readonly number[] {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of Buffer.from(String(hex ?? ''), 'hex')) {
    number = number * 128 + (byte & 127);
    if (byte >= 128) continue;
    numbers.push(number);
    number = 0;
  }
  return numbers;
}

function bytesOf(number: number): readonly number[] {
  const bytes = [number % 128];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest % 128) | 128);
  return bytes;
}
