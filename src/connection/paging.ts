/** Lists of a server, a page at a time: no cursor is used twice, none is very long, and pages with nothing new come to an end. */
import type { Data } from './data.ts';
import { cursorIn, entriesIn } from './results.ts';

/** The longest cursor that is sent back, in UTF-16 units. */
const MAX_CURSOR = 65_536;

/** Pages in a row that have nothing new in them, after which a list ends. */
const MAX_FRUITLESS_PAGES = 100;

export type CursorStop =
  /** The server has no more. */
  | 'end'
  /** The server gave a cursor that it had given before. */
  | 'repeated-cursor'
  /** Page after page had nothing new in it. */
  | 'no-progress';

export interface PagedList<T> {
  ask(params: Data): Promise<Data>;
  /** The key of the entries in a result. */
  readonly field: string;
  /** Undefined for what cannot be one. */
  entryIn(entry: unknown): T | undefined;
  idOf(entry: T): string;
  readonly maxPages: number;
  /** An error for what the server sends instead of a list. */
  refusal(what: string): Error;
}

export interface EntriesPage<T> {
  readonly entries: readonly T[];
  /** Entries that are none. */
  readonly dropped: number;
  readonly result: Data;
  /** Why the list ends here; undefined where it goes on. */
  readonly stopped: CursorStop | undefined;
  /** Pages so far that had nothing new in them, though others came after them. */
  readonly fruitless: number;
}

/** The pages of one list, each asked for when it is wanted; after `maxPages` of them nothing says why it ends. */
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
    if (sent === undefined) throw list.refusal(`The answer of the server is no list of ${list.field}`);
    const entries = sent.flatMap((entry) => list.entryIn(entry) ?? []);
    const before = seen.size;
    for (const entry of entries) seen.add(markOf(list.idOf(entry)));
    cursor = cursorIn(result);
    const stopped = stopAt(cursor, seen.size > before);
    yield { entries, dropped: sent.length - entries.length, result, stopped, fruitless };
    if (stopped !== undefined) return;
  }
}

/** A number for a cursor or a URI, so that many long ones take little: 53 bits of its hash (two of FNV's kind, mixed). */
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
