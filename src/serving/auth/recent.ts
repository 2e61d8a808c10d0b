/** A cache of recent results, bounded in time and in number. */

export interface Recent<V> {
  get(key: string): V | undefined;
  /** @param until milliseconds since 1970 at which the entry expires; an entry that has expired already is not kept */
  set(key: string, value: V, until: number): void;
  forget(key: string): void;
}

/** @param max the most entries; a new entry beyond it replaces the oldest */
export function createRecent<V>(max: number): Recent<V> {
  const entries = new Map<string, { readonly value: V; readonly until: number }>();
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (Date.now() < entry.until) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set(key, value, until) {
      if (until <= Date.now()) return;
      entries.delete(key);
      const [first] = entries.size >= max ? entries.keys() : [];
      if (first !== undefined) entries.delete(first);
      entries.set(key, { value, until });
    },
    forget: (key) => void entries.delete(key),
  };
}
