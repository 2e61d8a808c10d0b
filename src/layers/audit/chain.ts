/**
 * Chains the lines of the audit. Each line has its number, the SHA-256 of the line before, and its own SHA-256 of everything
 * before it in the line. So a line that is changed, removed or moved leaves a trace, unless it is removed from the end.
 */
import { hash } from 'node:crypto';

/** A place in the chain: the number of a line and its SHA-256, in hex. */
export interface Link {
  readonly seq: number;
  readonly hash: string;
}

/** The link that the first line of a chain follows. */
export const BEGINNING: Link = { seq: 0, hash: '0'.repeat(64) };

/** The most bytes of a line that is read. Lines that Vitrine writes are far shorter. */
export const MAX_LINE_BYTES = 262_144;

/** A line of ASCII in two parts. The second part has the SHA-256 of the first. Both are written without joining them. */
export interface ChainedLine {
  readonly text: string;
  /** With the line feed. */
  readonly seal: string;
  readonly link: Link;
}

/** Makes the line that follows `before`. @param members of an object in JSON, without its braces, in ASCII; at least one */
export function chainLine(members: string, before: Link): ChainedLine {
  const seq = before.seq + 1;
  const text = `{"audit":1,"seq":${seq},"prev":"${before.hash}",${members}`;
  const ownHash = hash('sha256', text);
  return { text, seal: `,"hash":"${ownHash}"}\n`, link: { seq, hash: ownHash } };
}

/** A line that was read. */
export interface ReadLine {
  readonly link: Link;
  /** The hash of the line before, as this line gives it. */
  readonly prev: string;
  /** For lines about the file itself: `start`, `rotated`, `reopened`, `lost`, `end`. */
  readonly event: string | undefined;
  /** For `rotated` and `reopened`: the number of the oldest line that the server keeps, or kept until the file was changed. */
  readonly first: number | undefined;
  /** For `reopened`: what had happened to the file. */
  readonly why: string | undefined;
  /** Whether the line is as it was written: its own hash is right. */
  readonly intact: boolean;
}

const LINE = /^\{"audit":1,"seq":([1-9]\d{0,14}),"prev":"([0-9a-f]{64})",.*,"hash":"([0-9a-f]{64})"\}$/s;
const TAIL_LENGTH = ',"hash":""}'.length + 64;

/** Reads a line; undefined if it is not a line of an audit file. @param line without its line feed */
export function readLine(line: string): ReadLine | undefined {
  const [, seq, prev, ownHash] = LINE.exec(line) ?? [];
  if (seq === undefined || prev === undefined || ownHash === undefined) return undefined;
  const intact = hash('sha256', line.slice(0, -TAIL_LENGTH)) === ownHash;
  return { link: { seq: Number(seq), hash: ownHash }, prev, ...aboutFile(line), intact };
}

function aboutFile(line: string): Pick<ReadLine, 'event' | 'first' | 'why'> {
  try {
    const { event, first, why } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    return {
      event: typeof event === 'string' ? event : undefined,
      first: typeof event === 'string' && typeof first === 'number' ? first : undefined,
      why: typeof event === 'string' && typeof why === 'string' ? why : undefined,
    };
  } catch {
    return { event: undefined, first: undefined, why: undefined };
  }
}

const HEAD = /^\{"audit":1,"seq":(\d+),"prev":"([0-9a-f]{64})",/;

/** Takes a line apart, so that its members can follow another line. @param line as `chainLine` made it, without its line feed */
export function unchain(line: string): { readonly members: string; readonly before: Link } {
  const [head = '', seq, hash = ''] = HEAD.exec(line) ?? [];
  return { members: line.slice(head.length, -TAIL_LENGTH), before: { seq: Number(seq) - 1, hash } };
}
