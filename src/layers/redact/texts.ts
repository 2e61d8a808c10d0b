/** Scans JSON data for secrets: every text in it, and every blob, in any field. */
import { type Finding, mask } from './mask.ts';
import type { Asker, Scanner } from './scanner.ts';

export interface TextOptions {
  readonly scanner: Scanner;
  /** The most bytes of one entry that are scanned. */
  readonly maxBytes: number;
}

/** An entry with its secrets covered; the same object if it has none. */
export interface Looked<T> {
  readonly value: T;
  readonly findings: readonly Finding[];
  /**
   * Whether a field that identifies the entry has a secret. Such a field is not covered, because the entry would get another
   * name.
   */
  readonly named: boolean;
}

/** The most levels of one entry that are scanned: the scan of deeper ones could overflow the stack. */
export const MAX_LEVELS = 512;

/** The most bytes of several entries that are scanned at once. */
const BATCH_BYTES = 512 * 1024;

/** Separates two texts, so that no match spans both. */
const GAP = Buffer.from('\u0001\n\u0001\n');

/** A text of an entry, and the position of its bytes in a batch. */
interface Piece {
  readonly start: number;
  readonly bytes: Buffer;
  readonly base64: boolean;
}

interface Collected<T> {
  readonly entry: T;
  readonly pieces: readonly Piece[];
  readonly names: readonly Piece[];
}

/**
 * Scans entries; returns undefined for an entry that is too large or nested too deep.
 * @param names fields that identify an entry, such as `uri`
 */
export async function lookThrough<T extends object>(
  entries: readonly T[],
  names: ReadonlySet<string>,
  { scanner, maxBytes }: TextOptions,
  asker: Asker,
): Promise<readonly (Looked<T> | undefined)[]> {
  const results: (Looked<T> | undefined)[] = [];
  let batch: (Collected<T> | undefined)[] = [];
  let parts: Buffer[] = [];
  let size = 0;
  const put = (bytes: Buffer, base64 = false): Piece => {
    const piece = { start: size, bytes, base64 };
    parts.push(bytes, GAP);
    size += bytes.byteLength + GAP.byteLength;
    return piece;
  };
  const scan = async (): Promise<void> => {
    const findings = await scanner.scan(Buffer.concat(parts, size), asker);
    for (const collected of batch) results.push(collected && withCovers(collected, findings, names));
    batch = [];
    parts = [];
    size = 0;
  };
  for (const entry of entries) {
    if (isTooDeep(entry, MAX_LEVELS)) {
      batch.push(undefined);
      continue;
    }
    const before = { parts: parts.length, size };
    const pieces: Piece[] = [];
    walkEntry(entry, names, (text, key) => {
      if (size - before.size > maxBytes) return text;
      const base64 = (key === 'blob' || key === 'data') && isBase64(text);
      pieces.push(put(Buffer.from(text, base64 ? 'base64' : 'utf8'), base64));
      return text;
    });
    const named = namesOf(entry, names).map((text) => put(Buffer.from(text)));
    if (size - before.size > maxBytes) {
      parts.length = before.parts;
      size = before.size;
      batch.push(undefined);
    } else batch.push({ entry, pieces, names: named });
    if (size >= BATCH_BYTES) await scan();
  }
  if (batch.length > 0) await scan();
  return results;
}

/** Returns the identifying texts of an entry, raw, and decoded where they are URIs. */
function namesOf(entry: object, names: ReadonlySet<string>): readonly string[] {
  return Object.entries(entry).flatMap(([field, value]) => {
    if (!names.has(field) || typeof value !== 'string') return [];
    const decoded = decodedUri(value);
    return decoded === value ? [value] : [value, decoded];
  });
}

/** Decodes all valid escapes. */
const decodedUri = (uri: string): string =>
  uri.replace(/(?:%[\da-f]{2})+/gi, (encoded) => Buffer.from(encoded.replaceAll('%', ''), 'hex').toString('utf8'));

/** Covers the secrets of one entry of a batch. */
function withCovers<T extends object>(
  { entry, pieces, names: named }: Collected<T>,
  all: readonly Finding[],
  names: ReadonlySet<string>,
): Looked<T> {
  const findings = [...pieces, ...named].flatMap((piece) => within(piece, all));
  if (findings.length === 0) return { value: entry, findings, named: false };
  let index = 0;
  const value = walkEntry(entry, names, (text) => {
    const piece = pieces[index++];
    return piece === undefined ? text : maskedText(text, piece, all);
  });
  return { value, findings, named: named.some((piece) => within(piece, all).length > 0) };
}

/** Returns the findings in a piece, with positions relative to it. */
function within({ start, bytes }: Piece, findings: readonly Finding[]): readonly Finding[] {
  const length = bytes.byteLength;
  return findings.flatMap((finding) =>
    finding.start < start + length && finding.end > start
      ? [{ ...finding, start: Math.max(0, finding.start - start), end: Math.min(length, finding.end - start) }]
      : [],
  );
}

function maskedText(text: string, piece: Piece, all: readonly Finding[]): string {
  const findings = within(piece, all);
  if (findings.length === 0) return text;
  return Buffer.from(mask(piece.bytes, findings)).toString(piece.base64 ? 'base64' : 'utf8');
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

const isTooDeep = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1)));

type MapText = (text: string, key: string) => string;

/** Maps every text of an entry, except the identifying ones. */
const walkEntry = <T extends object>(entry: T, names: ReadonlySet<string>, map: MapText): T => ({
  // Keeps what is under a symbol, such as the other names of a resource, by which access rules decide.
  ...entry,
  ...Object.fromEntries(
    Object.entries(entry).map(([field, value]) => [field, names.has(field) ? value : walk(value, field, map)]),
  ),
});

/** Maps every text in JSON data. Field names stay: they belong to the server, as its schemas do. */
function walk(value: unknown, key: string, map: MapText): unknown {
  if (typeof value === 'string') return map(value, key);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => walk(item, key, map));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk(member, name, map)]));
}
