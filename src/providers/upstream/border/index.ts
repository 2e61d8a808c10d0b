/**
 * The border to another server: each entry that it lists or answers with is looked at alone. One that is not valid is
 * left out, and named in the log and in the answer; the others are as they came, with clean names and descriptions.
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

/** The most characters of one entry of a list, how deep its data may lie in each other, and how many values it may have. */
const MAX_ENTRY_CHARACTERS = 1024 * 1024;
const MAX_ENTRY_DEPTH = 64;
const MAX_ENTRY_VALUES = 20_000;

/** Contents, blocks or messages of one answer. They are sent on together, where lists are cut into pages. */
const MAX_PARTS = 5_000;

/** The most entries of one answer that are named as missing; the rest is counted. */
const MAX_NAMED = 20;

/** The most characters of a name that are told. */
const MAX_TOLD_LENGTH = 200;

/** The most entries that are remembered to have been logged, so that each is logged once. */
const MAX_LOGGED = 1_000;

/** Says what is wrong with an entry that is valid by itself; undefined where nothing is. */
export type Objection = (kind: EntryKind, entry: Data) => string | undefined | Promise<string | undefined>;

export interface Border {
  /** The entries that are valid. The others are named. @param also what else may be wrong with one */
  keep(kind: EntryKind, entries: readonly unknown[], ctx: Context, also?: Objection): Promise<readonly Data[]>;
  /** The entry where it is valid, else what is wrong with it. */
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
  // Contents are bounded where they are read: here it is what describes them.
  if (!PARTS.has(kind)) {
    const { characters, depth, values } = extentOf(raw, MAX_ENTRY_CHARACTERS, MAX_ENTRY_DEPTH, MAX_ENTRY_VALUES);
    if (depth > MAX_ENTRY_DEPTH) return { problem: `it is nested deeper than ${MAX_ENTRY_DEPTH} levels` };
    if (characters > MAX_ENTRY_CHARACTERS) return { problem: `it has more than ${MAX_ENTRY_CHARACTERS} characters` };
    if (values > MAX_ENTRY_VALUES) return { problem: `it has more than ${MAX_ENTRY_VALUES} values in it` };
  }
  const entry = mended(kind, raw);
  const { error } = SCHEMAS[kind].safeParse(entry);
  const issue = error?.issues[0];
  if (issue !== undefined) return { problem: told([issue.path.map(String).join('.'), issue.message]) };
  return { entry: kind === 'block' || kind === 'message' ? (entry as Data) : cleanDescribed(entry as Data) };
}

const PARTS: ReadonlySet<EntryKind> = new Set(['content', 'block', 'message']);

const told = (parts: readonly string[]): string =>
  cleanText(parts.filter((part) => part !== '').join(': '), MAX_TOLD_LENGTH);

/** Returns the URI, template or name that the entry gives itself. */
function nameIn(raw: unknown): string | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined;
  const { uri, uriTemplate, name } = raw as Data;
  const found = [uri, uriTemplate, name].find((each) => typeof each === 'string' && each !== '');
  return typeof found === 'string' ? told([found]) : undefined;
}
