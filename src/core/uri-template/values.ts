/** Turns the parts of a URI that the variables of a template matched into the values of these variables. */

import type { Capture } from './match.ts';
import type { Operator, VariableSpec } from './parse.ts';
import { decodeUnits, toUnits, type Units } from './percent.ts';

type Value = string | string[] | Record<string, string>;
/** A range of units. */
type Range = readonly [start: number, end: number];

/**
 * Returns the values by name, in an object without a prototype, so that `__proto__` is a name like any other. If a template
 * mentions a variable several times, the first mention without a prefix counts; if all have one, the mention that took most text.
 */
export function readCaptures(captures: readonly Capture[], units: Units): Record<string, Value> {
  const values: Record<string, Value> = Object.create(null);
  const prefixed = new Map<string, number>();
  for (const [i, capture] of captures.entries()) {
    const { spec, expression } = capture.variable;
    const length = prefixed.get(spec.name);
    const better = length !== undefined && (spec.prefix === undefined || capture.end - capture.start > length);
    if (Object.hasOwn(values, spec.name) && !better) continue;
    const alone = [captures[i - 1], captures[i + 1]].every((other) => other?.variable.expression !== expression);
    const value = readValue(spec, expression.operator, units, [capture.start, capture.end], alone);
    if (value === undefined) continue;
    values[spec.name] = value;
    if (spec.prefix === undefined) prefixed.delete(spec.name);
    else prefixed.set(spec.name, capture.end - capture.start);
  }
  return values;
}

function readValue(
  spec: VariableSpec,
  operator: Operator,
  units: Units,
  range: Range,
  alone: boolean,
): Value | undefined {
  const decode = ([start, end]: Range) => decodeUnits(units, start, end, operator.reserved);
  const name = operator.named ? toUnits(spec.name) : undefined;
  if (!spec.explode) {
    const value = name === undefined ? range : afterName(name, range);
    if (operator.reserved) return decode(value);
    const members = split(units, value, ',');
    return members.length === 1 ? decode(value) : members.map(decode);
  }
  if (range[0] === range[1] && operator.first === '' && alone) return undefined;
  if (name !== undefined) {
    const items = split(units, range, operator.separator);
    if (items.every((item) => isNamed(name, units, item))) return items.map((item) => decode(afterName(name, item)));
    return readPairs(items.map((item) => splitFirst(units, item, '=').map(decode)));
  }
  const sides = operator.reserved ? [range] : split(units, range, '=');
  if (sides.length === 1) return split(units, range, operator.separator).map(decode);
  return readPairs(regroup(units, sides, operator.separator).map((pair) => pair.map(decode)));
}

/**
 * Makes pairs of the texts between equals signs. Between two of them are a value, a separator and the next key. With the
 * operator `.`, a value may contain the separator too, so the text is split at the last one and keys contain none.
 */
function regroup(units: Units, sides: readonly Range[], separator: string): Range[][] {
  const flat = sides.flatMap((side, i): Range[] => {
    if (i === 0 || i === sides.length - 1) return [side];
    const at = split(units, side, separator).at(-1)?.[0] ?? side[1];
    return [
      [side[0], at - 1],
      [at, side[1]],
    ];
  });
  return flat.flatMap((key, i) => (i % 2 === 0 ? [[key, flat[i + 1] ?? [key[1], key[1]]]] : []));
}

function readPairs(pairs: readonly (readonly string[])[]): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (const [key = '', value = ''] of pairs) values[key] = value;
  return values;
}

/** Returns the ranges between raw separators. An encoded separator has another code and does not split. */
function split(units: Units, [start, end]: Range, separator: string): Range[] {
  const code = separator.charCodeAt(0);
  const ranges: Range[] = [];
  let from = start;
  for (let i = start; i < end; i++) {
    if (units.codes[i] !== code) continue;
    ranges.push([from, i]);
    from = i + 1;
  }
  return [...ranges, [from, end]];
}

function splitFirst(units: Units, range: Range, separator: string): Range[] {
  const [first] = split(units, range, separator);
  return first === undefined || first[1] === range[1] ? [range] : [first, [first[1] + 1, range[1]]];
}

/** Returns the range of the value in `name=value`, or an empty range if there is only a name. */
function afterName(name: Units, [start, end]: Range): Range {
  return [Math.min(start + name.length + 1, end), end];
}

function isNamed(name: Units, units: Units, item: Range): boolean {
  const [[start, end] = item] = splitFirst(units, item, '=');
  if (end - start !== name.length) return false;
  return name.codes.subarray(0, name.length).every((code, i) => code === units.codes[start + i]);
}
