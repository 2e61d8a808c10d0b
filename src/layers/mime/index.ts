/** The mime layer, innermost: the type of what is read is verified from its leading bytes (SEC-RES-6, 2093-8). */
import { createOrigins } from '../../core/again.ts';
import { type BodyContent, closeBodies, type ResourceBody } from '../../core/body.ts';
import type { Layer } from '../../core/layer.ts';
import { wrapProvider } from '../../core/layer.ts';
import { isBinaryType } from '../../core/text.ts';
import { CHARSET_META_KEY, DECLARED_MIME_TYPE_META_KEY } from '../../protocol/meta.ts';
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
        const done = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
        const failed = settled.find((result) => result.status === 'rejected');
        if (failed === undefined) return origins.made(done, bodies);
        await closeBodies([...done, ...bodies]);
        throw failed.reason;
      },
    });
  };
}

async function verified(body: ResourceBody): Promise<ResourceBody> {
  // The middle of something says nothing about what it is; a folder has no bytes; another server's word is its own.
  if (body.item !== undefined || (body.window?.offset ?? 0) > 0 || body.resource.capabilities?.list) return body;
  if (body.content.kind === 'bytes') {
    const head = body.content.bytes.subarray(0, HEAD_BYTES);
    return encoded(typed(body, await verifyType(body.resource.mimeType, head, isWhole(body, head))), head);
  }
  const { head, content, close } = await peek(body.content);
  const ended = async (): Promise<void> => {
    await close();
    await body.close?.();
  };
  try {
    return {
      ...encoded(typed(body, await verifyType(body.resource.mimeType, head, isWhole(body, head))), head),
      content,
      close: ended,
    };
  } catch (error) {
    await ended();
    throw error;
  }
}

/** Whether the head is all there is; of a window, whether that reaches to the end. */
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

/** With the encoding of a text that says that it is UTF-16. Others do not say what they are, and nobody guesses. */
function encoded(body: ResourceBody, head: Uint8Array): ResourceBody {
  const mark = (head[0] ?? 0) * 256 + (head[1] ?? 0);
  if (mark !== 0xfffe && mark !== 0xfeff) return body;
  const { mimeType, _meta } = body.resource;
  if (mimeType === undefined || isBinaryType(mimeType)) return body;
  const charset = mark === 0xfffe ? 'utf-16le' : 'utf-16be';
  return { ...body, resource: { ...body.resource, _meta: { ..._meta, [CHARSET_META_KEY]: charset } } };
}

type Stream = Extract<BodyContent, { kind: 'stream' }>;

/** Takes the leading bytes of a stream, and gives a stream that begins with them. */
async function peek(content: Stream): Promise<{ head: Uint8Array; content: Stream; close: () => Promise<void> }> {
  const chunks = content.open()[Symbol.asyncIterator]();
  const taken: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < HEAD_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    taken.push(next.value);
    bytes += next.value.byteLength;
  }
  const close = async (): Promise<void> => void (await chunks.return?.());
  async function* resumed(): AsyncIterable<Uint8Array> {
    try {
      yield* taken;
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
    } finally {
      await close();
    }
  }
  const only = taken[0];
  const head = taken.length === 1 && only !== undefined ? only : Buffer.concat(taken);
  return { head: head.subarray(0, HEAD_BYTES), content: { ...content, open: resumed }, close };
}
