/**
 * Objects that are given again and again, as the entries of a list are while nothing has changed. A provider that gives
 * the same frozen object says by `keep` that it will never be another: what is a pure function of it is made once.
 */

const kept = new WeakSet<object>();
const texts = new WeakMap<object, string>();

/** Freezes a value of plain data, all through, and says that it will be given again. */
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
 * The same function, which makes something of each kept object once, and gives that again: it is kept, too. Of what is
 * not kept it is made each time.
 * @param make depends on nothing but what it takes and what never changes
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

/** The JSON of an object, as `JSON.stringify` writes it. What is kept, and stands in a list in it, is written once. */
export function jsonOf(object: object): string {
  const entries = Object.entries(object);
  if (!entries.some(([, value]) => hasKept(value))) return JSON.stringify(object);
  const fields = entries.flatMap(([key, value]) => {
    const json = hasKept(value) ? `[${value.map(jsonOfEntry).join(',')}]` : JSON.stringify(value);
    // As `JSON.stringify` leaves out what JSON has no word for.
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
