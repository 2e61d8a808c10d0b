/** Records whose keys a peer has chosen. */

/**
 * The record without a prototype: a key that nobody sent is not there, whatever it is called (`constructor`, `toString`), and
 * `__proto__` is a key like others.
 */
export function keyed<T>(record: Readonly<Record<string, T>> | undefined): Record<string, T> {
  const own: Record<string, T> = Object.create(null);
  for (const [key, value] of Object.entries(record ?? {})) own[key] = value;
  return own;
}
