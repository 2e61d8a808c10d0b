/** Reads commits from the objects of a repository. */
import { LRUCache } from 'lru-cache';
import { ResourceError } from '../../core/errors.ts';
import { isHash } from './address.ts';
import { gitFailed } from './command.ts';
import type { Objects } from './objects.ts';

export interface Signature {
  readonly name: string;
  readonly email: string;
  /** ISO 8601; undefined if the commit has no valid date. */
  readonly date: string | undefined;
}

export interface Commit {
  readonly oid: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  /** The first line. */
  readonly subject: string;
  /** The text after the first line. */
  readonly body: string;
}

export interface Commits {
  /** @throws ResourceError `unavailable` if the commit is missing or damaged, `too-large` */
  read(oid: string, signal: AbortSignal): Promise<Commit>;
  clear(): void;
}

/** The most bytes of one commit object. */
const MAX_COMMIT_BYTES = 1_048_576;

/** The most characters of the commits that are kept in memory. */
const CACHE_CHARACTERS = 4 * 1024 * 1024;

export function createCommits(objects: Objects): Commits {
  const cache = new LRUCache<string, Commit>({
    maxSize: CACHE_CHARACTERS,
    sizeCalculation: ({ subject, body, parents }) => subject.length + body.length + 41 * parents.length + 512,
  });
  return {
    async read(oid, signal) {
      const cached = cache.get(oid);
      if (cached !== undefined) return cached;
      const content = await objects.content(oid, MAX_COMMIT_BYTES, signal);
      if (content?.type !== 'commit') throw gitFailed('a commit is missing');
      if (content.bytes === undefined)
        throw new ResourceError('too-large', `The commit has more than ${MAX_COMMIT_BYTES} bytes`);
      const commit = parseCommit(oid, content.bytes);
      cache.set(oid, commit);
      return commit;
    },
    clear: () => cache.clear(),
  };
}

/** Parses a commit object. @throws ResourceError `unavailable` for bytes that are not a commit */
export function parseCommit(oid: string, bytes: Buffer): Commit {
  const end = bytes.indexOf('\n\n');
  const head = bytes.toString('latin1', 0, end === -1 ? undefined : end).split('\n');
  const values = (key: string): string[] =>
    head.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  const [tree = ''] = values('tree');
  if (!isHash(tree)) throw gitFailed('a commit is damaged');
  const decode = decoderOf(values('encoding')[0]);
  const message =
    end === -1
      ? ''
      : decode(bytes.subarray(end + 2))
          .replaceAll('\0', '\ufffd')
          .trim();
  const first = message.indexOf('\n');
  const signature = (key: string): Signature =>
    parseSignature(decode(Buffer.from(values(key)[0] ?? '', 'latin1')).replaceAll('\0', '\ufffd'));
  return {
    oid,
    tree,
    parents: values('parent').filter(isHash),
    author: signature('author'),
    committer: signature('committer'),
    subject: (first === -1 ? message : message.slice(0, first)).trim(),
    body: first === -1 ? '' : message.slice(first + 1).trim(),
  };
}

function decoderOf(encoding: string | undefined): (bytes: Buffer) => string {
  try {
    const decoder = new TextDecoder(encoding ?? 'utf-8');
    return (bytes) => decoder.decode(bytes);
  } catch {
    return (bytes) => bytes.toString('utf8');
  }
}

/** The last second of the year 9999, the last one that ISO 8601 writes with four digits. */
const LAST_SECOND = 253_402_300_799;

/** The most characters of an author's or committer's line that are parsed. A hostile commit may have a million of them. */
const MAX_SIGNATURE = 4_096;

/** Parses a name, address and time as git does: the address is in the first brackets, the time after the last. */
export function parseSignature(line: string): Signature {
  const text = line.slice(0, MAX_SIGNATURE);
  const open = text.indexOf('<');
  const close = text.indexOf('>', open);
  if (open === -1 || close === -1) return { name: text, email: '', date: undefined };
  const seconds = /^ (\d{1,15})(?!\d)/.exec(text.slice(text.lastIndexOf('>') + 1))?.[1];
  return {
    name: text.slice(0, open).replace(/ $/, ''),
    email: text.slice(open + 1, close),
    date: seconds === undefined ? undefined : isoDate(Number(seconds)),
  };
}

export const isoDate = (seconds: number): string | undefined =>
  seconds <= LAST_SECOND ? new Date(seconds * 1_000).toISOString() : undefined;
