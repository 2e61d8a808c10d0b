/** Values of JSON as Cedar has them. What it has no place for is refused, or becomes something that no condition fits. */

/** Keys that Cedar takes for more than data: with them a caller's arguments could claim to be somebody. */
const RESERVED: ReadonlySet<string> = new Set(['__entity', '__extn', '__expr']);

/** The most levels of an argument; Cedar's own limit comes later, and is met in an error. */
export const MAX_ARGUMENT_DEPTH = 32;

/** The most values in the arguments of one call: Cedar takes some microseconds for each, and nothing else runs meanwhile. */
export const MAX_ARGUMENT_VALUES = 2_000;

/** The most characters of all texts and names in them. */
export const MAX_ARGUMENT_CHARS = 524_288;

export type CedarValue = boolean | number | string | CedarValue[] | { [key: string]: CedarValue };

/**
 * Arguments of a call. Lists become sets, whole numbers `Long`, other numbers texts, and what is `null` is left out.
 * @returns undefined where Cedar cannot hold them
 */
export function cedarArguments(given: Readonly<Record<string, unknown>>): CedarValue | undefined {
  try {
    return inCedar(given, 0, { values: MAX_ARGUMENT_VALUES, chars: MAX_ARGUMENT_CHARS });
  } catch (error) {
    if (error instanceof Inexpressible) return undefined;
    throw error;
  }
}

/** How many values and characters the arguments may still have. */
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

/** A half of a character is none: what would stand for it may be another text. */
function textIn(text: string, room: Room): string {
  room.chars -= text.length;
  if (room.chars < 0 || !text.isWellFormed()) throw new Inexpressible();
  return text;
}

function compound(value: object, depth: number, room: Room): CedarValue {
  if (Array.isArray(value))
    return value.map((each) => inCedar(each, depth + 1, room)).filter((each) => each !== undefined);
  const entries: [string, CedarValue][] = [];
  for (const [key, each] of Object.entries(value)) {
    if (RESERVED.has(key)) throw new Inexpressible();
    const own = inCedar(each, depth + 1, room);
    if (own !== undefined) entries.push([textIn(key, room), own]);
  }
  return Object.fromEntries(entries);
}
