/** Makes records safe whose keys a peer has chosen. */

/**
 * Returns a copy of the record without a prototype. It has only the keys that were sent, so looking up `constructor` or
 * `toString` finds nothing inherited, and `__proto__` is a key like any other.
 */
export function keyed<T>(record: Readonly<Record<string, T>> | undefined): Record<string, T> {
  const copy: Record<string, T> = Object.create(null);
  for (const [key, value] of Object.entries(record ?? {})) copy[key] = value;
  return copy;
}
