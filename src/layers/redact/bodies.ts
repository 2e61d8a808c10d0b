/** Collects the body of a read, since only the whole shows its secrets, scans it, and masks the secrets. */
import { bytesOf, knownSize, type ResourceBody } from '../../core/body.ts';
import { collectRange } from '../../core/collect.ts';
import { versioned, versionOfBytes } from '../../core/content-version.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { ByteRange } from '../../core/provider.ts';
import { RANGE_META_KEY, REDACTED_META_KEY } from '../../protocol/meta.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';
import { countsOf, type Finding, mask, within } from './mask.ts';
import { MARGIN_BYTES } from './scan-program.ts';
import type { Scanner } from './scanner.ts';

/** A part of a content with its secrets masked, and the places of the secrets. */
export interface Inspected {
  readonly bytes: Uint8Array;
  /** The beginning of the part in the content. */
  readonly offset: number;
  /** Secrets, by their places in `bytes`; the first and the last may reach beyond `bytes`. */
  readonly findings: readonly Finding[];
  /** Bytes of the whole content, where known. */
  readonly total: number | undefined;
}

/** Widens a range to the bytes to read, so that a secret on its border is whole in them. */
export function widened({ offset, length }: ByteRange): ByteRange {
  const from = Math.max(0, offset - MARGIN_BYTES);
  return { offset: from, ...(length !== undefined && { length: offset - from + length + MARGIN_BYTES }) };
}

/**
 * Scans a content, or a range of it with the bytes around it (`widened`), and masks its secrets.
 * @throws ResourceError `too-large` over `maxBytes`, `invalid` for a range past the end, and the errors of the scan
 */
export async function inspect(
  body: ResourceBody,
  range: ByteRange | undefined,
  { scanner, maxBytes }: { readonly scanner: Scanner; readonly maxBytes: number },
  ctx: Context,
): Promise<Inspected> {
  const wanted = range === undefined ? { offset: 0 } : widened(range);
  // `origin`: where the body's content begins in the resource. `skip`: how many of its bytes lie before the part to scan.
  const origin = body.window?.offset ?? 0;
  const skip = Math.max(0, wanted.offset - origin);
  const size = knownSize(body.content);
  const part = { offset: skip, length: wanted.length };
  const tooMuch = size !== undefined && Math.min(size - skip, part.length ?? size) > maxBytes;
  const collected = tooMuch ? undefined : await collectRange(body.content, part, maxBytes, ctx);
  if (collected === undefined) throw tooLarge(body.resource, maxBytes);
  const start = origin + skip;
  const end = start + collected.bytes.byteLength;
  const total = body.window?.total ?? (collected.ended ? origin + collected.seen : size);
  const findings = await scanner.scan(collected.bytes, ctx).catch((error: unknown) => {
    throw error instanceof ResourceError ? error.withUri(body.resource.uri) : error;
  });
  const masked = mask(collected.bytes, findings);
  if (range === undefined) return { bytes: masked, offset: start, findings, total };
  if (range.offset > end)
    throw invalid(`The window begins past the end of the resource, which has ${end} bytes`, body.resource.uri);
  const from = Math.max(0, range.offset - start);
  const to = range.length === undefined ? masked.byteLength : Math.min(masked.byteLength, from + range.length);
  const inside = within(findings, from, to).map((finding) => ({
    ...finding,
    start: finding.start - from,
    end: finding.end - from,
  }));
  return { bytes: masked.subarray(from, to), offset: start + from, findings: inside, total };
}

/** Returns the body with its secrets masked, and with their count in `_meta`. */
export function redactedBody(body: ResourceBody, range: ByteRange | undefined, inspected: Inspected): ResourceBody {
  const { bytes, offset, findings, total } = inspected;
  const { item, close: _close, window: _window, ...rest } = body;
  const resource = counted(body.resource, findings);
  return {
    ...rest,
    resource,
    content: versioned(bytesOf(bytes), () => versionOfBytes(bytes)),
    ...(item !== undefined && range === undefined && { item: redactedItem(item, bytes, findings) }),
    ...(range !== undefined && { window: { offset, total } }),
  };
}

function redactedItem(item: ResourceContents, bytes: Uint8Array, findings: readonly Finding[]): ResourceContents {
  if (findings.length === 0) return item;
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return 'text' in item
    ? { ...counted(item, findings), text: content.toString('utf8') }
    : { ...counted(item, findings), blob: content.toString('base64') };
}

/** Adds to `_meta` how many secrets of each kind are masked. Returns `item` itself if there are none. */
export function counted<T extends Pick<Resource, '_meta'>>(item: T, findings: readonly Finding[]): T {
  if (findings.length === 0) return item;
  return { ...item, _meta: { ...item._meta, [REDACTED_META_KEY]: countsOf(findings) } };
}

/** The error for a content with secrets that the settings do not return even with secrets masked. */
export const refused = (uri: string | undefined, findings: readonly Finding[]): ResourceError =>
  new ResourceError('denied', 'The content contains secrets and is not returned', {
    uri,
    details: { secrets: countsOf(findings) },
  });

function tooLarge({ uri, size }: Resource, limit: number): ResourceError {
  return new ResourceError(
    'too-large',
    `No more than ${limit} bytes are scanned for secrets at once; read it in windows with _meta {"${RANGE_META_KEY}": {"offset": 0, "length": ${Math.min(limit, 1_048_576)}}}`,
    { uri, details: { limit, ...(size !== undefined && { size }) } },
  );
}
