/** Reads what `audit.anchor` noted elsewhere: heads that the chain has had. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Link } from './chain.ts';

/** Heads that are read, the latest ones: a year of them, one a minute. */
export const MAX_ANCHORS = 600_000;

export interface Noted extends Link {
  /** When it was the head. */
  readonly time: string;
}

export interface Anchors {
  /** By the number of the line. */
  readonly heads: ReadonlyMap<number, Noted>;
  /** Lines that begin as a note does, and are none; two notes that disagree about a line. */
  readonly problems: readonly { readonly line: number; readonly problem: string }[];
}

const MAX_PROBLEMS = 100;

/** @param file notes, perhaps between other lines, as on standard error. @throws what the file system says */
export async function readAnchors(file: string): Promise<Anchors> {
  const heads = new Map<number, Noted>();
  const problems: { line: number; problem: string }[] = [];
  let line = 0;
  const say = (problem: string): void => {
    if (problems.length < MAX_PROBLEMS) problems.push({ line, problem });
  };
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    line++;
    if (!text.startsWith('{"anchor":')) continue;
    const noted = parseNote(text);
    if (noted === undefined) {
      say('not a note of a head');
      continue;
    }
    const other = heads.get(noted.seq);
    if (other !== undefined && other.hash !== noted.hash)
      say(`another head was noted for line ${noted.seq} of the audit before`);
    else heads.set(noted.seq, noted);
    for (const oldest of heads.keys()) {
      if (heads.size <= MAX_ANCHORS) break;
      heads.delete(oldest);
    }
  }
  return { heads, problems };
}

function parseNote(text: string): Noted | undefined {
  try {
    const { anchor, time, seq, head } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const right =
      anchor === 1 &&
      typeof time === 'string' &&
      time.length <= 40 &&
      typeof seq === 'number' &&
      Number.isSafeInteger(seq) &&
      seq > 0 &&
      typeof head === 'string' &&
      /^[0-9a-f]{64}$/.test(head);
    return right ? { time, seq, hash: head } : undefined;
  } catch {
    return undefined;
  }
}
