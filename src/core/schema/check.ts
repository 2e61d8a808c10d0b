/**
 * Checks data against a JSON Schema of another server, with a limit on the work, because such a schema may be written so that
 * checking it takes forever. Some keywords are not supported: they leave open whether the data is valid. A problem that is
 * reported is always a real one.
 */

import { isDeepStrictEqual } from 'node:util';
import { type Data, isData } from '../../protocol/data.ts';

/** The most steps of one check. A visit of a subschema is a step, and so is a part of the work of a large keyword. */
export const MAX_STEPS = 100_000;

/** Names, entries or values that count as one step. */
const ENTRIES_PER_STEP = 16;

/** Characters that count as one step. */
const CHARACTERS_PER_STEP = 256;

/** The most levels of nested subschemas and references that are followed. */
const MAX_DEPTH = 128;

/** Keywords that do not constrain the data by themselves. `then` and `else` are checked with `if`. */
const IGNORED: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$defs', 'definitions', '$comment', '$anchor', '$vocabulary'],
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'format'],
  ...['then', 'else'],
]);

/** `open`: part of the schema could not be checked. `broken`: the problem and its place. */
type Verdict = 'valid' | 'open' | { readonly broken: string };

const VALID = 'valid';
const OPEN = 'open';
const isBroken = (verdict: Verdict): verdict is { readonly broken: string } => typeof verdict === 'object';

export interface SchemaCheck {
  /** The first problem that was found, with its place; undefined if none was found. */
  readonly problem: string | undefined;
  /** Whether the check stopped at its limit. */
  readonly gaveUp: boolean;
}

/** @param maxSteps default: `MAX_STEPS` */
export function checkAgainst(schema: unknown, data: unknown, maxSteps = MAX_STEPS): SchemaCheck {
  let steps = 0;
  let gaveUp = false;

  /** Counts work, and gives up when it exceeds the limit. */
  function spend(work: number): void {
    steps += Math.floor(work);
    gaveUp ||= steps > maxSteps;
  }

  function check(rule: unknown, value: unknown, at: string, depth: number): Verdict {
    if (rule === true) return VALID;
    if (rule === false) return broken(at, 'is not allowed');
    if (gaveUp || !isData(rule)) return OPEN;
    spend(1 + entriesOf(rule) / ENTRIES_PER_STEP);
    gaveUp ||= depth > MAX_DEPTH;
    if (gaveUp) return OPEN;
    let open = false;
    for (const [keyword, operand] of Object.entries(rule)) {
      const verdict = checkKeyword(keyword, operand, rule, value, at, depth + 1);
      if (isBroken(verdict)) return verdict;
      open ||= verdict === OPEN;
    }
    return open ? OPEN : VALID;
  }

  function checkKeyword(
    keyword: string,
    operand: unknown,
    rule: Data,
    value: unknown,
    at: string,
    depth: number,
  ): Verdict {
    if (IGNORED.has(keyword)) return VALID;
    spend(workOf(keyword, operand, value));
    if (gaveUp) return OPEN;
    switch (keyword) {
      case '$ref':
        return check(resolve(schema, operand), value, at, depth);
      case 'type':
        return isOfType(operand, value) ? VALID : broken(at, `is no ${[operand].flat().join(' or ')}`);
      case 'const':
        return isDeepStrictEqual(operand, value) ? VALID : broken(at, 'is not the value that it has to be');
      case 'enum':
        if (!Array.isArray(operand)) return OPEN;
        return operand.some((each) => isDeepStrictEqual(each, value)) ? VALID : broken(at, 'is none of its values');
      case 'required':
        return required(operand, value, at);
      case 'properties':
        return every(isData(operand) && isData(value) ? Object.entries(operand) : [], ([name, each]) =>
          Object.hasOwn(value as Data, name) ? check(each, (value as Data)[name], below(at, name), depth) : VALID,
        );
      case 'additionalProperties':
        return additional(operand, rule, value, at, depth);
      case 'items':
        return items(operand, rule, value, at, depth);
      case 'prefixItems':
        return every(Array.isArray(operand) && Array.isArray(value) ? operand.entries() : [], ([index, each]) =>
          index < (value as unknown[]).length
            ? check(each, (value as unknown[])[index], below(at, index), depth)
            : VALID,
        );
      case 'allOf':
        return every(Array.isArray(operand) ? operand : [], (each) => check(each, value, at, depth));
      case 'anyOf':
      case 'oneOf':
        return alternatives(keyword, operand, value, at, depth);
      case 'not': {
        const inner = check(operand, value, at, depth);
        return inner === VALID ? broken(at, 'is what it must not be') : isBroken(inner) ? VALID : OPEN;
      }
      case 'if': {
        const condition = check(operand, value, at, depth);
        if (condition === OPEN) return OPEN;
        const then = isBroken(condition) ? rule.else : rule.then;
        return then === undefined ? VALID : check(then, value, at, depth);
      }
      default:
        return bounded(keyword, operand, value, at);
    }
  }

  function additional(operand: unknown, rule: Data, value: unknown, at: string, depth: number): Verdict {
    if (!isData(value) || operand === true) return VALID;
    // Patterns are not supported, so it is unknown which names are additional.
    if (rule.patternProperties !== undefined) return OPEN;
    const properties = isData(rule.properties) ? rule.properties : {};
    return every(Object.keys(value), (name) => {
      steps++;
      return Object.hasOwn(properties, name) ? VALID : check(operand, value[name], below(at, name), depth);
    });
  }

  function items(operand: unknown, rule: Data, value: unknown, at: string, depth: number): Verdict {
    if (!Array.isArray(value)) return VALID;
    if (Array.isArray(operand)) return OPEN;
    const from = Array.isArray(rule.prefixItems) ? rule.prefixItems.length : 0;
    return every(value.entries(), ([index, each]) =>
      index < from ? VALID : check(operand, each, below(at, index), depth),
    );
  }

  function alternatives(keyword: string, operand: unknown, value: unknown, at: string, depth: number): Verdict {
    if (!Array.isArray(operand)) return OPEN;
    let valid = 0;
    let open = 0;
    for (const each of operand) {
      const verdict = check(each, value, at, depth);
      if (verdict === VALID) valid++;
      else if (verdict === OPEN) open++;
    }
    if (valid + open === 0) return broken(at, 'is none of what it may be');
    if (keyword === 'anyOf') return valid > 0 ? VALID : OPEN;
    if (valid > 1) return broken(at, 'is more than one of what it may be');
    return open === 0 ? VALID : OPEN;
  }

  /** Checks items one by one. Stops at the first broken one, and when the check gives up. */
  function every<T>(items: Iterable<T>, checkItem: (item: T) => Verdict): Verdict {
    let open = false;
    for (const item of items) {
      const verdict = checkItem(item);
      if (isBroken(verdict)) return verdict;
      if (gaveUp) return OPEN;
      open ||= verdict === OPEN;
    }
    return open ? OPEN : VALID;
  }

  const verdict = check(schema, data, '', 0);
  return { problem: isBroken(verdict) ? verdict.broken : undefined, gaveUp };
}

const broken = (at: string, problem: string): Verdict => ({ broken: at === '' ? `it ${problem}` : `${at} ${problem}` });

const below = (at: string, name: string | number): string => (at === '' ? String(name) : `${at}.${name}`);

/** Returns the work that a keyword takes besides visits of subschemas, in steps. */
function workOf(keyword: string, operand: unknown, value: unknown): number {
  switch (keyword) {
    case '$ref':
      return typeof operand === 'string' ? operand.length / CHARACTERS_PER_STEP : 0;
    case 'const':
      return sizeOf(operand) / ENTRIES_PER_STEP;
    case 'enum':
      return entriesOf(operand) + sizeOf(operand) / ENTRIES_PER_STEP;
    case 'minLength':
    case 'maxLength':
      return typeof value === 'string' ? value.length / CHARACTERS_PER_STEP : 0;
    case 'items':
    case 'minProperties':
    case 'maxProperties':
      return entriesOf(value) / ENTRIES_PER_STEP;
    default:
      return entriesOf(operand) / ENTRIES_PER_STEP;
  }
}

/** Counts the entries of a list or the fields of an object. */
function entriesOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isData(value) ? Object.keys(value).length : 0;
}

/** Counts the values in JSON data. A long text counts as several. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS_PER_STEP;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + sizeOf(each), 1);
}

function isOfType(operand: unknown, value: unknown): boolean {
  return [operand].flat().some((type) => {
    switch (type) {
      case 'object':
        return isData(value);
      case 'array':
        return Array.isArray(value);
      case 'null':
        return value === null;
      case 'integer':
        return typeof value === 'number' && Number.isInteger(value);
      case 'string':
      case 'number':
      case 'boolean':
        return typeof value === type;
      default:
        return true;
    }
  });
}

function required(operand: unknown, value: unknown, at: string): Verdict {
  if (!Array.isArray(operand) || !isData(value)) return VALID;
  const missing = operand.find((name) => typeof name === 'string' && !Object.hasOwn(value, name));
  return missing === undefined ? VALID : broken(below(at, String(missing)), 'is missing');
}

/** Checks a number, a length or a count against a keyword that limits it. */
function bounded(keyword: string, operand: unknown, value: unknown, at: string): Verdict {
  if (typeof operand !== 'number') return OPEN;
  const [measured, isGood] = measureOf(keyword, value, operand) ?? [undefined, undefined];
  if (isGood === undefined) return OPEN;
  return measured === undefined || isGood ? VALID : broken(at, `is not within ${keyword} ${operand}`);
}

function measureOf(keyword: string, value: unknown, bound: number): [number | undefined, boolean] | undefined {
  const number = typeof value === 'number' ? value : undefined;
  const length = () => (typeof value === 'string' ? charactersOf(value, bound + 1) : undefined);
  const entries = Array.isArray(value) ? value.length : undefined;
  const fields = () => (isData(value) ? entriesOf(value) : undefined);
  const least = (measured: number | undefined): [number | undefined, boolean] => [measured, (measured ?? 0) >= bound];
  const most = (measured: number | undefined): [number | undefined, boolean] => [measured, (measured ?? 0) <= bound];
  switch (keyword) {
    case 'minimum':
      return least(number);
    case 'maximum':
      return most(number);
    case 'exclusiveMinimum':
      return [number, (number ?? 0) > bound];
    case 'exclusiveMaximum':
      return [number, (number ?? 0) < bound];
    case 'minLength':
      return least(length());
    case 'maxLength':
      return most(length());
    case 'minItems':
      return least(entries);
    case 'maxItems':
      return most(entries);
    case 'minProperties':
      return least(fields());
    case 'maxProperties':
      return most(fields());
    default:
      return undefined;
  }
}

/** Counts the characters (code points) of a text, up to `most`. */
function charactersOf(text: string, most: number): number {
  let count = 0;
  for (let at = 0; at < text.length && count < most; count++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}

/** Resolves a reference within the schema; undefined for any other reference, which is not followed. */
function resolve(schema: unknown, reference: unknown): unknown {
  if (reference === '#') return schema;
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  let found: unknown = schema;
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Data)[name];
  }
  return found;
}
