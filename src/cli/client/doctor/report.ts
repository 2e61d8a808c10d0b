/** Prints a diagnosis for people: what is wrong, the clause of the specification, what was observed, and what to do. */
import { implementationLines } from '../printing/implementation.ts';
import { type Output, safe } from '../printing/output.ts';
import { GROUPS, type Level } from './check.ts';
import type { CheckResult, Diagnosis } from './diagnose.ts';
import { type Era, LEGACY_VERSION, MODERN_VERSION } from './wire.ts';

/** The protocol revision that stands for each era in reports. */
export const REVISION: Readonly<Record<Era, string>> = { legacy: LEGACY_VERSION, modern: MODERN_VERSION };

/** The result of a check, shown once for both eras if it is the same in both. */
export interface MergedResult extends CheckResult {
  readonly eras: readonly Era[];
}

export interface ReportOptions {
  /** Whether to show passed checks, and those that do not apply, too. */
  readonly verbose: boolean;
  readonly label: string;
}

/** Writes a diagnosis as text: the server, its eras, the problems by group, and the counts. */
export function reportText(diagnosis: Diagnosis, { verbose, label }: ReportOptions, output: Output): string {
  const { server, transport, eras, results, errors, warnings, passed } = diagnosis;
  const name = [server.name, server.version].filter((part) => part !== undefined).join(' ');
  const lines = [
    `${output.paint('bold', safe(name === '' ? label : name))} over ${transport === 'http' ? 'HTTP' : 'stdio'}`,
  ];
  for (const [label, text] of implementationLines(server)) {
    if (text !== undefined) lines.push(`  ${label.toLowerCase()}: ${text}`);
  }
  for (const { era, version, refused } of eras) {
    lines.push(
      refused === undefined ? `  speaks ${safe(version ?? REVISION[era])}` : `  not ${REVISION[era]}: ${safe(refused)}`,
    );
  }
  for (const group of GROUPS) {
    const all = merged(results.filter((result) => result.group === group));
    const shown = verbose ? all : all.filter(({ status }) => status === 'problem');
    if (shown.length === 0) continue;
    lines.push('', output.paint('bold', group));
    for (const result of shown) lines.push(...linesOf(result, output));
  }
  const inapplicable = results.filter(({ status }) => status === 'not-applicable').length;
  lines.push(
    '',
    `${counted(errors, 'error')}, ${counted(warnings, 'warning')}; ${passed} passed, ${inapplicable} do not apply`,
  );
  return lines.join('\n');
}

/** Writes a number with its noun, as in `1 error` or `2 errors`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Merges equal results of the two eras, and lists the eras of each. */
export function merged(results: readonly CheckResult[]): readonly MergedResult[] {
  const list: MergedResult[] = [];
  for (const result of results) {
    const at = list.findIndex(
      (other) => other.id === result.id && other.status === result.status && other.saw.join() === result.saw.join(),
    );
    const same = list[at];
    if (same === undefined) list.push({ ...result, eras: [result.era] });
    else list[at] = { ...same, eras: [...same.eras, result.era] };
  }
  return list;
}

const STYLE: Readonly<Record<Level, 'red' | 'yellow'>> = { error: 'red', warning: 'yellow' };

function linesOf(result: MergedResult, output: Output): readonly string[] {
  const { id, status, level, title, clause, saw, count = 0, mend, eras } = result;
  const when = eras.map((era) => REVISION[era]).join(', ');
  if (status !== 'problem') {
    const word = status === 'ok' ? output.paint('green', 'ok'.padEnd(7)) : output.paint('dim', '-'.padEnd(7));
    const seen = saw.length === 0 ? '' : output.paint('dim', `: ${safe(saw.join('; '))}`);
    return [`  ${word}  ${id} (${when})${seen}`];
  }
  const indent = ' '.repeat(11);
  return [
    `  ${output.paint(STYLE[level], level.padEnd(7))}  ${output.paint('bold', id)} (${when}): ${title}`,
    ...saw.map((line) => `${indent}seen  ${safe(line)}`),
    ...(count > saw.length ? [`${indent}      and ${count - saw.length} more`] : []),
    ...(mend === undefined ? [] : [`${indent}do    ${mend}`]),
    `${indent}see   ${clause}`,
  ];
}
