/**
 * Reads lists of a server page by page. It rejects very long cursors, and stops at a repeated cursor, or after many pages without
 * new entries.
 */
import type { Data } from './data.ts';
import { cursorIn, entriesIn } from './results.ts';

/** The most UTF-16 units of a cursor that is sent back. */
const MAX_CURSOR = 65_536;

/** A list ends after this many pages in a row without a new entry. */
const MAX_FRUITLESS_PAGES = 100;

export type CursorStop =
  /** The server has no further page. */
  | 'end'
  /** The server repeated a cursor. */
  | 'repeated-cursor'
  /** Too many pages in a row had no new entry. */
  | 'no-progress';

export interface PagedList<T> {
  ask(params: Data): Promise<Data>;
  /** The key of the entries in a result. */
  readonly field: string;
  /** Undefined for an invalid entry. */
  entryIn(entry: unknown): T | undefined;
  idOf(entry: T): string;
  readonly maxPages: number;
  /** Makes the error for a result that is not a list. */
  refusal(what: string): Error;
}

export interface EntriesPage<T> {
  readonly entries: readonly T[];
  /** The number of invalid entries. */
  readonly dropped: number;
  readonly result: Data;
  /** The reason why the list ends here; undefined where it goes on. */
  readonly stopped: CursorStop | undefined;
  /** The number of pages so far without a new entry. */
  readonly fruitless: number;
}

/** Requests the pages of one list as they are needed. After `maxPages` pages it ends, without `stopped`. */
export async function* pagesIn<T>(list: PagedList<T>): AsyncGenerator<EntriesPage<T>, void, undefined> {
  const used = new Set<number>();
  const seen = new Set<number>();
  let cursor: string | undefined;
  let fruitless = 0;
  let inRow = 0;
  function stopAt(next: string | undefined, hasNew: boolean): CursorStop | undefined {
    if (next === undefined) return 'end';
    if (next.length > MAX_CURSOR) throw list.refusal('The server sent a cursor that is too long');
    inRow = hasNew ? 0 : inRow + 1;
    if (!hasNew) fruitless++;
    const mark = markOf(next);
    if (used.has(mark)) return 'repeated-cursor';
    used.add(mark);
    return inRow >= MAX_FRUITLESS_PAGES ? 'no-progress' : undefined;
  }
  for (let page = 0; page < list.maxPages; page++) {
    const result = await list.ask(cursor === undefined ? {} : { cursor });
    const sent = entriesIn(result, list.field);
    if (sent === undefined) throw list.refusal(`The server's answer is not a list of ${list.field}`);
    const entries = sent.flatMap((entry) => list.entryIn(entry) ?? []);
    const before = seen.size;
    for (const entry of entries) seen.add(markOf(list.idOf(entry)));
    cursor = cursorIn(result);
    const stopped = stopAt(cursor, seen.size > before);
    yield { entries, dropped: sent.length - entries.length, result, stopped, fruitless };
    if (stopped !== undefined) return;
  }
}

/** Returns a small number for a cursor or URI, to save memory: 53 bits of its hash (two FNV-like hashes, mixed). */
export function markOf(text: string): number {
  let low = 0xdeadbeef ^ text.length;
  let high = 0x41c6ce57 ^ text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x9e3779b1);
    high = Math.imul(high ^ unit, 0x5f356495);
  }
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}
