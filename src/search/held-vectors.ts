/** Describes the vectors of a resource and the places of its passages: in memory, and as a text in the file of vectors. */
import { createHash } from 'node:crypto';
import type { Entry, EntryPassage } from './index-store.ts';

export interface Held {
  readonly kind: string;
  readonly version: string | undefined;
  readonly path: string;
  readonly size: number | undefined;
  readonly changed: string | undefined;
  readonly passages: readonly HeldPassage[];
}

export interface HeldPassage extends Omit<EntryPassage, 'text'> {
  /** The digest of the text that the vector is of. A passage with the same digest keeps its vector. */
  readonly digest: string;
  /** Of length 1. */
  readonly vector: Float32Array;
}

/** Returns the text that the vector of a passage is made from. */
export const meantText = ({ title, name }: Pick<Entry, 'title' | 'name'>, { headings, text }: EntryPassage): string =>
  [title, name, ...headings, text].join('\n');

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Returns the likeness (cosine) of two vectors of length 1; -1 if their dimensions differ. */
export function dot(one: Float32Array, other: Float32Array): number {
  if (one.length !== other.length) return -1;
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

/** About how many bytes a resource, and each passage, takes beside its vectors and texts. */
const BESIDE = { resource: 300, passage: 400 } as const;

/** Returns about how many bytes of memory a resource takes, with its vectors and texts. */
export function bytesOf(uri: string, held: Held | undefined): number {
  if (held === undefined) return 0;
  const { kind, version = '', path, changed = '', passages } = held;
  let bytes = BESIDE.resource + textBytes([uri, kind, version, path, changed]);
  for (const { vector, headings } of passages) bytes += BESIDE.passage + vector.byteLength + textBytes(headings);
  return bytes;
}

/** Bytes of texts in memory: at most two for each character. */
const textBytes = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + 2 * length, 0);

export const dimensionOf = (held: Held | undefined): number | undefined => held?.passages[0]?.vector.length;

export const textOfHeld = (held: Held): string =>
  JSON.stringify({
    ...held,
    passages: held.passages.map(({ vector, ...place }) => ({
      ...place,
      vector: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64'),
    })),
  });

/** Parses a text that `textOfHeld` has written. */
export function heldIn(text: string): Held {
  const { passages, ...held } = JSON.parse(text) as Omit<Held, 'passages'> & {
    readonly passages: readonly (Omit<HeldPassage, 'vector'> & { readonly vector: string })[];
  };
  return {
    ...held,
    passages: passages.map(({ vector, ...place }) => {
      const all = Uint8Array.from(Buffer.from(vector, 'base64'));
      return { ...place, vector: new Float32Array(all.buffer) };
    }),
  };
}
