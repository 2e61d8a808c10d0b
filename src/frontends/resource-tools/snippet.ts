/** Reads a few lines around a match, through the layers. Only bytes near the match are read, whatever the size of the resource. */
import { type BodyContent, chunksOf, closeBodies } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import type { ResourceProvider, SearchMatch } from '../../core/provider.ts';
import { isBinaryType, leadingPartBytes, trailingPartBytes } from '../../core/text/text.ts';
import type { TextResourceContents } from '../../protocol/resources.ts';
import { lineUri } from '../resources/line-uri.ts';

export interface SnippetOptions {
  /** The number of lines before and after. */
  readonly lines: number;
  /** The most bytes of the whole snippet. */
  readonly maxBytes: number;
}

type Place = NonNullable<SearchMatch['place']>;

const NEWLINE = 10;

/** Returns the lines around a place, with the URI that reads them again; undefined when there is no text any more. */
export async function snippetOf(
  provider: ResourceProvider,
  uri: string,
  place: Place,
  options: SnippetOptions,
  ctx: Context,
): Promise<TextResourceContents | undefined> {
  const half = Math.floor(options.maxBytes / 2);
  const offset = Math.max(0, place.offset - half);
  const range = { offset, length: options.maxBytes };
  const bodies = await provider.read(uri, { range, maxBytes: Number.MAX_SAFE_INTEGER, maxChildren: 0 }, ctx);
  try {
    const body = bodies[0];
    if (body === undefined || body.child || isBinaryType(body.resource.mimeType)) return undefined;
    const skip = body.window === undefined ? offset : 0;
    const bytes = await take(body.content, skip, options.maxBytes);
    const cut = linesAround(bytes, place.offset - offset, options.lines, {
      atStart: offset === 0,
      atEnd: bytes.byteLength < options.maxBytes,
    });
    if (cut === undefined) return undefined;
    const first = place.line - cut.before;
    const last = place.line + cut.after;
    return { ...body.resource, uri: lineUri(uri, { first, last }), text: cut.text };
  } finally {
    await closeBodies(bodies);
  }
}

/** Skips `skip` bytes, returns up to `length` bytes after them, and reads no further. */
export async function take(content: BodyContent, skip: number, length: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let at = 0;
  for await (const chunk of chunksOf(content)) {
    const part = chunk.subarray(Math.max(0, skip - at), Math.max(0, skip + length - at));
    if (part.byteLength > 0) parts.push(part);
    at += chunk.byteLength;
    if (at >= skip + length) break;
  }
  return Buffer.concat(parts);
}

interface Cut {
  readonly text: string;
  /** The number of whole lines before and after the matching one. */
  readonly before: number;
  readonly after: number;
}

/** Whether the bytes reach to the ends of the resource. */
interface Ends {
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

/** Returns the line at `at`, with up to `lines` whole lines on each side. A line that is cut off is cut between characters. */
function linesAround(bytes: Buffer, at: number, lines: number, { atStart, atEnd }: Ends): Cut | undefined {
  if (at > bytes.byteLength) return undefined;
  let start = bytes.lastIndexOf(NEWLINE, Math.max(0, at - 1)) + 1;
  if (at === 0) start = 0;
  const wholeStart = start > 0 || atStart;
  let before = 0;
  while (before < lines && start > 0) {
    const previous = start < 2 ? 0 : bytes.lastIndexOf(NEWLINE, start - 2) + 1;
    if (previous === 0 && !atStart) break;
    start = previous;
    before++;
  }
  let end = endOfLine(bytes, at);
  let after = 0;
  while (after < lines && end < bytes.byteLength) {
    const next = endOfLine(bytes, end);
    if (bytes[next - 1] !== NEWLINE && !atEnd) break;
    end = next;
    after++;
  }
  const part = bytes.subarray(start, end);
  const lead = wholeStart ? 0 : leadingPartBytes(part);
  const whole = part.subarray(lead, part.byteLength - trailingPartBytes(part));
  // Text that is not UTF-8 gets replacement characters here. A read of the resource gives its bytes unchanged.
  return { text: whole.toString('utf8').replace(/\r?\n$/, ''), before, after };
}

function endOfLine(bytes: Buffer, from: number): number {
  const newline = bytes.indexOf(NEWLINE, from);
  return newline === -1 ? bytes.byteLength : newline + 1;
}
