/** JSON objects of peers. */

/** Any JSON object. */
export type Data = Readonly<Record<string, unknown>>;

export const isData = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the object without those of the named fields that are `null`. Some peers send `null` for an absent field. */
export function withoutNulls(value: Data, fields: readonly string[]): Data {
  const empty = new Set(fields.filter((field) => Object.hasOwn(value, field) && value[field] === null));
  return empty.size === 0 ? value : Object.fromEntries(Object.entries(value).filter(([field]) => !empty.has(field)));
}

/** Returns the object with one field changed, where it exists; the same object where nothing changes. */
export function changed(value: Data, field: string, change: (value: unknown) => unknown): Data {
  if (!Object.hasOwn(value, field)) return value;
  const now = change(value[field]);
  return now === value[field] ? value : { ...value, [field]: now };
}

/** Changes each entry of an array; returns any other value unchanged. */
export function eachOf(value: unknown, change: (each: unknown) => unknown): unknown {
  if (!Array.isArray(value)) return value;
  const now = value.map(change);
  return now.some((each, index) => each !== value[index]) ? now : value;
}
