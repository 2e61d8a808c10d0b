/** Compares two texts, line by line. */

/** The most pairs of lines that are compared; with more, all old lines are shown before all new ones. */
const MAX_COMPARED = 1_000_000;

/** Unchanged lines that are shown before and after a difference. */
const AROUND = 2;

/** Returns removed lines with `-`, added lines with `+`, and a few unchanged lines around them. */
export function compared(before: readonly string[], now: readonly string[]): readonly string[] {
  const all = merged(before, now);
  const near = (index: number): boolean =>
    all.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(([mark]) => mark !== ' ');
  const lines: string[] = [];
  let skipped = false;
  for (const [index, [mark, line]] of all.entries()) {
    if (mark !== ' ' || near(index)) {
      if (skipped) lines.push('  …');
      lines.push(`${mark} ${line}`);
      skipped = false;
    } else skipped = true;
  }
  return lines;
}

type Marked = readonly [mark: ' ' | '-' | '+', line: string];

/** Merges the texts. Unchanged lines are their common beginning and end, and in between the longest common subsequence. */
function merged(before: readonly string[], now: readonly string[]): readonly Marked[] {
  let start = 0;
  while (start < before.length && start < now.length && before[start] === now[start]) start++;
  let end = 0;
  while (end < before.length - start && end < now.length - start && before.at(-1 - end) === now.at(-1 - end)) end++;
  const same = (lines: readonly string[]): Marked[] => lines.map((line) => [' ', line]);
  const [a, b] = [before.slice(start, before.length - end), now.slice(start, now.length - end)];
  return [...same(before.slice(0, start)), ...between(a, b), ...same(before.slice(before.length - end))];
}

function between(a: readonly string[], b: readonly string[]): readonly Marked[] {
  if (a.length * b.length > MAX_COMPARED) {
    return [...a.map((line): Marked => ['-', line]), ...b.map((line): Marked => ['+', line])];
  }
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Marked[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([' ', a[i] ?? '']);
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) lines.push(['-', a[i++] ?? '']);
    else lines.push(['+', b[j++] ?? '']);
  }
  return lines;
}
