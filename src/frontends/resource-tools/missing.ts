/**
 * Collects what is missing from the answer of a tool, and says it. A host that only calls tools does not see the `_meta` of lists, and
 * a model must not take a part for the whole.
 */
import { z } from 'zod';
import { type AnswerNotes, type MissingPart, nameOfPart } from '../../core/notes.ts';
import { oneLine } from './facts.ts';

/** The most missing parts that an answer names. */
const MAX_NAMED = 10;

export const missingOutput = z.array(z.object({ reason: z.string() })).optional();

export interface Missing {
  /** Notes for the context of the operations of which the answer is made. */
  readonly notes: AnswerNotes;
  /** The missing parts so far, each once. */
  parts(): readonly MissingPart[];
}

export function collectMissing(): Missing {
  const parts = new Map<string, MissingPart>();
  return {
    notes: {
      fresh() {},
      plain() {},
      passOn() {},
      missing({ mount, reason, entry }) {
        const key = JSON.stringify([mount, reason, entry]);
        if (parts.size < MAX_NAMED) parts.set(key, { mount, reason, entry });
        else if (!parts.has(key)) parts.set('', { reason: 'and more' });
      },
    },
    parts: () => [...parts.values()],
  };
}

/** Names the missing parts in one sentence; undefined if nothing is missing. */
export function sayMissing(parts: readonly MissingPart[]): string | undefined {
  if (parts.length === 0) return undefined;
  return `Missing: ${parts.map((part) => oneLine(nameOfPart(part))).join('; ')}.`;
}

/**
 * The last line of a page of a list.
 * @param count what the page has, such as `3 templates`; @param more the call for the next page; undefined on the last one
 */
export function endOfPage(count: string, parts: readonly MissingPart[], more: string | undefined): string {
  const missing = sayMissing(parts);
  const said = missing === undefined ? '' : ` ${missing}`;
  if (more !== undefined) return `${count} so far.${said} More: ${more}`;
  return missing === undefined ? `${count}. That is all.` : `${count}.${said}`;
}
