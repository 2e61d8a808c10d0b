/** The redact layer: what is read is looked through for secrets, which are covered, or not given at all. */
import picomatch from 'picomatch';
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import type { ByteRange, ReadOptions, ResourceProvider } from '../../core/provider.ts';
import type { PublishedServer } from '../../core/published-server.ts';
import { compileLineTest } from '../../core/search.ts';
import { type Inspected, inspect, redactedBody, refused, widened } from './bodies.ts';
import { DEFAULT_MAX_BYTES, type RedactOptions } from './options.ts';
import { redactedServer } from './results.ts';
import { MARGIN_BYTES } from './scan-program.ts';
import { createScanner, type ScannerOptions } from './scanner.ts';
import { mayTell } from './searching.ts';

export type { RedactOptions } from './options.ts';

export interface Redaction {
  readonly layer: Layer;
  /** For what tools and prompts of mounted servers give. */
  readonly server: (server: PublishedServer) => PublishedServer;
  /** Ends the thread that looks. */
  close(): Promise<void>;
}

/**
 * Looks through what is read, whichever way. The mark is as long as the secret: sizes, offsets, and lines stay.
 * @throws ResourceError `invalid` where the library that knows secrets is not installed
 */
export function createRedaction(options: RedactOptions = {}, scanning: ScannerOptions = {}): Redaction {
  const scanner = createScanner(scanning);
  const { uris, except = [], maxBytes = DEFAULT_MAX_BYTES } = options;
  const refuse = options.action === 'refuse';
  const included = uris === undefined ? () => true : picomatch([...uris], { dot: true });
  const excluded = except.length === 0 ? () => false : picomatch([...except], { dot: true });
  const concerns = (uri: string): boolean => included(uri) && !excluded(uri);
  const everything = uris === undefined && except.length === 0;

  /** Asked of the canonical URI, so that another spelling does not go round it. */
  const concernsRead = async (inner: ResourceProvider, uri: string, ctx: Context): Promise<boolean> =>
    everything || concerns((await inner.metadata(uri, ctx)).uri);

  async function read(inner: ResourceProvider, uri: string, want: ReadOptions, ctx: Context) {
    const concerned = await concernsRead(inner, uri, ctx);
    const { range } = want;
    const asked =
      range === undefined || !concerned
        ? want
        : { ...want, range: widened(range), maxBytes: want.maxBytes + 2 * MARGIN_BYTES };
    const bodies = await inner.read(uri, asked, ctx);
    try {
      const given: ResourceBody[] = [];
      let left = maxBytes;
      for (const body of bodies) {
        if (!(body.child ? concerns(body.resource.uri) : concerned || concerns(body.resource.uri))) {
          given.push(body);
          continue;
        }
        const looked = await lookInto(body, body.child ? undefined : range, left, ctx);
        if (looked === undefined) continue;
        left -= looked.bytes.byteLength;
        given.push(redactedBody(body, body.child ? undefined : range, looked));
      }
      await closeBodies(bodies.filter((body) => !given.includes(body)));
      return given;
    } catch (error) {
      await closeBodies(bodies);
      throw error;
    }
  }

  /** Undefined for a child that is left out, as those are that do not fit. */
  async function lookInto(
    body: ResourceBody,
    range: ByteRange | undefined,
    left: number,
    ctx: Context,
  ): Promise<Inspected | undefined> {
    try {
      const looked = await inspect(
        body,
        range,
        { scanner, maxBytes: range === undefined ? left : windowed(left) },
        ctx,
      );
      if (refuse && looked.findings.length > 0) throw refused(body.resource.uri, looked.findings);
      return looked;
    } catch (error) {
      const leftOut =
        body.child && error instanceof ResourceError && (error.code === 'denied' || error.code === 'too-large');
      if (!leftOut) throw error;
      ctx.log.debug('left out of a read', { uri: body.resource.uri, reason: error.code });
      return undefined;
    }
  }

  async function inspectRange(
    inner: ResourceProvider,
    uri: string,
    range: ByteRange,
    ctx: Context,
  ): Promise<Inspected | undefined> {
    const wide = widened(range);
    const bodies = await inner.read(uri, { range: wide, maxBytes: windowed(maxBytes), maxChildren: 0 }, ctx);
    try {
      const [body] = bodies;
      if (body === undefined || body.child) return undefined;
      return await inspect(body, range, { scanner, maxBytes: windowed(maxBytes) }, ctx);
    } finally {
      await closeBodies(bodies);
    }
  }

  return {
    layer: (inner) =>
      wrapProvider(inner, {
        read: (uri, want, ctx) => read(inner, uri, want, ctx),
        async *search(query, ctx) {
          const test = refuse ? undefined : await compileLineTest(query);
          const look = (uri: string, range: ByteRange, own: Context) => inspectRange(inner, uri, range, own);
          for await (const match of inner.search?.(query, ctx) ?? []) {
            if (!concerns(match.uri) || (await mayTell(match, look, test, ctx))) yield match;
          }
        },
      }),
    server: (server) => redactedServer(server, { scanner, maxBytes, refuse }),
    close: () => scanner.close(),
  };
}

/** A window is looked through with what is around it. */
const windowed = (bytes: number): number => bytes + 2 * MARGIN_BYTES;
