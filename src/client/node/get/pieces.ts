/** Reads the bytes of a resource, in pieces if the server sends windows: a large resource is then never whole in memory. */
import { decodeBase64 } from '../../base64.ts';
import type { ResourceClient } from '../../client.ts';
import type { ReadItem } from '../../contents.ts';
import { invalidAnswer, ResourceClientError } from '../../errors.ts';
import { type ReadOptions, tooLarge } from '../../reading.ts';

/** A resource that is larger, as the server says, is asked for in windows of this many bytes. */
export const PIECE_BYTES = 4 * 1024 * 1024;

/** The most bytes of a UTF-8 character. A window of text may be so much shorter, if its last character did not fit. */
const MAX_CHARACTER = 4;

/** Bytes of one read, with the item that they came in. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly item: ReadItem;
}

export interface PieceOptions {
  readonly accept?: ReadOptions['accept'];
  /** The most bytes of the whole resource. */
  readonly maxBytes: number;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Reads a resource. Gives nothing for a resource without contents of its own.
 * @param size bytes, as the server said before; undefined if it did not
 * @throws ResourceClientError
 */
export async function* piecesOf(
  client: ResourceClient,
  uri: string,
  size: number | undefined,
  options: PieceOptions,
): AsyncGenerator<Piece, void, undefined> {
  const { maxBytes } = options;
  const call = { accept: options.accept, timeoutMs: options.timeoutMs, signal: options.signal, fresh: true };
  if (size !== undefined && size > maxBytes) throw tooLarge(uri, size, maxBytes);
  if (size === undefined || size <= PIECE_BYTES) {
    const { primary } = await client.read(uri, { ...call, maxBytes });
    if (primary !== undefined) yield { bytes: primary.bytes(), item: primary };
    return;
  }
  // The limit for one window. A server without windows sends the whole resource, and `read` allows it 16 times as much.
  const room = Math.max(PIECE_BYTES, Math.ceil(maxBytes / 16));
  const first = await client.read(uri, { ...call, range: { offset: 0, length: PIECE_BYTES }, maxBytes: room });
  const { primary } = first;
  if (primary === undefined) return;
  if (primary.window?.cutBy !== 'server') {
    const bytes = wholeOf(primary);
    if (bytes.length > maxBytes) throw tooLarge(uri, bytes.length, maxBytes);
    yield { bytes, item: primary };
    return;
  }
  let offset = primary.window.offset;
  if (offset !== 0) throw invalidAnswer('The server sent another window than the one that was asked for', uri);
  for (let item = primary; ; ) {
    const { window } = item;
    const bytes = item.bytes();
    if (window === undefined || window.offset !== offset || window.length !== bytes.length) {
      throw invalidAnswer('The server sent another window than the one that was asked for', uri);
    }
    yield { bytes, item };
    offset += bytes.length;
    const total = window.total ?? Number.POSITIVE_INFINITY;
    if (offset > maxBytes) throw tooLarge(uri, offset, maxBytes);
    if (offset >= total || bytes.length < PIECE_BYTES - MAX_CHARACTER) {
      if (window.total !== undefined && offset < window.total) throw changed(uri);
      return;
    }
    const next = await client.read(uri, { ...call, range: { offset, length: PIECE_BYTES }, maxBytes: room });
    if (next.primary === undefined || versionOf(next.primary) !== versionOf(primary)) throw changed(uri);
    item = next.primary;
  }
}

/** Returns all bytes of an item from which the client has cut a window. */
function wholeOf({ contents, resource }: ReadItem): Uint8Array {
  if (typeof contents.text === 'string') return new TextEncoder().encode(contents.text);
  const bytes = typeof contents.blob === 'string' ? decodeBase64(contents.blob) : undefined;
  if (bytes === undefined) throw invalidAnswer('The contents are not valid base64', resource.uri);
  return bytes;
}

/** Names the state of the resource that a window is from, by its last change and its size. */
const versionOf = ({ resource, window }: ReadItem): string =>
  JSON.stringify([resource.annotations?.lastModified ?? null, window?.total ?? null]);

export const CHANGED = 'The resource changed while it was read';

const changed = (uri: string): ResourceClientError => new ResourceClientError('failed', CHANGED, { uri });
