/** How much there is in JSON data, looked at without recursion: what is nested without end ends nothing here. */

export interface Extent {
  /** Characters of all texts and names of fields, and one for each value. */
  readonly characters: number;
  readonly depth: number;
  /** Objects, arrays and everything in them. */
  readonly values: number;
}

/** Stops counting where a bound is passed; then at least one of the numbers is over it. */
export function extentOf(
  value: unknown,
  maxCharacters: number,
  maxDepth: number,
  maxValues = Number.POSITIVE_INFINITY,
): Extent {
  let characters = 0;
  let values = 0;
  let depth = 0;
  const left: unknown[] = [value];
  /** How deep each of them lies. */
  const depths: number[] = [0];
  while (left.length > 0) {
    const each = left.pop();
    const at = depths.pop() ?? 0;
    values++;
    characters += typeof each === 'string' ? each.length + 1 : 1;
    depth = Math.max(depth, at);
    if (characters > maxCharacters || depth > maxDepth || values > maxValues) break;
    if (typeof each !== 'object' || each === null) continue;
    if (Array.isArray(each)) {
      for (const inner of each) {
        left.push(inner);
        depths.push(at + 1);
      }
    } else {
      for (const name in each) {
        characters += name.length;
        left.push((each as Readonly<Record<string, unknown>>)[name]);
        depths.push(at + 1);
      }
    }
  }
  return { characters, depth, values };
}
