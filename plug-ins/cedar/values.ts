/** Converts values of JSON to values of Cedar. A value that Cedar cannot hold is refused, left out, or becomes a text. */

/** Keys with a meaning in Cedar's JSON: with them, the arguments of a caller could pose as an entity. */
const RESERVED: ReadonlySet<string> = new Set(['__entity', '__extn', '__expr']);

/** The most levels of an argument. Cedar has a higher limit of its own, and fails beyond it. */
export const MAX_ARGUMENT_DEPTH = 32;

/** The most values in the arguments of one call: Cedar takes some microseconds for each, and nothing else runs meanwhile. */
export const MAX_ARGUMENT_VALUES = 2_000;

/** The most characters of all texts and names in the arguments of one call. */
export const MAX_ARGUMENT_CHARS = 524_288;

/** A value in Cedar's JSON. */
export type CedarValue = boolean | number | string | CedarValue[] | { [key: string]: CedarValue };

/**
 * Converts the arguments of a call. Lists become sets, whole numbers `Long`, other numbers texts; `null` is left out.
 * @returns undefined for arguments that Cedar cannot hold
 */
export function cedarArguments(given: Readonly<Record<string, unknown>>): CedarValue | undefined {
  try {
    return inCedar(given, 0, { values: MAX_ARGUMENT_VALUES, chars: MAX_ARGUMENT_CHARS });
  } catch (error) {
    if (error instanceof Inexpressible) return undefined;
    throw error;
  }
}

/** Counts down the values and characters that the arguments may still have. */
interface Room {
  values: number;
  chars: number;
}

class Inexpressible extends Error {}

function inCedar(value: unknown, depth: number, room: Room): CedarValue | undefined {
  if (depth > MAX_ARGUMENT_DEPTH || --room.values < 0) throw new Inexpressible();
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return textIn(value, room);
    case 'number':
      return Number.isSafeInteger(value) ? value : String(value);
    case 'object':
      return value === null ? undefined : compound(value, depth, room);
    default:
      return undefined;
  }
}

/**
 * Counts a text, and refuses one with half a surrogate pair. Cedar would get a replacement character instead of that half, so two
 * different texts could be the same for a policy.
 */
function textIn(text: string, room: Room): string {
  room.chars -= text.length;
  if (room.chars < 0 || !text.isWellFormed()) throw new Inexpressible();
  return text;
}

function compound(value: object, depth: number, room: Room): CedarValue {
  if (Array.isArray(value))
    return value.map((item) => inCedar(item, depth + 1, room)).filter((item) => item !== undefined);
  const entries: [string, CedarValue][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (RESERVED.has(key)) throw new Inexpressible();
    const converted = inCedar(member, depth + 1, room);
    if (converted !== undefined) entries.push([textIn(key, room), converted]);
  }
  return Object.fromEntries(entries);
}
