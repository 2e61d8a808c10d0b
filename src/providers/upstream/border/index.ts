/**
 * Checks the entries of another server's lists and answers, each by itself. An invalid entry is left out, and named in the
 * log and in the answer. In the others, common mistakes are corrected, and names and descriptions are cleaned.
 */

import { createHash } from 'node:crypto';
import type { Data } from '../../../connection/data.ts';
import { breaks } from '../../../core/breaks.ts';
import type { Context } from '../../../core/context.ts';
import { createLru } from '../../../core/lru.ts';
import { cleanText } from '../../../core/text/clean-text.ts';
import { cleanDescribed } from './described.ts';
import { extentOf } from './extent.ts';
import { mended } from './mend.ts';
import { type EntryKind, SCHEMAS } from './schemas.ts';

export type { EntryKind } from './schemas.ts';

/** The most characters, levels of nesting, and values of one entry of a list. */
const MAX_ENTRY_CHARACTERS = 1024 * 1024;
const MAX_ENTRY_DEPTH = 64;
const MAX_ENTRY_VALUES = 20_000;

/** The most contents, blocks or messages of one answer. An answer is sent on whole, whereas a list is cut into pages. */
const MAX_PARTS = 5_000;

/** The most entries of one answer that are named as missing; any others are only counted. */
const MAX_NAMED = 20;

/** The most characters of a name or a problem in a message. */
const MAX_SHOWN_LENGTH = 200;

/** The most entries that are remembered to have been logged, so that each is logged once. */
const MAX_LOGGED = 1_000;

/** Returns what else is wrong with an entry that is valid by itself; undefined if nothing is. */
export type Objection = (kind: EntryKind, entry: Data) => string | undefined | Promise<string | undefined>;

export interface Border {
  /** Returns the valid entries, and names the others in the log and the notes. @param also checks a valid entry further */
  keep(kind: EntryKind, entries: readonly unknown[], ctx: Context, also?: Objection): Promise<readonly Data[]>;
  /** Returns the entry if it is valid, else what is wrong with it. */
  look(kind: EntryKind, entry: unknown): Looked;
}

export type Looked = { readonly entry: Data } | { readonly problem: string };

/** @param mount the name of the server's mount */
export function createBorder(mount: string): Border {
  const logged = createLru<string, true>(MAX_LOGGED);

  function logOnce(kind: EntryKind, name: string, problem: string, ctx: Context): void {
    const mark = createHash('sha256')
      .update(JSON.stringify([kind, name, problem]))
      .digest('base64');
    if (logged.has(mark)) return;
    logged.set(mark, true);
    ctx.log.warn('an entry of a mounted server is left out', { mount, kind, entry: name, problem });
  }

  return {
    look,
    async keep(kind, entries, ctx, also) {
      const kept: Data[] = [];
      let lost = 0;
      const taken = breaks();
      const most = PARTS.has(kind) ? MAX_PARTS : entries.length;
      for (const [index, raw] of entries.slice(0, most).entries()) {
        const turn = taken();
        if (turn !== undefined) {
          await turn;
          ctx.signal.throwIfAborted();
        }
        const looked = look(kind, raw);
        const problem = 'problem' in looked ? looked.problem : await also?.(kind, raw as Data);
        if ('entry' in looked && problem === undefined) {
          kept.push(looked.entry);
          continue;
        }
        const name = nameIn(raw) ?? `number ${index + 1}`;
        logOnce(kind, name, problem ?? '', ctx);
        if (++lost > MAX_NAMED) continue;
        ctx.notes?.missing({ mount, reason: `A ${kind} is left out: ${problem}`, entry: name });
      }
      await taken.end();
      if (lost > MAX_NAMED) {
        ctx.notes?.missing({ mount, reason: `${lost - MAX_NAMED} more are left out; the server log names them` });
      }
      if (entries.length > most) {
        const reason = `${entries.length - most} of kind ${kind} are left out: an answer has at most ${most}`;
        logOnce(kind, `number ${most + 1}`, reason, ctx);
        ctx.notes?.missing({ mount, reason });
      }
      return kept;
    },
  };
}

function look(kind: EntryKind, raw: unknown): Looked {
  // The size of contents is limited where they are read; here only descriptions are limited.
  if (!PARTS.has(kind)) {
    const { characters, depth, values } = extentOf(raw, MAX_ENTRY_CHARACTERS, MAX_ENTRY_DEPTH, MAX_ENTRY_VALUES);
    if (depth > MAX_ENTRY_DEPTH) return { problem: `it is nested deeper than ${MAX_ENTRY_DEPTH} levels` };
    if (characters > MAX_ENTRY_CHARACTERS) return { problem: `it has more than ${MAX_ENTRY_CHARACTERS} characters` };
    if (values > MAX_ENTRY_VALUES) return { problem: `it has more than ${MAX_ENTRY_VALUES} values` };
  }
  const entry = mended(kind, raw);
  const { error } = SCHEMAS[kind].safeParse(entry);
  const issue = error?.issues[0];
  if (issue !== undefined) return { problem: shortText([issue.path.map(String).join('.'), issue.message]) };
  return { entry: kind === 'block' || kind === 'message' ? (entry as Data) : cleanDescribed(entry as Data) };
}

const PARTS: ReadonlySet<EntryKind> = new Set(['content', 'block', 'message']);

const shortText = (parts: readonly string[]): string =>
  cleanText(parts.filter((part) => part !== '').join(': '), MAX_SHOWN_LENGTH);

/** Returns the URI, template or name that the entry gives itself. */
function nameIn(raw: unknown): string | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined;
  const { uri, uriTemplate, name } = raw as Data;
  const found = [uri, uriTemplate, name].find((text) => typeof text === 'string' && text !== '');
  return typeof found === 'string' ? shortText([found]) : undefined;
}
