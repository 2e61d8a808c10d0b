/** Compares a definition with the accepted one line by line, for people. Control and invisible characters are shown as escapes. */

import { canonicalJson } from '../core/fingerprint.ts';
import { showUnseen } from '../core/text/clean-text.ts';
import type { PinChange } from '../providers/upstream/index.ts';
import { compared } from './difference.ts';

type Data = Readonly<Record<string, unknown>>;

/** The most characters of a line. A longer line is wrapped, not cut: nobody should accept a text without seeing all of it. */
const LINE_LENGTH = 160;

/** Writes the difference of one definition: a line with its name, and the lines that differ. */
export function differenceOf(mount: string, { kind, name, before, now }: PinChange): readonly string[] {
  const status = before === undefined ? 'new' : now === undefined ? 'gone' : 'changed';
  const head = `${status}  ${mount}  ${kind === 'tools' ? 'tool' : 'prompt'} ${showUnseen(JSON.stringify(name))}`;
  const lines = compared(linesOf(before), linesOf(now));
  return [head, ...lines.map((line) => `  ${line}`), ''];
}

/** Writes the fields of a definition in order: texts as they are, all other values as JSON. */
function linesOf(definition: Data | undefined): readonly string[] {
  if (definition === undefined) return [];
  return Object.keys(definition)
    .sort()
    .flatMap((field) => {
      const value = definition[field];
      const text = typeof value === 'string' ? value : JSON.stringify(JSON.parse(canonicalJson(value)), undefined, 2);
      const lines = showUnseen(text).split('\n').flatMap(pieces);
      return [`${showUnseen(field)}:`, ...lines.map((line) => `  ${line}`)];
    });
}

const pieces = (line: string): readonly string[] => line.match(PIECE) ?? [''];
const PIECE = new RegExp(`.{1,${LINE_LENGTH}}`, 'gu');
