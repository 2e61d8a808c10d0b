/**
 * Serves the bytes of a resource at its raw address. They are read window by window, and each window counts as one
 * `resources/read` for rules, limits and the audit. The next window is read only when the client has taken the one before, so
 * memory does not grow with the resource or with a slow client.
 */
import type { ResourceBody } from '../../../core/body.ts';
import { collectParts } from '../../../core/collect.ts';
import { type Context, createContext } from '../../../core/context.ts';
import { invalid, ResourceError } from '../../../core/errors.ts';
import { Loan } from '../../../core/loan.ts';
import type { Parts } from '../../../core/text/long-text.ts';
import { nameOfUri } from '../../../core/uri.ts';
import type { Engine } from '../../../engine/index.ts';
import { withBodies } from '../../../frontends/resources/read.ts';
import { CHARSET_META_KEY, UNKNOWN_CHARSET } from '../../../protocol/meta.ts';
import { readParams } from '../../../protocol/methods.ts';
import type { Resource } from '../../../protocol/resources.ts';
import { startInvocation } from '../../dispatch/invocation.ts';
import { admitted, wireErrorOf } from '../../dispatch/methods.ts';
import { runObserved } from '../../dispatch/observed.ts';
import { ByteStream, type PageAnswer } from '../exchange.ts';
import { envelopeOf, Refused, type Visitor } from './ask.ts';
import { isUnchanged, type Span, spanOf, versionOf } from './ranges.ts';

const WINDOW_BYTES = 1024 * 1024;

/** Headers that stop served bytes from running scripts, from loading anything, and from having the server's origin. */
export const RAW_HEADERS = {
  'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'self'",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'private, no-cache',
  Vary: 'Authorization, Cookie',
} as const;

interface Wanted {
  readonly uri: string;
  /** The wanted format; undefined for the resource's own. */
  readonly as: string | undefined;
}

/** The bytes to read. */
interface Stretch {
  readonly from: number;
  /** The position after the last byte; undefined for the end of the content. */
  readonly to: number | undefined;
}

/** The result of reading one window. */
interface Window {
  readonly resource: Resource;
  readonly parts: Parts;
  readonly size: number;
  /** Whether no further window is needed: the provider does not support windows, so the whole stretch is here. */
  readonly whole: boolean;
  /** The bytes of the whole content, where the read shows them. */
  readonly total: number | undefined;
  readonly loan: Loan;
}

/** Answers a request for raw bytes. @param resource the metadata of the resource @throws Refused */
export function answerRaw(vitrine: Engine, resource: Resource, wanted: Wanted, visitor: Visitor): Promise<PageAnswer> {
  const { http, principal, log } = visitor;
  const version = versionOf(resource, wanted.as);
  const headers = { ...RAW_HEADERS, ...headersOf(resource, wanted.as, version) };
  if (isUnchanged(http, version)) return Promise.resolve({ status: 304, headers });
  // The size of another format is not known before it is made.
  const described = wanted.as === undefined ? resource.size : undefined;
  const requested = described === undefined ? undefined : spanOf(http, described, version);
  if (requested === 'unsatisfiable')
    return Promise.resolve({ status: 416, headers: { ...RAW_HEADERS, 'Content-Range': `bytes */${described}` } });
  // Files of the kernel have size 0, and may have content nevertheless.
  const size = described === 0 ? undefined : described;
  if (http.method === 'HEAD')
    return Promise.resolve({
      status: 200,
      headers: { ...headers, ...(size !== undefined && { 'Content-Length': String(size), 'Accept-Ranges': 'bytes' }) },
    });
  const envelope = envelopeOf('resources/read', { uri: wanted.uri }, visitor);
  const ctx = createContext({ principal, log, signal: http.signal, client: envelope.client });
  return new Promise((resolve, reject) => {
    const run = async (): Promise<object> => {
      const { first, span } = await readFirst(vitrine, wanted, requested, size, ctx);
      const { from = 0, to = first.whole ? first.size : (first.total ?? size) } = span ?? {};
      const bytes = to === undefined ? undefined : to - from;
      await new Promise<void>((sent) => {
        resolve({
          status: span === undefined ? 200 : 206,
          headers: {
            ...headers,
            ...(from === 0 && headersOf(first.resource, wanted.as, version)),
            ...(size !== undefined && { 'Accept-Ranges': 'bytes' }),
            ...(span !== undefined && { 'Content-Range': `bytes ${from}-${span.to - 1}/${size}` }),
          },
          body: new ByteStream(windows(vitrine, wanted, first, { from, to }, ctx), bytes),
          // The request counts as running until the answer is sent.
          sent: () => {
            first.loan.end();
            sent();
          },
        });
      });
      return {};
    };
    const method = admitted(vitrine, { name: 'resources/read', params: readParams, run });
    const params = { uri: wanted.uri };
    const { telemetry } = vitrine;
    const running = startInvocation(vitrine, envelope, params, ctx);
    const invocation = running.invoke({ answers: undefined, state: undefined });
    const ended =
      telemetry === undefined
        ? method.run(params, invocation)
        : runObserved(telemetry, method, params, invocation, envelope);
    ended
      .catch((error: unknown) =>
        reject(new Refused({ error: wireErrorOf(vitrine, error, 'resources/read', 'modern', ctx), cause: error })),
      )
      .finally(() => running.end());
  });
}

/**
 * Reads the first window. If the content does not have the described size, the positions of the range mean nothing: it is read from
 * the start, and sent whole.
 */
async function readFirst(
  vitrine: Engine,
  wanted: Wanted,
  span: Span | undefined,
  size: number | undefined,
  ctx: Context,
): Promise<{ readonly first: Window; readonly span: Span | undefined }> {
  const all = { from: 0, to: undefined };
  const first = await readWindow(vitrine, wanted, span ?? all, size, ctx);
  if (span === undefined || first.total === undefined || first.total === size) return { first, span };
  first.loan.end();
  return { first: await readWindow(vitrine, wanted, all, first.total, ctx), span: undefined };
}

/** The bytes of all windows. Each piece is valid until the next one is requested. */
async function* windows(
  vitrine: Engine,
  wanted: Wanted,
  first: Window,
  { from, to }: Stretch,
  ctx: Context,
): AsyncIterable<Uint8Array> {
  let at = from;
  for (let window = first; ; ) {
    try {
      yield* window.parts;
    } finally {
      window.loan.end();
    }
    at += window.size;
    if (window.whole || window.size === 0 || at === to) return;
    window = await readWindow(vitrine, wanted, { from: at, to }, to, ctx);
    if (!isSameContent(window, first)) throw new Error('The resource has changed while it was sent');
  }
}

const isSameContent = (a: Window, b: Window): boolean =>
  a.total === b.total && a.resource.annotations?.lastModified === b.resource.annotations?.lastModified;

/**
 * Reads the next window of a stretch, or all of the stretch if the provider does not support windows.
 * @param size the bytes of the content as far as known: no window is longer
 */
async function readWindow(
  { resources }: Engine,
  { uri, as }: Wanted,
  { from, to = Number.POSITIVE_INFINITY }: Stretch,
  size: number | undefined,
  ctx: Context,
): Promise<Window> {
  const loan = new Loan();
  const length = Math.min(WINDOW_BYTES, Math.min(to, size ?? to) - from);
  const range = { offset: from, length: Math.max(1, length) };
  const { maxReadBytes } = resources.limits;
  const accept = as === undefined ? undefined : [as];
  try {
    return await withBodies(resources, uri, { range, accept, loan, maxChildren: 0 }, ctx, async (bodies) => {
      const body: ResourceBody | undefined = bodies.find((each) => each.child !== true);
      if (body === undefined) throw invalid('The resource has parts, and no bytes of its own', uri);
      const { window, resource, content } = body;
      const whole = window === undefined;
      const offset = from - (window?.offset ?? 0);
      if (offset < 0) throw new Error('The provider gave a window that begins after the one that was requested');
      const part = { offset, length: whole ? to - from : range.length };
      const read = await collectParts(content, part, maxReadBytes, ctx);
      if (read === undefined) throw new ResourceError('too-large', 'The content is too large to be read', { uri });
      const total = whole && read.ended ? read.seen : window?.total;
      return { resource, parts: read.parts, size: read.size, whole, total, loan };
    });
  } catch (error) {
    loan.end();
    throw error;
  }
}

/** The types that a browser shows without running scripts. The browser offers to save all others. */
const SHOWN = /^(?:image\/(?!svg)|audio\/|video\/|text\/(?!html|xml|xsl)|application\/json$)/;

/** The types of text, which get a charset. */
const TEXT = /^text\/|[/+](?:json|xml|yaml|toml|javascript)$/;

function headersOf(
  resource: Resource,
  as: string | undefined,
  { etag, lastModified }: ReturnType<typeof versionOf>,
): Readonly<Record<string, string>> {
  const given = as ?? resource.mimeType ?? '';
  const type = /^[\w.+-]{1,100}\/[\w.+-]{1,100}/.exec(given.toLowerCase())?.[0] ?? 'application/octet-stream';
  const charset = as === undefined ? (resource._meta?.[CHARSET_META_KEY] ?? 'utf-8') : 'utf-8';
  const text = TEXT.test(type) && charset !== UNKNOWN_CHARSET && /^[\w-]{1,40}$/.test(String(charset));
  return {
    'Content-Type': text ? `${type}; charset=${charset}` : type,
    'Content-Disposition': `${SHOWN.test(type) ? 'inline' : 'attachment'}; ${fileName(resource, as)}`,
    ...(etag !== undefined && { ETag: etag }),
    ...(lastModified !== undefined && { 'Last-Modified': lastModified }),
  };
}

/** The file name parameters of `Content-Disposition` (RFC 8187). Characters and names that are special to a file system are replaced. */
function fileName({ uri, name }: Resource, as: string | undefined): string {
  const cleaned = (nameOfUri(uri) ?? String(name))
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, '_')
    .replace(/^[.\s]+|[.\s]+$/g, '')
    .slice(0, 120);
  const reserved = cleaned === '' || /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(cleaned);
  const safe = reserved ? `_${cleaned}` : cleaned;
  const full = as === 'text/markdown' ? `${safe}.md` : safe;
  const encoded = encodeURIComponent(full.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `filename="${full.replace(/[^\x20-\x7e]|[%"\\]/g, '_')}"; filename*=UTF-8''${encoded}`;
}
