/**
 * Saves work on objects that a provider gives again and again, such as the entries of a list that has not changed. With `keep`
 * the provider says that an object never changes, so that a pure function has to run only once for it.
 */

const kept = new WeakSet<object>();
const texts = new WeakMap<object, string>();

/** Freezes a value of plain data, all through, and marks it as one that will be given again. */
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
 * Returns the same function, but it runs only once for each kept object: later calls get the first result, which is kept, too.
 * For an object that is not kept it runs each time.
 * @param make depends on nothing but its argument and what never changes
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

/** The JSON of an object, as `JSON.stringify` writes it. The JSON of a kept entry in one of its lists is made only once. */
export function jsonOf(object: object): string {
  const entries = Object.entries(object);
  if (!entries.some(([, value]) => hasKept(value))) return JSON.stringify(object);
  const fields = entries.flatMap(([key, value]) => {
    const json = hasKept(value) ? `[${value.map(jsonOfEntry).join(',')}]` : JSON.stringify(value);
    // `JSON.stringify` also leaves out fields that JSON cannot express, such as `undefined`.
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
