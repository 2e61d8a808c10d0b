/**
 * Whether data is what a JSON Schema of another server says, within a bound on the work: such a schema may be written so
 * that checking it takes for ever. Keywords that are not looked at leave open whether the data is valid; what is said to be
 * broken is.
 */

import { isDeepStrictEqual } from 'node:util';
import { type Data, isData } from '../../protocol/data.ts';

/** Schemas that are looked at for one check, each as often as it is come to. */
export const MAX_STEPS = 100_000;

/** How deep data and schemas may lead. */
const MAX_DEPTH = 128;

/** Keywords that say nothing about the data, or are looked at where others are. */
const SILENT: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$defs', 'definitions', '$comment', '$anchor', '$vocabulary'],
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'format'],
  ...['then', 'else'],
]);

/** `broken`: with where; `open`: not everything could be looked at. */
type Verdict = 'valid' | 'open' | { readonly broken: string };

const VALID = 'valid';
const OPEN = 'open';
const isBroken = (verdict: Verdict): verdict is { readonly broken: string } => typeof verdict === 'object';

export interface SchemaCheck {
  /** The first place at which the data breaks the schema, and how; undefined if none is found. */
  readonly problem: string | undefined;
  /** The work was not done to its end. */
  readonly gaveUp: boolean;
}

export function checkAgainst(schema: unknown, data: unknown, maxSteps = MAX_STEPS): SchemaCheck {
  let steps = 0;
  let gaveUp = false;

  function look(rule: unknown, value: unknown, at: string, depth: number): Verdict {
    if (rule === true) return VALID;
    if (rule === false) return broken(at, 'is not allowed');
    if (gaveUp || !isData(rule)) return OPEN;
    if (++steps > maxSteps || depth > MAX_DEPTH) {
      gaveUp = true;
      return OPEN;
    }
    let open = false;
    for (const [keyword, said] of Object.entries(rule)) {
      const verdict = lookAt(keyword, said, rule, value, at, depth + 1);
      if (isBroken(verdict)) return verdict;
      open ||= verdict === OPEN;
    }
    return open ? OPEN : VALID;
  }

  function lookAt(keyword: string, said: unknown, rule: Data, value: unknown, at: string, depth: number): Verdict {
    if (SILENT.has(keyword)) return VALID;
    switch (keyword) {
      case '$ref':
        return look(resolve(schema, said), value, at, depth);
      case 'type':
        return isOfType(said, value) ? VALID : broken(at, `is no ${[said].flat().join(' or ')}`);
      case 'const':
        return isDeepStrictEqual(said, value) ? VALID : broken(at, 'is not the value that it has to be');
      case 'enum':
        if (!Array.isArray(said)) return OPEN;
        steps += said.length;
        return said.some((each) => isDeepStrictEqual(each, value)) ? VALID : broken(at, 'is none of its values');
      case 'required':
        return required(said, value, at);
      case 'properties':
        return every(isData(said) && isData(value) ? Object.entries(said) : [], ([name, each]) =>
          Object.hasOwn(value as Data, name) ? look(each, (value as Data)[name], below(at, name), depth) : VALID,
        );
      case 'additionalProperties':
        return additional(said, rule, value, at, depth);
      case 'items':
        return items(said, rule, value, at, depth);
      case 'prefixItems':
        return every(Array.isArray(said) && Array.isArray(value) ? said.entries() : [], ([index, each]) =>
          index < (value as unknown[]).length
            ? look(each, (value as unknown[])[index], below(at, index), depth)
            : VALID,
        );
      case 'allOf':
        return every(Array.isArray(said) ? said : [], (each) => look(each, value, at, depth));
      case 'anyOf':
      case 'oneOf':
        return alternatives(keyword, said, value, at, depth);
      case 'not': {
        const inner = look(said, value, at, depth);
        return inner === VALID ? broken(at, 'is what it must not be') : isBroken(inner) ? VALID : OPEN;
      }
      case 'if': {
        const condition = look(said, value, at, depth);
        if (condition === OPEN) return OPEN;
        const then = isBroken(condition) ? rule.else : rule.then;
        return then === undefined ? VALID : look(then, value, at, depth);
      }
      default:
        return bounded(keyword, said, value, at);
    }
  }

  function additional(said: unknown, rule: Data, value: unknown, at: string, depth: number): Verdict {
    if (!isData(value) || said === true) return VALID;
    // Which names a pattern takes is not looked at.
    if (rule.patternProperties !== undefined) return OPEN;
    const known = isData(rule.properties) ? rule.properties : {};
    return every(Object.keys(value), (name) => {
      steps++;
      return Object.hasOwn(known, name) ? VALID : look(said, value[name], below(at, name), depth);
    });
  }

  function items(said: unknown, rule: Data, value: unknown, at: string, depth: number): Verdict {
    if (!Array.isArray(value)) return VALID;
    if (Array.isArray(said)) return OPEN;
    const from = Array.isArray(rule.prefixItems) ? rule.prefixItems.length : 0;
    return every(value.entries(), ([index, each]) =>
      index < from ? VALID : look(said, each, below(at, index), depth),
    );
  }

  function alternatives(keyword: string, said: unknown, value: unknown, at: string, depth: number): Verdict {
    if (!Array.isArray(said)) return OPEN;
    let valid = 0;
    let open = 0;
    for (const each of said) {
      const verdict = look(each, value, at, depth);
      if (verdict === VALID) valid++;
      else if (verdict === OPEN) open++;
    }
    if (valid + open === 0) return broken(at, 'is none of what it may be');
    if (keyword === 'anyOf') return valid > 0 ? VALID : OPEN;
    if (valid > 1) return broken(at, 'is more than one of what it may be');
    return open === 0 ? VALID : OPEN;
  }

  /** Stops at the first that is broken, and where the work is not done any further. */
  function every<T>(all: Iterable<T>, each: (one: T) => Verdict): Verdict {
    let open = false;
    for (const one of all) {
      const verdict = each(one);
      if (isBroken(verdict)) return verdict;
      if (gaveUp) return OPEN;
      open ||= verdict === OPEN;
    }
    return open ? OPEN : VALID;
  }

  const verdict = look(schema, data, '', 0);
  return { problem: isBroken(verdict) ? verdict.broken : undefined, gaveUp };
}

const broken = (at: string, problem: string): Verdict => ({ broken: at === '' ? `it ${problem}` : `${at} ${problem}` });

const below = (at: string, name: string | number): string => (at === '' ? String(name) : `${at}.${name}`);

function isOfType(said: unknown, value: unknown): boolean {
  return [said].flat().some((type) => {
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

function required(said: unknown, value: unknown, at: string): Verdict {
  if (!Array.isArray(said) || !isData(value)) return VALID;
  const missing = said.find((name) => typeof name === 'string' && !Object.hasOwn(value, name));
  return missing === undefined ? VALID : broken(below(at, String(missing)), 'is missing');
}

/** Checks a number, a length or a count against a keyword that bounds it. */
function bounded(keyword: string, said: unknown, value: unknown, at: string): Verdict {
  if (typeof said !== 'number') return OPEN;
  const [measured, isGood] = measureOf(keyword, value, said) ?? [undefined, undefined];
  if (isGood === undefined) return OPEN;
  return measured === undefined || isGood ? VALID : broken(at, `is not within ${keyword} ${said}`);
}

function measureOf(keyword: string, value: unknown, bound: number): [number | undefined, boolean] | undefined {
  const number = typeof value === 'number' ? value : undefined;
  const length = typeof value === 'string' ? [...value.slice(0, 2 * bound + 2)].length : undefined;
  const entries = Array.isArray(value) ? value.length : undefined;
  const fields = isData(value) ? Object.keys(value).length : undefined;
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
      return least(length);
    case 'maxLength':
      return most(length);
    case 'minItems':
      return least(entries);
    case 'maxItems':
      return most(entries);
    case 'minProperties':
      return least(fields);
    case 'maxProperties':
      return most(fields);
    default:
      return undefined;
  }
}

/** Returns what a reference within the schema leads to; undefined for other references, which are not followed. */
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
