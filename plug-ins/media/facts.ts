/** Writes facts about pictures, sounds and films as JSON and as Markdown. */
import { addTable, type Conversion, createOutput, heading, type Output } from 'vitrine/plug-in';

/** A fact. Undefined and empty facts are left out. */
export type Fact = string | number | boolean | undefined | readonly Fact[] | Facts;

export interface Facts {
  readonly [name: string]: Fact;
}

/** @throws ResourceError `too-large` */
export function factsText(title: string, facts: Facts, conversion: Conversion): string {
  const output = createOutput(conversion);
  const known = withoutNothing(facts) as Facts | undefined;
  if (conversion.to === 'application/json') output.add(`${JSON.stringify(known ?? {}, undefined, 2)}\n`);
  else addSection(output, 1, title, known ?? {});
  return output.text();
}

/** Adds a table of the single facts, and a section for each list of things that have several facts each. */
function addSection(output: Output, level: number, title: string, facts: Facts): void {
  output.add(heading(level, title));
  const rows: string[][] = [];
  const lists: [string, readonly Facts[]][] = [];
  for (const [name, fact] of Object.entries(facts)) {
    if (isList(fact)) lists.push([name, fact]);
    else if (isFacts(fact)) {
      for (const [inner, each] of Object.entries(fact)) rows.push([`${labelOf(name)}: ${words(inner)}`, textOf(each)]);
    } else rows.push([labelOf(name), textOf(fact)]);
  }
  if (rows.length > 0) addTable(output, [['Property', 'Value'], ...rows]);
  for (const [name, list] of lists) {
    const columns = [...new Set(list.flatMap(Object.keys))];
    output.add(`\n${heading(level + 1, labelOf(name))}`);
    addTable(output, [columns.map(labelOf), ...list.map((each) => columns.map((column) => textOf(each[column])))]);
  }
}

const isFacts = (fact: Fact): fact is Facts => typeof fact === 'object' && !Array.isArray(fact);

const isList = (fact: Fact): fact is readonly Facts[] => Array.isArray(fact) && fact.every(isFacts);

function textOf(fact: Fact): string {
  if (fact === undefined) return '';
  if (Array.isArray(fact)) return fact.map(textOf).join(', ');
  if (isFacts(fact))
    return Object.entries(fact)
      .map(([name, each]) => `${words(name)} ${textOf(each)}`)
      .join(', ');
  return typeof fact === 'boolean' ? (fact ? 'yes' : 'no') : String(fact);
}

/** `takenAt` as `taken at`, `durationSeconds` as `duration (seconds)`. */
const words = (name: string): string =>
  name
    .replace(/(?<=[a-z])(?:Seconds|Hertz|Metres|Millimetres)$/, (unit) => ` (${unit.toLowerCase()})`)
    .replace(/(?<=[a-z])[A-Z](?=[a-z])/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll('_', ' ');

const labelOf = (name: string): string => name.charAt(0).toUpperCase() + words(name).slice(1);

/** Control characters, such as the zero at the end of a text in a binary file. */
const UNSEEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** Removes empty texts, empty lists and invalid numbers, which many files have. */
function withoutNothing(fact: Fact): Fact {
  if (typeof fact === 'string') return fact.replace(UNSEEN, '').trim() || undefined;
  if (typeof fact === 'number') return Number.isFinite(fact) ? fact : undefined;
  if (typeof fact !== 'object') return fact;
  if (isFacts(fact)) {
    const entries = Object.entries(fact).map(([name, each]) => [name, withoutNothing(each)] as const);
    const known = entries.filter(([, each]) => each !== undefined);
    return known.length === 0 ? undefined : Object.fromEntries(known);
  }
  const known = fact.map(withoutNothing).filter((each) => each !== undefined);
  return known.length === 0 ? undefined : known;
}
