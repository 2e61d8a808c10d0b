/** Merges the lines of several chains, such as those of workers or replicas, by the times in them. */
import { linesOf } from './lines.ts';
import { filesOf } from './verify.ts';

interface Head {
  readonly lines: AsyncIterator<{ readonly text: string }>;
  readonly file: string;
  readonly text: string;
  readonly time: string;
}

/**
 * Yields each line with the file of its chain. Lines of one chain stay in their order; of the next lines of all chains, the
 * oldest comes first.
 * @param chains the current file of each chain; its rotated files are read, too
 * @throws the error of the file system for a file that cannot be read
 */
export async function* mergeAudits(
  chains: readonly string[],
): AsyncIterable<{ readonly file: string; readonly text: string }> {
  const heads: Head[] = [];
  for (const file of chains) {
    const head = await nextOf(allLines(file)[Symbol.asyncIterator](), file, '');
    if (head !== undefined) heads.push(head);
  }
  while (heads.length > 0) {
    const at = heads.reduce((oldest, { time }, index) => (time < (heads[oldest]?.time ?? '') ? index : oldest), 0);
    const head = heads[at];
    if (head === undefined) return;
    yield { file: head.file, text: head.text };
    const next = await nextOf(head.lines, head.file, head.time);
    if (next === undefined) heads.splice(at, 1);
    else heads[at] = next;
  }
}

async function* allLines(chain: string): AsyncGenerator<{ readonly text: string }> {
  for (const file of await filesOf(chain)) yield* linesOf(file);
}

/** @param before the time of the line before, which a line without a time gets */
async function nextOf(lines: Head['lines'], file: string, before: string): Promise<Head | undefined> {
  const next = await lines.next();
  if (next.done === true) return undefined;
  const { text } = next.value;
  return { lines, file, text, time: /"time":"([^"]{20,30})"/.exec(text)?.[1] ?? before };
}
