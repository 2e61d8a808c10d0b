/** Leaves out fields that are undefined. A spread of such a field would replace a default. */

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the object without the fields whose value is undefined. */
export function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>;
}
