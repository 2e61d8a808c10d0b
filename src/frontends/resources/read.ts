/** `resources/read`: full metadata with every item (2093-1), whole or a window, within a byte budget (SEC-RES-3). */
import { isUtf8 } from 'node:buffer';
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import { withConfirmation } from '../../core/confirmation.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { ByteRange, ReadOptions } from '../../core/provider.ts';
import { withQuestions } from '../../core/questions.ts';
import { withRoots } from '../../core/roots.ts';
import { isBinaryType } from '../../core/text.ts';
import type { InputRequired } from '../../protocol/input-required.ts';
import { ACCEPT_META_KEY, RANGE_META_KEY, WINDOW_META_KEY } from '../../protocol/meta.ts';
import type { ReadParams } from '../../protocol/methods.ts';
import type { CacheHint, ResourceContents } from '../../protocol/resources.ts';
import { answering } from './answer.ts';
import { encodeBody } from './encode.ts';
import { cutLines, type LineRange, splitLines } from './lines.ts';
import type { ResourceOptions } from './options.ts';

export interface ReadResult extends CacheHint {
  readonly contents: readonly ResourceContents[];
}

/** The contents, or a question that has to be answered before they may be read. */
export function readResource(
  options: ResourceOptions,
  params: ReadParams,
  invocation: Invocation,
): Promise<ReadResult | InputRequired> {
  return withRoots(invocation, (rooted) =>
    withConfirmation(rooted, (confirmed) =>
      withQuestions(confirmed, (asking) => readConfirmed(options, params, asking)),
    ),
  );
}

/** The contents, whole, a window or lines, without asking anybody: what is not confirmed in the context is refused. */
export function readConfirmed(options: ResourceOptions, params: ReadParams, ctx: Context): Promise<ReadResult> {
  const { resource, lines } = splitLines(params.uri);
  return answering(options, ctx, (noted) =>
    lines === undefined ? readContents(options, params, noted) : readLines(options, resource, lines, params, noted),
  );
}

type Contents = Pick<ReadResult, 'contents'>;

async function readContents(options: ResourceOptions, params: ReadParams, ctx: Context): Promise<Contents> {
  const range = rangeOf(params);
  const limit = options.limits.maxReadBytes;
  const accept = params._meta?.[ACCEPT_META_KEY];
  return withBodies(options, params.uri, { range, accept }, ctx, async (bodies) => {
    const contents: ResourceContents[] = [];
    let budget = limit;
    for (const body of bodies) {
      const { item, bytes } = await encodeBody(body, { budget, limit, range }, ctx);
      budget -= bytes;
      contents.push(item);
    }
    return { contents };
  });
}

/** Opens what a URI reads as, and closes it when `use` is done. */
export async function withBodies<T>(
  options: ResourceOptions,
  uri: string,
  want: Partial<ReadOptions>,
  ctx: Context,
  use: (bodies: readonly ResourceBody[]) => Promise<T>,
): Promise<T> {
  const { maxReadBytes, maxChildren } = options.limits;
  const bodies = await options.provider.read(uri, { maxBytes: maxReadBytes, maxChildren, ...want }, ctx);
  try {
    return await use(bodies.map((body) => named(body, uri)));
  } finally {
    await closeBodies(bodies);
  }
}

/** Lines of a text, as one item whose URI is the one that was asked for. */
async function readLines(
  options: ResourceOptions,
  resource: string,
  lines: LineRange,
  { uri, _meta }: ReadParams,
  ctx: Context,
): Promise<Contents> {
  const { maxReadBytes } = options.limits;
  const accept = _meta?.[ACCEPT_META_KEY];
  return withBodies(options, resource, { maxChildren: 0, accept }, ctx, async (bodies) => {
    const body = bodies.find((each) => !each.child && !isBinaryType(each.resource.mimeType));
    if (body === undefined) throw invalid('Only a text has lines; read it without the fragment', uri);
    const { bytes, offset } = await cutLines(body, lines, maxReadBytes, ctx);
    const window = {
      offset,
      length: bytes.byteLength,
      ...(body.resource.size !== undefined && { total: body.resource.size }),
    };
    const _meta = { ...body.resource._meta, [WINDOW_META_KEY]: window };
    // Lines in another encoding are given as the bytes they are, like the whole of such a text.
    const content = isUtf8(bytes) ? { text: bytes.toString('utf8') } : { blob: bytes.toString('base64') };
    return { contents: [{ ...body.resource, uri, _meta, ...content }] };
  });
}

/** The content of what was asked for has the URI as it was asked for, however that was spelled (2093-6). */
function named(body: ResourceBody, uri: string): ResourceBody {
  return body.child || body.resource.uri === uri ? body : { ...body, resource: { ...body.resource, uri } };
}

function rangeOf(params: ReadParams): ByteRange | undefined {
  const range = params._meta?.[RANGE_META_KEY];
  return range === undefined ? undefined : { offset: range.offset ?? 0, length: range.length };
}
