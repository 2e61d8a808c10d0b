/** JSON objects as peers send them. */

/** Any JSON object. */
export type Data = Readonly<Record<string, unknown>>;

export const isData = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The same without those of the fields that are `null`, which stands for what is not there. */
export function withoutNulls(value: Data, fields: readonly string[]): Data {
  const empty = new Set(fields.filter((field) => Object.hasOwn(value, field) && value[field] === null));
  return empty.size === 0 ? value : Object.fromEntries(Object.entries(value).filter(([field]) => !empty.has(field)));
}

/** The same with one field changed, where it is there; the very same object where that changes nothing. */
export function changed(value: Data, field: string, change: (value: unknown) => unknown): Data {
  if (!Object.hasOwn(value, field)) return value;
  const now = change(value[field]);
  return now === value[field] ? value : { ...value, [field]: now };
}

/** Likewise for each entry of an array; what is none is left as it is. */
export function eachOf(value: unknown, change: (each: unknown) => unknown): unknown {
  if (!Array.isArray(value)) return value;
  const now = value.map(change);
  return now.some((each, index) => each !== value[index]) ? now : value;
}
