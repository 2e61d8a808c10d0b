/** Reads the notes that `audit.anchor` made in another place: heads that the chain has had. */
import { type Link, MAX_LINE_BYTES } from './chain.ts';
import { linesOf } from './lines.ts';

/** The most heads that are kept, the latest ones: enough for a year with a note every minute. */
export const MAX_ANCHORS = 600_000;

/** A head that was noted. */
export interface Noted extends Link {
  /** When the note was made. */
  readonly time: string;
}

export interface Anchors {
  /** The heads by the numbers of their lines in the audit. */
  readonly heads: ReadonlyMap<number, Noted>;
  /** Lines that begin like a note but are not valid, and notes of another head for a line that was noted before. */
  readonly problems: readonly { readonly line: number; readonly problem: string }[];
}

const MAX_PROBLEMS = 100;

/** @param file has notes, perhaps between other lines, as on standard error. @throws the errors of the file system */
export async function readAnchors(file: string): Promise<Anchors> {
  const heads = new Map<number, Noted>();
  const problems: { line: number; problem: string }[] = [];
  let line = 0;
  const addProblem = (problem: string): void => {
    if (problems.length < MAX_PROBLEMS) problems.push({ line, problem });
  };
  const take = (text: string): void => {
    const noted = Buffer.byteLength(text) > MAX_LINE_BYTES ? undefined : parseNote(text);
    if (noted === undefined) {
      addProblem('not a note of a head');
      return;
    }
    const other = heads.get(noted.seq);
    if (other !== undefined && other.hash !== noted.hash)
      addProblem(`another head was noted for line ${noted.seq} of the audit before`);
    else heads.set(noted.seq, noted);
    for (const oldest of heads.keys()) {
      if (heads.size <= MAX_ANCHORS) break;
      heads.delete(oldest);
    }
  };
  for await (const { text } of linesOf(file)) {
    line++;
    // Programs that write over the last line of a terminal end it with a carriage return alone.
    for (const part of text.split('\r')) if (part.startsWith('{"anchor":')) take(part);
  }
  return { heads, problems };
}

function parseNote(text: string): Noted | undefined {
  try {
    const { anchor, time, seq, head } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const isNote =
      anchor === 1 &&
      typeof time === 'string' &&
      time.length <= 40 &&
      typeof seq === 'number' &&
      Number.isSafeInteger(seq) &&
      seq > 0 &&
      typeof head === 'string' &&
      /^[0-9a-f]{64}$/.test(head);
    return isNote ? { time, seq, hash: head } : undefined;
  } catch {
    return undefined;
  }
}
