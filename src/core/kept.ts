/**
 * Saves work on objects that a provider returns repeatedly, such as the entries of an unchanged list. With `keep` the
 * provider promises that an object never changes, so that a pure function has to run only once for it.
 */

const kept = new WeakSet<object>();
const texts = new WeakMap<object, string>();

/** Deeply freezes a value of plain data, and marks it as one that will be returned again. */
export function keep<T extends object>(value: T): T {
  freeze(value);
  kept.add(value);
  return value;
}

const isKept = (value: unknown): value is object => typeof value === 'object' && value !== null && kept.has(value);

function freeze(value: object): void {
  if (Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const key of Reflect.ownKeys(value)) {
    const each = (value as Readonly<Record<PropertyKey, unknown>>)[key];
    if (typeof each === 'object' && each !== null) freeze(each);
  }
}

/**
 * Returns the same function, but it runs only once for each kept object: later calls return the first result, which is
 * kept, too. For other objects it runs each time.
 * @param make depends only on its argument and on constants
 */
export function oncePerKept<T extends object>(make: (value: T) => T): (value: T) => T {
  const made = new WeakMap<T, T>();
  return (value) => {
    if (!isKept(value)) return make(value);
    const before = made.get(value);
    if (before !== undefined) return before;
    const result = make(value);
    made.set(value, result === value ? result : keep(result));
    return result;
  };
}

/** Writes an object as JSON, as `JSON.stringify` does, but only once for each kept entry in its lists. */
export function jsonOf(object: object): string {
  const entries = Object.entries(object);
  if (!entries.some(([, value]) => hasKept(value))) return JSON.stringify(object);
  const fields = entries.flatMap(([key, value]) => {
    const json = hasKept(value) ? `[${value.map(jsonOfEntry).join(',')}]` : JSON.stringify(value);
    // `JSON.stringify` leaves out fields that JSON cannot express, such as `undefined`.
    return json === undefined ? [] : `${JSON.stringify(key)}:${json}`;
  });
  return `{${fields.join(',')}}`;
}

const hasKept = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.some(isKept);

function jsonOfEntry(entry: unknown): string {
  if (!isKept(entry)) return JSON.stringify(entry) ?? 'null';
  const before = texts.get(entry);
  if (before !== undefined) return before;
  const text = JSON.stringify(entry);
  texts.set(entry, text);
  return text;
}
