/** Where a list goes on: no cursor is used twice, none is very long, and pages with nothing new in them are not asked for without end. */
import { cursorIn } from '../connection/results.ts';
import { invalidAnswer } from './errors.ts';
import type { Data } from './link.ts';

/** The longest cursor that is sent back, in UTF-16 units. */
const MAX_CURSOR = 65_536;

/** Pages in a row that have nothing new in them, after which a list ends. */
export const MAX_FRUITLESS_PAGES = 100;

export interface Cursors {
  /**
   * Where the list goes on after a page, or why it does not.
   * @param ids what tells the page's entries apart
   * @throws ResourceClientError `invalid-answer` for a cursor that is too long
   */
  after(page: Data, ids: readonly string[]): { readonly cursor: string } | { readonly stopped: CursorStop };
  /** Pages so far that had nothing new in them, though others came after them. */
  readonly fruitless: number;
}

export type CursorStop =
  /** The server has no more. */
  | 'end'
  /** The server gave a cursor that it had given before. */
  | 'repeated-cursor'
  /** Page after page had nothing new in it. */
  | 'no-progress';

export function createCursors(): Cursors {
  const used = new Set<number>();
  const seen = new Set<number>();
  let fruitless = 0;
  let inRow = 0;
  return {
    after(page, ids) {
      const before = seen.size;
      for (const id of ids) seen.add(markOf(id));
      const cursor = cursorIn(page);
      if (cursor === undefined) return { stopped: 'end' };
      if (cursor.length > MAX_CURSOR) throw invalidAnswer('The server sent a cursor that is too long');
      inRow = seen.size > before ? 0 : inRow + 1;
      if (inRow > 0) fruitless++;
      const mark = markOf(cursor);
      if (used.has(mark)) return { stopped: 'repeated-cursor' };
      used.add(mark);
      return inRow >= MAX_FRUITLESS_PAGES ? { stopped: 'no-progress' } : { cursor };
    },
    get fruitless() {
      return fruitless;
    },
  };
}

/** A number for a cursor or a URI, so that many long ones take little: 53 bits of its hash (two of FNV's kind, mixed). */
function markOf(text: string): number {
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
