/** The content of one resource on its way out: metadata and bytes, without text decoding, base64 or JSON. */
import type { Resource, ResourceContents } from '../protocol/resources.ts';
import { sameBytes } from './content-version.ts';

/** Bytes already in memory, or a stream of them. */
export type BodyContent =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'stream';
      /** How many bytes the stream will give, if that is known beforehand. */
      readonly size?: number | undefined;
      /** Starts the stream; called once at most. Ending the iteration early releases what it holds. */
      readonly open: () => AsyncIterable<Uint8Array>;
    };

/** The bytes of a window and where they lie in the whole. */
export interface BodyWindow {
  readonly offset: number;
  /** Bytes of the whole resource, if known. */
  readonly total?: number | undefined;
}

export interface ResourceBody {
  readonly resource: Resource;
  readonly content: BodyContent;
  /** Present when the content is a part of the whole, as asked by `ReadOptions.range`. */
  readonly window?: BodyWindow | undefined;
  /**
   * The item as another server sent it. If the whole of it is wanted, it is sent on unchanged: its name and type are that
   * server's claims, and nobody corrects them.
   */
  readonly item?: ResourceContents | undefined;
  /** This is a child of the container that was read, not the resource itself (2093-5). */
  readonly child?: boolean | undefined;
  /** Releases what an unread body holds. Safe to call twice, and after draining. */
  readonly close?: (() => Promise<void>) | undefined;
}

export const bytesOf = (bytes: Uint8Array): BodyContent => ({ kind: 'bytes', bytes });

const encoder = new TextEncoder();

export const textBytes = (text: string): BodyContent => bytesOf(encoder.encode(text));

/** Returns the content's size in bytes, if it is known without reading. */
export function knownSize(content: BodyContent): number | undefined {
  return content.kind === 'bytes' ? content.bytes.byteLength : content.size;
}

/** Gives the content as chunks, whichever kind it is. */
export async function* chunksOf(content: BodyContent): AsyncIterable<Uint8Array> {
  if (content.kind === 'bytes') yield content.bytes;
  else yield* content.open();
}

const isStream = ({ content }: ResourceBody): boolean => content.kind === 'stream';

/** Closes every body. Ignores errors of closing, since the outcome of the read is known by then. */
export async function closeBodies(bodies: readonly ResourceBody[]): Promise<void> {
  await Promise.allSettled(bodies.map((body) => body.close?.()));
}

/**
 * Returns the bodies, and counts the bytes that are read of their streams. Bytes that are in memory already all count.
 * @param end called once, with the number of bytes, when every stream has been drained or closed, or has failed; `failure` holds
 *   the error of the stream that failed last
 */
export function countedBodies(
  bodies: readonly ResourceBody[],
  end: (bytes: number, failure: { readonly error: unknown } | undefined) => void,
): readonly ResourceBody[] {
  let bytes = 0;
  let streams = 0;
  for (const { content } of bodies) {
    if (content.kind === 'bytes') bytes += content.bytes.byteLength;
    else streams++;
  }
  if (streams > 0) return countedStreams(bodies, bytes, end);
  end(bytes, undefined);
  return bodies;
}

/** Counts streams. It is apart from `countedBodies`, through which every read goes, since few reads need its memory. */
function countedStreams(
  bodies: readonly ResourceBody[],
  bytesBefore: number,
  end: (bytes: number, failure: { readonly error: unknown } | undefined) => void,
): readonly ResourceBody[] {
  let bytes = bytesBefore;
  let failure: { readonly error: unknown } | undefined;
  const open = new Set(bodies.filter(isStream));
  return bodies.map((body): ResourceBody => {
    const { content } = body;
    if (content.kind === 'bytes') return body;
    const done = (): void => {
      if (open.delete(body) && open.size === 0) end(bytes, failure);
    };
    async function* counted(chunks: () => AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
      try {
        for await (const chunk of chunks()) {
          bytes += chunk.byteLength;
          yield chunk;
        }
      } catch (error) {
        failure = { error };
        throw error;
      } finally {
        done();
      }
    }
    return {
      ...body,
      content: sameBytes({ ...content, open: () => counted(content.open) }, content),
      close: async () => {
        done();
        await closeBodies([body]);
      },
    };
  });
}
