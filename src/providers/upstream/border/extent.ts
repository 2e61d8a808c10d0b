/** Measures JSON data without recursion, so that deeply nested data cannot overflow the stack. */

export interface Extent {
  /** Characters of all texts and names of fields, and one for each value. */
  readonly characters: number;
  /** Levels of nesting; 0 for a value that is neither object nor array. */
  readonly depth: number;
  /** The number of objects, arrays and other values. */
  readonly values: number;
}

/** Stops counting when a limit is passed; then at least one of the numbers is over its limit. */
export function extentOf(
  value: unknown,
  maxCharacters: number,
  maxDepth: number,
  maxValues = Number.POSITIVE_INFINITY,
): Extent {
  let characters = 0;
  let values = 0;
  let depth = 0;
  const pending: unknown[] = [value];
  /** The depth of each pending value. */
  const depths: number[] = [0];
  while (pending.length > 0) {
    const current = pending.pop();
    const at = depths.pop() ?? 0;
    values++;
    characters += typeof current === 'string' ? current.length + 1 : 1;
    depth = Math.max(depth, at);
    if (characters > maxCharacters || depth > maxDepth || values > maxValues) break;
    if (typeof current !== 'object' || current === null) continue;
    if (Array.isArray(current)) {
      for (const inner of current) {
        pending.push(inner);
        depths.push(at + 1);
      }
    } else {
      for (const name in current) {
        characters += name.length;
        pending.push((current as Readonly<Record<string, unknown>>)[name]);
        depths.push(at + 1);
      }
    }
  }
  return { characters, depth, values };
}
