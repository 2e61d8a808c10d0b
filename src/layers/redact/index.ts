/** The redact layer scans every read for secrets, and covers them or refuses the read. */
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import type { ByteRange, ReadOptions, ResourceProvider, SearchMatch, SearchQuery } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import { type Inspected, inspect, redactedBody, refused, widened } from './bodies.ts';
import {
  CALLED_BY,
  type LabelOptions,
  SPARE_VALUES,
  shownEach,
  shownEntries,
  shownResource,
  shownValues,
} from './labels.ts';
import { redactedNames } from './named.ts';
import { concerning, DEFAULT_MAX_BYTES, type RedactOptions } from './options.ts';
import { MARGIN_BYTES } from './scan-program.ts';
import { createScanner, type ScannerOptions } from './scanner.ts';
import { searchCovered } from './searching.ts';
import { redactedSkills } from './skills.ts';

export type { RedactOptions } from './options.ts';

export interface Redaction {
  readonly layer: Layer;
  /** Ends the threads that scan for secrets. */
  close(): Promise<void>;
}

/**
 * Scans reads of every kind, and the descriptions of resources. A cover is as long as its secret,
 * so sizes, offsets and lines stay the same.
 * @throws ResourceError `invalid` where the library that finds secrets is not installed, and for an invalid glob
 */
export function createRedaction(options: RedactOptions = {}, scanning: ScannerOptions = {}): Redaction {
  const scanner = createScanner(scanning);
  const { uris, except = [], maxBytes = DEFAULT_MAX_BYTES } = options;
  const refuse = options.action === 'refuse';
  const concerns = concerning(uris, except);
  const everything = uris === undefined && except.length === 0;
  const labels: LabelOptions = { scanner, maxBytes, refuse };

  /** Decided by the canonical URI, so that another spelling does not get around the layer. */
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
      const kept = new Set<ResourceBody>();
      let left = maxBytes;
      for (const body of bodies) {
        if (!(body.child ? concerns(body.resource.uri) : concerned || concerns(body.resource.uri))) {
          given.push(body);
          kept.add(body);
          continue;
        }
        const looked = await lookInto(body, body.child ? undefined : range, left, ctx);
        if (looked === undefined) continue;
        left -= looked.inspected.bytes.byteLength;
        given.push(redactedBody(looked.body, body.child ? undefined : range, looked.inspected));
      }
      await closeBodies(bodies.filter((body) => !kept.has(body)));
      return given;
    } catch (error) {
      await closeBodies(bodies);
      throw error;
    }
  }

  /** Returns undefined for a child that is left out because its secrets are refused or it is too large. */
  async function lookInto(
    body: ResourceBody,
    range: ByteRange | undefined,
    left: number,
    ctx: Context,
  ): Promise<{ readonly body: ResourceBody; readonly inspected: Inspected } | undefined> {
    try {
      const described = await withLabels(body, ctx);
      const most = range === undefined ? left : windowed(left);
      const inspected = await inspect(body, range, { scanner, maxBytes: most }, ctx);
      if (refuse && inspected.findings.length > 0) throw refused(body.resource.uri, inspected.findings);
      return { body: described, inspected };
    } catch (error) {
      const leftOut =
        body.child && error instanceof ResourceError && (error.code === 'denied' || error.code === 'too-large');
      if (!leftOut) throw error;
      ctx.log.debug('left out of a read', { uri: body.resource.uri, reason: error.code });
      return undefined;
    }
  }

  /** Covers the secrets in the descriptions of a body; its content is scanned separately. */
  async function withLabels(body: ResourceBody, ctx: Context): Promise<ResourceBody> {
    const { item } = body;
    const resource = await shownResource(body.resource, labels, ctx);
    if (item === undefined) return resource === body.resource ? body : { ...body, resource };
    const [content, none] = 'text' in item ? [{ text: item.text }, { text: '' }] : [{ blob: item.blob }, { blob: '' }];
    return { ...body, resource, item: { ...(await shownResource({ ...item, ...none }, labels, ctx)), ...content } };
  }

  async function metadata(inner: ResourceProvider, uri: string, ctx: Context): Promise<Resource> {
    const resource = await inner.metadata(uri, ctx);
    return concerns(resource.uri) ? shownResource(resource, labels, ctx) : resource;
  }

  async function shownResources(resources: readonly Resource[], ctx: Context): Promise<readonly Resource[]> {
    const concerned = resources.filter(({ uri }) => concerns(uri));
    const shown = (await shownEach(concerned, CALLED_BY.resource, labels, ctx)).values();
    return resources.flatMap((each) => (concerns(each.uri) ? (shown.next().value ?? []) : [each]));
  }

  /** Whether a match may be given: neither its URI nor its path has a secret, with which lists would not show the resource. */
  async function isNamedOpenly({ uri, path = '' }: SearchMatch, ctx: Context): Promise<boolean> {
    if (!concerns(uri)) return true;
    return (await shownEntries([{ uri, path }], FOUND_BY, labels, ctx)).length > 0;
  }

  async function* search(inner: ResourceProvider, query: SearchQuery, ctx: Context): AsyncIterable<SearchMatch> {
    const matches =
      query.pattern === undefined
        ? (inner.search?.(query, ctx) ?? [])
        : searchCovered(inner, query, { scanner, concerns, refuse }, ctx);
    let last: { readonly uri: string; readonly open: boolean } | undefined;
    for await (const match of matches) {
      if (last?.uri !== match.uri) last = { uri: match.uri, open: await isNamedOpenly(match, ctx) };
      if (last.open) yield match;
    }
  }

  return {
    layer: (inner) =>
      wrapProvider(inner, {
        ...redactedNames(inner, { ...labels, concerns }),
        ...redactedSkills(inner, { ...labels, concerns }),
        async list(uri, page, ctx) {
          const { resources, ...rest } = await inner.list(uri, page, ctx);
          return { ...rest, resources: await shownResources(resources, ctx) };
        },
        metadata: (uri, ctx) => metadata(inner, uri, ctx),
        read: (uri, want, ctx) => read(inner, uri, want, ctx),
        async listTemplates(page, ctx) {
          const { resourceTemplates, ...rest } = (await inner.listTemplates?.(page, ctx)) ?? { resourceTemplates: [] };
          return { ...rest, resourceTemplates: await shownEntries(resourceTemplates, CALLED_BY.template, labels, ctx) };
        },
        async complete(request, ctx) {
          const limit = request.limit + SPARE_VALUES;
          const completed = (await inner.complete?.({ ...request, limit }, ctx)) ?? { values: [], hasMore: false };
          return shownValues(completed, request.limit, labels, ctx);
        },
        search: (query, ctx) => search(inner, query, ctx),
      }),
    close: () => scanner.close(),
  };
}

/** Fields of a match that reveal its resource, even in part. */
const FOUND_BY: ReadonlySet<string> = new Set(['uri', 'path']);

/** A window is scanned together with the bytes around it. */
const windowed = (bytes: number): number => bytes + 2 * MARGIN_BYTES;
