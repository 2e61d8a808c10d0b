/** The mime layer, innermost, verifies the type of each content by its first bytes (SEC-RES-6, 2093-8). */
import { isUtf8 } from 'node:buffer';
import { createOrigins } from '../../core/again.ts';
import { type BodyContent, closeBodies, type ResourceBody } from '../../core/body.ts';
import { sameBytes } from '../../core/content-version.ts';
import type { Layer } from '../../core/layer.ts';
import { wrapProvider } from '../../core/layer.ts';
import { isBinaryType, trailingPartBytes } from '../../core/text/text.ts';
import { CHARSET_META_KEY, DECLARED_MIME_TYPE_META_KEY, UNKNOWN_CHARSET } from '../../protocol/meta.ts';
import type { Resource } from '../../protocol/resources.ts';
import { HEAD_BYTES, verifyType } from './verify.ts';

/**
 * Verifies the type of every body of a read. A claim that the bytes contradict is corrected, and kept in `_meta` under
 * `vitrine/declaredMimeType`. Lists and metadata keep the claim of the name: they never touch the content.
 */
export function mimeLayer(): Layer {
  return (inner) => {
    const origins = createOrigins(inner);
    return wrapProvider(inner, {
      again: origins.again,
      async read(uri, want, ctx) {
        const bodies = await inner.read(uri, want, ctx);
        const settled = await Promise.allSettled(bodies.map(verified));
        const checked = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
        const failed = settled.find((result) => result.status === 'rejected');
        if (failed === undefined) return origins.made(checked, bodies);
        await closeBodies([...checked, ...bodies]);
        throw failed.reason;
      },
    });
  };
}

async function verified(body: ResourceBody): Promise<ResourceBody> {
  // Three kinds of bodies keep their type: a window that begins later, a folder, and an item of another server.
  if (body.item !== undefined || (body.window?.offset ?? 0) > 0 || body.resource.capabilities?.list) return body;
  if (body.content.kind === 'bytes') {
    const head = body.content.bytes.subarray(0, HEAD_BYTES);
    const { bytes } = body.content;
    const whole = body.window === undefined || body.window.total === bytes.byteLength;
    return encoded(typed(body, await verifyType(body.resource.mimeType, head, isWhole(body, head))), bytes, whole);
  }
  const { head, content, close } = await peek(body.content);
  const ended = async (): Promise<void> => {
    await close();
    await body.close?.();
  };
  try {
    const whole = isWhole(body, head);
    return {
      ...encoded(typed(body, await verifyType(body.resource.mimeType, head, whole)), head, whole),
      content,
      close: ended,
    };
  } catch (error) {
    await ended();
    throw error;
  }
}

/** Whether the head is the whole content. A window has to be the whole, too. */
function isWhole({ window }: ResourceBody, head: Uint8Array): boolean {
  return head.byteLength < HEAD_BYTES && (window === undefined || window.total === head.byteLength);
}

function typed(body: ResourceBody, mimeType: string | undefined): ResourceBody {
  const declared = body.resource.mimeType;
  if (mimeType === declared || mimeType === undefined) return body;
  const marked =
    declared === undefined ? {} : { _meta: { ...body.resource._meta, [DECLARED_MIME_TYPE_META_KEY]: declared } };
  const resource: Resource = { ...body.resource, mimeType, ...marked };
  return { ...body, resource };
}

/**
 * Adds the encoding of a text that is not UTF-8. Only UTF-16 is recognized, by its byte-order mark; others are unknown.
 * @param bytes the beginning of the content
 * @param whole whether they are all of it
 */
function encoded(body: ResourceBody, bytes: Uint8Array, whole: boolean): ResourceBody {
  const { mimeType, _meta } = body.resource;
  if (mimeType === undefined || isBinaryType(mimeType)) return body;
  const charset = charsetOf(whole ? bytes : bytes.subarray(0, bytes.byteLength - trailingPartBytes(bytes)));
  if (charset === undefined) return body;
  return { ...body, resource: { ...body.resource, _meta: { ..._meta, [CHARSET_META_KEY]: charset } } };
}

/** Returns the encoding; undefined for UTF-8, and for bytes that are no text. */
function charsetOf(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | typeof UNKNOWN_CHARSET | undefined {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  if (mark === 0xfffe) return 'utf-16le';
  if (mark === 0xfeff) return 'utf-16be';
  return isUtf8(bytes) || bytes.includes(0) ? undefined : UNKNOWN_CHARSET;
}

type Stream = Extract<BodyContent, { kind: 'stream' }>;

/** Reads the first bytes of a stream, and returns a stream that begins with them. */
async function peek(content: Stream): Promise<{ head: Uint8Array; content: Stream; close: () => Promise<void> }> {
  const chunks = content.open()[Symbol.asyncIterator]();
  const headChunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < HEAD_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    headChunks.push(next.value);
    bytes += next.value.byteLength;
  }
  const close = async (): Promise<void> => void (await chunks.return?.());
  async function* resumed(): AsyncIterable<Uint8Array> {
    try {
      yield* headChunks;
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
    } finally {
      await close();
    }
  }
  const only = headChunks[0];
  const head = headChunks.length === 1 && only !== undefined ? only : Buffer.concat(headChunks);
  return { head: head.subarray(0, HEAD_BYTES), content: sameBytes({ ...content, open: resumed }, content), close };
}
