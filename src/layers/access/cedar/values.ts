/** Values of JSON as Cedar has them. What it has no place for is refused, or becomes something that no condition fits. */

/** What Cedar takes for more than data: with it a caller's arguments could claim to be somebody. */
const RESERVED: ReadonlySet<string> = new Set(['__entity', '__extn', '__expr']);

/** Levels of an argument; Cedar's own limit comes later, and is met in an error. */
export const MAX_ARGUMENT_DEPTH = 32;

export type CedarValue = boolean | number | string | CedarValue[] | { [key: string]: CedarValue };

/**
 * Arguments of a call. Lists become sets, whole numbers `Long`, other numbers texts, and what is `null` is left out.
 * @returns undefined where Cedar cannot hold them
 */
export function cedarArguments(given: Readonly<Record<string, unknown>>): CedarValue | undefined {
  try {
    return inCedar(given, 0);
  } catch (error) {
    if (error instanceof Inexpressible) return undefined;
    throw error;
  }
}

class Inexpressible extends Error {}

function inCedar(value: unknown, depth: number): CedarValue | undefined {
  if (depth > MAX_ARGUMENT_DEPTH) throw new Inexpressible();
  switch (typeof value) {
    case 'boolean':
    case 'string':
      return value;
    case 'number':
      return Number.isSafeInteger(value) ? value : String(value);
    case 'object':
      return value === null ? undefined : compound(value, depth);
    default:
      return undefined;
  }
}

function compound(value: object, depth: number): CedarValue {
  if (Array.isArray(value)) return value.map((each) => inCedar(each, depth + 1)).filter((each) => each !== undefined);
  const entries: [string, CedarValue][] = [];
  for (const [key, each] of Object.entries(value)) {
    if (RESERVED.has(key)) throw new Inexpressible();
    const own = inCedar(each, depth + 1);
    if (own !== undefined) entries.push([key, own]);
  }
  return Object.fromEntries(entries);
}
