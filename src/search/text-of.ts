/** Makes the passages of a resource, from the text that a read gives, so that their lines are those that a client reads. */
import { chunksOf, closeBodies, type ResourceBody } from '../core/body.ts';
import { breaks } from '../core/breaks.ts';
import type { Context } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import { isBetterAsText } from '../core/formats/formats.ts';
import type { ResourceProvider } from '../core/provider.ts';
import { isBinaryType } from '../core/text/text.ts';
import type { Resource } from '../protocol/resources.ts';
import { chunksOfText } from './chunks.ts';
import type { EntryPassage } from './index-store.ts';

/** The most bytes of one text that are in the index. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;

/** The most bytes that are read of a resource, its document included. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

/** Makes the passage of a resource without text: its description, so that its name can be found. */
export const named = ({ description = '' }: Resource): readonly EntryPassage[] => [
  { headings: [], page: undefined, lines: undefined, bytes: undefined, text: description },
];

export interface TextOf {
  readonly passages: readonly EntryPassage[];
  /** Why the text, or a part of it, is missing. */
  readonly problem?: string | undefined;
  /** The size of the text in bytes. */
  readonly bytes: number;
}

/** Reads the passages of a resource; of one without text, only its description. @throws only the reason of the signal */
export async function textOf(provider: ResourceProvider, resource: Resource, ctx: Context): Promise<TextOf> {
  const long = (resource.size ?? 0) > MAX_TEXT_BYTES && !isBinaryType(resource.mimeType);
  const range = long ? { offset: 0, length: MAX_TEXT_BYTES } : undefined;
  try {
    const bodies = await provider.read(resource.uri, { range, maxBytes: MAX_READ_BYTES, maxChildren: 0 }, ctx);
    try {
      // If there are several bodies of text, the last one is in UTF-8; all of them have the same lines.
      const body = bodies.findLast(({ child, resource: { mimeType } }) => !child && !isBinaryType(mimeType));
      if (body === undefined) return { passages: named(resource), bytes: 0, problem: unreadable(resource) };
      const { text, cut, exact } = await decoded(body, ctx);
      if (text === undefined) return { passages: named(resource), bytes: 0 };
      const passages = await passagesOf(text, body.resource.mimeType ?? '', exact && body === bodies[0], resource);
      const problem = cut || long ? `longer than ${MAX_TEXT_BYTES} bytes` : undefined;
      return { passages: passages.length === 0 ? named(resource) : passages, problem, bytes: Buffer.byteLength(text) };
    } finally {
      await closeBodies(bodies);
    }
  } catch (error) {
    ctx.signal.throwIfAborted();
    const problem = error instanceof ResourceError ? error.code : 'internal';
    ctx.log.debug('the text of a resource is not in the index', { uri: resource.uri, error });
    return { passages: named(resource), problem, bytes: 0 };
  }
}

/** Returns the problem of a document that was not converted to text. A picture without text is no problem. */
const unreadable = ({ mimeType }: Resource): string | undefined => (isBetterAsText(mimeType) ? 'no text' : undefined);

async function decoded(
  body: ResourceBody,
  ctx: Context,
): Promise<{ readonly text: string | undefined; readonly cut: boolean; readonly exact: boolean }> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(body.content)) {
    ctx.signal.throwIfAborted();
    // Copies the bytes, because the source may use the chunk again.
    parts.push(Uint8Array.from(chunk.subarray(0, MAX_TEXT_BYTES - bytes)));
    bytes += chunk.byteLength;
    if (bytes > MAX_TEXT_BYTES) break;
  }
  const all = Buffer.concat(parts);
  // Content may be binary even if its type is not known as binary.
  const text = all.includes(0) ? undefined : all.toString('utf8');
  return { text, cut: bytes > MAX_TEXT_BYTES, exact: text !== undefined && Buffer.byteLength(text) === all.byteLength };
}

/** @param original whether the text has the same bytes as the resource */
async function passagesOf(
  text: string,
  mimeType: string,
  original: boolean,
  { description }: Resource,
): Promise<EntryPassage[]> {
  const passages: EntryPassage[] = [];
  const taken = breaks();
  for (const { headings, page, first, last, offset, length, text: piece } of chunksOfText(text, mimeType)) {
    const withDescription = passages.length === 0 && description !== undefined ? `${piece}\n${description}` : piece;
    const bytes = original ? { offset, length } : undefined;
    passages.push({ headings, page, lines: { first, last }, bytes, text: withDescription });
    const turn = taken();
    if (turn !== undefined) await turn;
  }
  return passages;
}
