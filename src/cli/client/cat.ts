/** `vitrine cat`: prints contents, unchanged for programs and files, cleaned for terminals. */
import type { ByteRange, ReadItem } from '../../client/contents.ts';
import type { ReadResult } from '../../client/outcome.ts';
import type { Secrets } from '../../config/secrets.ts';
import { UsageError } from '../errors.ts';
import { EXIT_FAILED, EXIT_OK } from './exit-codes.ts';
import { failureOf, messageOf, statusOf } from './failures.ts';
import { dimensions, imageEscape } from './printing/images.ts';
import { bytesOf } from './printing/numbers.ts';
import { type Output, safe, safeLines } from './printing/output.ts';
import { onServer, type ServerFlags, type Session } from './reaching/connect.ts';
import { urisOf } from './references.ts';

export interface CatFlags extends ServerFlags {
  /** Bytes: `0-99`, `100-` or `-50`. */
  readonly range?: string;
  /** Lines: `3`, `3-5` or `3-`. */
  readonly lines?: string;
  readonly accept?: string;
  readonly maxBytes?: string;
  /** Prints binary content on a terminal too. */
  readonly force?: boolean;
}

/** The default limit of bytes of one resource. */
const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

export const cat = (
  server: string,
  references: readonly string[],
  flags: CatFlags,
  secrets: Secrets,
): Promise<void> => {
  const lines = flags.lines === undefined ? undefined : linesOf(flags.lines);
  const range = flags.range === undefined ? undefined : rangeOf(flags.range);
  if (lines !== undefined && range !== undefined) throw new UsageError('Give --range or --lines, not both');
  return onServer(server, flags, secrets, async (session) => {
    const { output } = session;
    const options = { lines, range, accept: flags.accept, force: flags.force === true };
    const maxBytes = bytesOf(flags.maxBytes, '--max-bytes', DEFAULT_MAX_BYTES);
    const uris = await urisOf(references, session);
    if (output.form !== 'human') return asData(uris, { ...options, maxBytes }, session);
    let status = EXIT_OK;
    for (const uri of uris) {
      try {
        status = Math.max(status, await readAndPrint(uri, { ...options, maxBytes }, session));
      } catch (error) {
        if (uris.length === 1) throw error;
        status = Math.max(status, noteFailure(error, session));
      }
    }
    return status;
  });
};

/** Notes why one of several resources is left out; the others are printed all the same, as `cat` does. @returns the exit status */
function noteFailure(error: unknown, { output, signal, label }: Session): number {
  signal.throwIfAborted();
  const failure = failureOf(error, label);
  output.note(messageOf(failure));
  return statusOf(failure);
}

/** Prints one resource. @returns the exit status */
export const readAndPrint = async (uri: string, wanted: Wanted, session: Session): Promise<number> =>
  printed(await readOne(uri, wanted, session), wanted, session);

export interface Wanted {
  readonly lines: Lines | undefined;
  readonly range: Range | undefined;
  readonly accept: string | undefined;
  readonly force: boolean;
  readonly maxBytes: number;
}

async function asData(uris: readonly string[], wanted: Wanted, session: Session): Promise<number> {
  const { output } = session;
  const dataOf = async (uri: string) => {
    const { alternatives, children, others, foreign, listable, primary } = await readOne(uri, wanted, session);
    const first = primary === undefined ? [] : [primary];
    const rest = wanted.accept === undefined ? alternatives.filter((item) => item !== primary) : [];
    const contents = [...first, ...rest, ...children, ...others, ...foreign].map((item) => itemData(item, wanted));
    return { uri, ...(listable !== undefined && { listable }), contents };
  };
  const [only] = uris;
  if (uris.length === 1 && only !== undefined) {
    await output.document(await dataOf(only), () => '');
    return EXIT_OK;
  }
  let status = EXIT_OK;
  const each = async function* () {
    for (const uri of uris) {
      try {
        yield await dataOf(uri);
      } catch (error) {
        status = Math.max(status, noteFailure(error, session));
      }
    }
  };
  await output.list(each(), () => undefined);
  return status;
}

function itemData(item: ReadItem, { lines }: Wanted): object {
  const { resource, window } = item;
  if (window === undefined && lines === undefined) return item.contents;
  const bytes = partOf(item, lines);
  const text = textIn(item, bytes, lines);
  return {
    ...resource,
    ...(text === undefined ? { blob: Buffer.from(bytes).toString('base64') } : { text }),
  };
}

async function readOne(uri: string, { range, accept, maxBytes }: Wanted, session: Session): Promise<ReadResult> {
  const { resources, signal } = session;
  const bytes = range === undefined ? undefined : await byteRange(uri, range, session);
  return resources.read(uri, { signal, maxBytes, accept, ...(bytes !== undefined && { range: bytes }) });
}

async function printed(
  { primary, listable, children, others, uri }: ReadResult,
  { lines, force }: Pick<Wanted, 'lines' | 'force'>,
  { output }: Session,
): Promise<number> {
  if (primary === undefined) {
    const more = listable === true || children.length > 0 ? '; vitrine ls lists what is in it' : '';
    output.note(`${uri}: there are no contents${more}`);
    return EXIT_FAILED;
  }
  if (others.length > 0)
    output.note(`${uri}: the server sent ${others.length} contents of other URIs; --json prints all`);
  const bytes = partOf(primary, lines);
  if (!output.terminal || force) {
    await output.write(bytes);
    return EXIT_OK;
  }
  return onTerminal(primary, bytes, lines, output);
}

async function onTerminal(
  item: ReadItem,
  bytes: Uint8Array,
  lines: Lines | undefined,
  output: Output,
): Promise<number> {
  const { mimeType = 'application/octet-stream' } = item.resource;
  const text = textIn(item, bytes, lines);
  if (text !== undefined && !text.includes('\0') && !mimeType.startsWith('image/svg')) return shownText(text, output);
  if (mimeType.startsWith('image/') && item.window === undefined) {
    const data = Buffer.from(bytes).toString('base64');
    const sequence = await imageEscape({ mimeType, data }, process.env);
    if (sequence !== undefined) {
      await output.write(sequence);
      return EXIT_OK;
    }
    if (text === undefined) {
      await output.line(`${safe(mimeType)}${dimensions(mimeType, bytes)}, ${bytes.byteLength} bytes`);
      return EXIT_OK;
    }
  }
  if (text !== undefined && !text.includes('\0')) return shownText(text, output);
  output.note(
    `${item.resource.uri}: ${mimeType}, ${bytes.byteLength} bytes that are not text; ` +
      'redirect them to a file or a program, or use --force',
  );
  return EXIT_FAILED;
}

async function shownText(text: string, output: Output): Promise<number> {
  const shown = safeLines(text);
  await output.write(shown.endsWith('\n') || shown === '' ? shown : `${shown}\n`);
  return EXIT_OK;
}

/** A range of bytes, both ends included; or a number of bytes at the end. */
type Range = { readonly first: number; readonly last: number | undefined } | { readonly ofEnd: number };

/** @throws UsageError */
export function rangeOf(text: string): Range {
  const found = /^(\d{1,15})?-(\d{1,15})?$/.exec(text);
  const [, from, to] = found ?? [];
  const first = from === undefined ? undefined : Number(from);
  const last = to === undefined ? undefined : Number(to);
  if (first === undefined && last !== undefined && last > 0) return { ofEnd: last };
  if (first !== undefined && (last === undefined || last >= first)) return { first, last };
  throw new UsageError('--range takes bytes, as in 0-99, 100- or -50');
}

async function byteRange(uri: string, range: Range, { resources, signal }: Session): Promise<ByteRange> {
  if (!('ofEnd' in range)) {
    const { first, last } = range;
    return { offset: first, ...(last !== undefined && { length: last - first + 1 }) };
  }
  const { size } = (await resources.metadata(uri, { signal })).resource;
  if (size === undefined) throw new UsageError('The size is unknown; give a range from the start');
  return { offset: Math.max(0, size - range.ofEnd) };
}

interface Lines {
  /** Counted from 1. */
  readonly first: number;
  readonly last: number;
}

/** @throws UsageError */
export function linesOf(text: string): Lines {
  const [, from = '', dash, to] = /^(\d{1,12})(-)?(\d{1,12})?$/.exec(text) ?? [];
  const first = Number(from);
  const last = to !== undefined ? Number(to) : dash === undefined ? first : Number.POSITIVE_INFINITY;
  if (from !== '' && (dash !== undefined || to === undefined) && first >= 1 && last >= first) return { first, last };
  throw new UsageError('--lines takes lines, counted from 1, as in 3, 3-5 or 3-');
}

const NEWLINE = 10;

/** Returns the text to print, without a byte-order mark; undefined if the content is not text. @param bytes those of `partOf` */
function textIn(item: ReadItem, bytes: Uint8Array, lines: Lines | undefined): string | undefined {
  const whole = item.text();
  if (whole === undefined) return undefined;
  return lines === undefined ? whole.replace(/^\ufeff/, '') : new TextDecoder().decode(bytes);
}

/** Returns the bytes of the content; of lines of a text, those in UTF-8. */
function partOf(item: ReadItem, lines: Lines | undefined): Uint8Array {
  if (lines === undefined) return item.bytes();
  const text = item.text();
  const bytes = text === undefined ? item.bytes() : new TextEncoder().encode(text);
  let begin = lines.first === 1 ? 0 : bytes.length;
  let end = bytes.length;
  let line = 1;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) {
    line++;
    if (line === lines.first) begin = at + 1;
    if (line > lines.last) {
      end = at + 1;
      break;
    }
  }
  return bytes.subarray(begin, Math.max(begin, end));
}
