/** Makes the result of a read in the form `window`: the structure of CB-3, and its text for hosts that show only text. */
import { type CallToolResult, text } from '../../../protocol/content.ts';
import { bytesText, kindText, oneLine, tokensOf } from '../facts.ts';
import { callOf, type ToolSetup } from '../setup.ts';
import { type Part, type Window, windowLimits } from './window.ts';

/** One part in `structuredContent`. */
type WindowPart = {
  /** The URI of the child or format; left out if there is only one part. */
  readonly uri?: string;
  readonly mime?: string;
  /** Bytes of the whole part; left out while unknown. */
  readonly total_bytes?: number;
  readonly bytes_returned: number;
} & ({ readonly kind: 'text'; readonly text: string } | { readonly kind: 'base64'; readonly base64: string });

/** `structuredContent` of a window. Offsets and sizes are bytes of the content, before base64. */
export interface WindowContent {
  readonly window: { readonly start_offset: number; readonly max_bytes: number };
  readonly parts: readonly WindowPart[];
  readonly total_parts: number;
}

/** @param format the requested format, if any; the call for the next window repeats it */
export function windowResult(setup: ToolSetup, uri: string, window: Window, format?: string): CallToolResult {
  const structuredContent: WindowContent = {
    window: { start_offset: window.start, max_bytes: window.maxBytes },
    parts: window.parts.map((part) => structuredPart(part, window.totalParts > 1)),
    total_parts: window.totalParts,
  };
  const texts = window.parts.filter((part) => part.kind === 'text' && part.bytes.byteLength > 0);
  return {
    content: [text(headerOf(setup, uri, window, format)), ...texts.map(({ bytes }) => text(bytes.toString('utf8')))],
    structuredContent,
  };
}

function structuredPart({ resource, kind, bytes, total }: Part, several: boolean): WindowPart {
  const facts = {
    ...(several && { uri: resource.uri }),
    ...(resource.mimeType !== undefined && { mime: resource.mimeType }),
    ...(total !== undefined && { total_bytes: total }),
    bytes_returned: bytes.byteLength,
  };
  return kind === 'text'
    ? { kind, text: bytes.toString('utf8'), ...facts }
    : { kind, base64: bytes.toString('base64'), ...facts };
}

function headerOf(setup: ToolSetup, uri: string, window: Window, format: string | undefined): string {
  const [only] = window.parts;
  const lines =
    window.totalParts === 1 && only !== undefined
      ? [oneLine(`${uri}: ${partText(only)}`)]
      : [
          oneLine(`${uri}: ${window.totalParts} parts`),
          ...window.parts.map((part) => oneLine(`${part.resource.uri}: ${partText(part)}`)),
        ];
  return [...lines, positionText(window), nextText(setup, uri, window, 'window', format)].join('\n');
}

function partText({ resource, kind, bytes, total }: Part): string {
  const of = total === undefined ? '' : ` of ${total}`;
  const where = kind === 'base64' ? ', as base64 in the structured content' : '';
  return `${kindText(resource)}, ${bytes.byteLength}${of} bytes, about ${tokensOf(kind, bytes.byteLength)} tokens${where}`;
}

function positionText({ start, parts, total }: Window): string {
  const length = parts.reduce((sum, part) => sum + part.bytes.byteLength, 0);
  return `Window: ${bytesText(length)} from offset ${start}${total === undefined ? '' : ` of ${total}`}.`;
}

/** The call that reads the next window, or a sentence that there is none. */
export function nextText(
  setup: ToolSetup,
  uri: string,
  { next, maxBytes }: Window,
  as = 'window',
  format?: string,
): string {
  if (next === undefined) return 'This is the end.';
  const usual = Object.values(windowLimits(setup, undefined)).includes(maxBytes);
  const args = {
    uri,
    as,
    ...(format !== undefined && { format }),
    start_offset: next,
    ...(!usual && { max_bytes: maxBytes }),
  };
  return `Next window: ${callOf(setup, 'read', args)}`;
}
