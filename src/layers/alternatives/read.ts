/** Reads a resource in the requested format. Without a request, reads the original and its text. */

import { bytesOf, chunksOf, closeBodies, knownSize, type ResourceBody } from '../../core/body.ts';
import { sameBytes, versioned, versionOfBytes } from '../../core/content-version.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { bestFormat } from '../../core/formats/accept.ts';
import { essenceOf, isBetterAsText, TEXT_TYPES } from '../../core/formats/formats.ts';
import type { ByteRange, ReadOptions, ResourceProvider } from '../../core/provider.ts';
import { FORMATS_META_KEY } from '../../protocol/meta.ts';
import type { Resource } from '../../protocol/resources.ts';
import { type Format, isUtf8Format } from './catalogue.ts';
import { inFormat, withFormats } from './describe.ts';
import type { AlternativesLimits } from './options.ts';
import { contentOf, type FormatStore, given } from './store.ts';

export interface Reading {
  readonly inner: ResourceProvider;
  readonly store: FormatStore;
  readonly limits: AlternativesLimits;
  /** Returns the further formats of a resource. */
  readonly formatsOf: (resource: Resource) => readonly Format[] | undefined;
}

/** Returns the formats of a read with a single, whole body. */
export function convertible(bodies: readonly ResourceBody[], { formatsOf }: Reading): readonly Format[] | undefined {
  const [body] = bodies;
  if (body === undefined || bodies.length > 1 || body.child || body.window !== undefined) return undefined;
  return formatsOf(body.resource);
}

/** Whether an error means that a format cannot be made, rather than that the caller is denied or has left. */
const isFailure = (error: unknown): error is ResourceError =>
  error instanceof ResourceError && FAILURES.has(error.code);

const FAILURES: ReadonlySet<string> = new Set(['too-large', 'timeout', 'unavailable', 'limited']);

/**
 * Returns the original and its text. Leaves out the original if it is large or both together are too large, and the text if there
 * is none, if it cannot be made or if it is too large itself.
 */
export async function withText(
  reading: Reading,
  body: ResourceBody,
  formats: readonly Format[],
  want: ReadOptions,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  const resource = withFormats(body.resource, formats);
  const original: ResourceBody = { ...body, resource };
  const format =
    formats.find(({ mimeType }) => isUtf8Format(mimeType)) ??
    (isBetterAsText(resource.mimeType) ? formats.find(({ mimeType }) => TEXT_TYPES.includes(mimeType)) : undefined);
  if (format === undefined) return [original];
  const source = createSource(reading, original, ctx);
  try {
    const made = await formatFrom(reading, source, format, ctx);
    const text = formatBody(resource, format, made, undefined);
    const size = knownSize(source.body().content) ?? Number.POSITIVE_INFINITY;
    const both = size <= reading.limits.originalBytes && size + made.byteLength <= want.maxBytes;
    if (both) return [source.body(), text];
    if (made.byteLength > want.maxBytes) return [source.body()];
    await closeBodies([body]);
    return [text];
  } catch (error) {
    if (!isFailure(error)) {
      await closeBodies([body]);
      throw error;
    }
    ctx.log.info('a format cannot be made', { uri: resource.uri, format: format.mimeType, error });
    return originalOf(reading, source, resource.uri, want, ctx);
  }
}

/**
 * Returns the body in the best accepted format that can be made; the original if no format is accepted.
 * @throws the error of the best accepted format if none can be made
 */
export async function readAccepted(
  reading: Reading,
  uri: string,
  want: ReadOptions,
  accept: readonly string[],
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  const { inner } = reading;
  const resource = await inner.metadata(uri, ctx);
  // Only the bytes show whether a text is UTF-8. A text over the limit of conversion is not checked.
  const mayBeUtf8 = accept.some(isUtf8Format) && (resource.size ?? 0) <= reading.limits.maxInputBytes;
  const known = reading.formatsOf(resource) ?? (mayBeUtf8 ? [] : undefined);
  if (known === undefined && want.range !== undefined) return inner.read(uri, want, ctx);
  const bodies = await inner.read(uri, known === undefined ? want : unwindowed(want, reading.limits), ctx);
  // The bytes may show another type than the name claims.
  const formats = convertible(bodies, reading);
  const [body] = bodies;
  if (formats === undefined || body === undefined) {
    if (known === undefined) return bodies;
    await closeBodies(bodies);
    return inner.read(uri, want, ctx);
  }
  const source = createSource(reading, { ...body, resource: withFormats(body.resource, formats) }, ctx);
  let failure: unknown;
  // For a text that is not UTF-8, the original bytes are the last choice: a caller who accepts text wants readable text.
  const [first] = formats;
  let left: readonly (Format | undefined)[] =
    first !== undefined && isUtf8Format(first.mimeType)
      ? [first, undefined, ...formats.slice(1)]
      : [undefined, ...formats];
  try {
    for (;;) {
      const own = body.resource.mimeType ?? '';
      const at = bestFormat(
        left.map((format) => format?.mimeType ?? own),
        accept,
      );
      if (at === undefined && failure !== undefined) throw failure;
      const format = at === undefined ? undefined : left[at];
      if (format === undefined) return await originalOf(reading, source, uri, want, ctx);
      try {
        const made = await formatFrom(reading, source, format, ctx);
        await source.body().close?.();
        return [formatBody(source.body().resource, format, made, want.range)];
      } catch (error) {
        if (!isFailure(error)) throw error;
        failure ??= error.withUri(uri);
        left = left.filter((each) => each !== format);
      }
    }
  } catch (error) {
    await closeBodies(bodies);
    throw error;
  }
}

/** Returns the opened original. Reads it again if a window is requested, or if its bytes cannot be read any more. */
async function originalOf(
  { inner }: Reading,
  source: Source,
  uri: string,
  want: ReadOptions,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  const body = source.body();
  if (want.range === undefined && !source.isSpent()) return [body];
  await body.close?.();
  const [again, ...others] = await inner.read(uri, want, ctx);
  if (again === undefined) return others;
  const formats = { [FORMATS_META_KEY]: body.resource._meta?.[FORMATS_META_KEY] };
  return [{ ...again, resource: { ...again.resource, _meta: { ...again.resource._meta, ...formats } } }, ...others];
}

/** Converts the whole resource, whatever window of the format is requested. */
const unwindowed = (
  { range: _range, accept: _accept, ...want }: ReadOptions,
  { maxInputBytes }: AlternativesLimits,
) => ({
  ...want,
  maxBytes: Math.max(want.maxBytes, maxInputBytes),
});

/** A body whose bytes are read on demand and can be passed on afterwards. */
interface Source {
  /** Returns the body: untouched, or with its bytes once they are read. */
  body(): ResourceBody;
  /** @throws ResourceError `too-large` */
  bytes(): Promise<Uint8Array>;
  /** Whether reading began and failed, so that nothing more can be read. */
  isSpent(): boolean;
}

function createSource({ limits }: Reading, body: ResourceBody, ctx: Context): Source {
  let current = body;
  let spent = false;
  return {
    body: () => current,
    isSpent: () => spent,
    async bytes() {
      const { content, resource } = current;
      const limit = limits.maxInputBytes;
      const tooLarge = (): ResourceError =>
        new ResourceError('too-large', `No more than ${limit} bytes are converted into another format`, {
          uri: resource.uri,
          details: { limit },
        });
      if ((knownSize(content) ?? resource.size ?? 0) > limit) throw tooLarge();
      if (content.kind === 'bytes') return content.bytes;
      const parts: Uint8Array[] = [];
      let size = 0;
      spent = true;
      for await (const chunk of chunksOf(content)) {
        ctx.signal.throwIfAborted();
        size += chunk.byteLength;
        if (size > limit) throw tooLarge();
        parts.push(chunk);
      }
      const bytes = Buffer.concat(parts, size);
      spent = false;
      current = { ...current, content: sameBytes(bytesOf(bytes), content) };
      return bytes;
    },
  };
}

/** Returns the format of a source, from the cache or made now. */
async function formatFrom({ store }: Reading, source: Source, format: Format, ctx: Context): Promise<Uint8Array> {
  const { resource } = source.body();
  const from = essenceOf(resource.mimeType);
  const known = store.versionOf(resource, ctx);
  const kept = known === undefined ? undefined : store.kept(known, from, format);
  if (kept !== undefined) return given(kept);
  const bytes = await source.bytes();
  const content = contentOf(bytes);
  if (bytes.byteLength === resource.size) store.learn(resource, content, ctx);
  return store.make(content, bytes, from, format, ctx);
}

function formatBody(
  resource: Resource,
  { mimeType }: Format,
  made: Uint8Array,
  range: ByteRange | undefined,
): ResourceBody {
  const total = made.byteLength;
  const said = inFormat(resource, mimeType, total);
  if (range === undefined) return { resource: said, content: versioned(bytesOf(made), () => versionOfBytes(made)) };
  const { offset, length } = range;
  if (offset > total)
    throw invalid(`The window begins past the end of the format ${mimeType}, which has ${total} bytes`, resource.uri);
  const end = length === undefined ? total : offset + length;
  return { resource: said, content: bytesOf(made.subarray(offset, end)), window: { offset, total } };
}
