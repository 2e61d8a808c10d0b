/** Answers `resources/read`: the whole or a window, full metadata with every item (2093-1), within a byte budget (SEC-RES-3). */
import { QuestionsAsked } from '../../core/asking/needed.ts';
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import { breaks } from '../../core/breaks.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { Invocation } from '../../core/invocation.ts';
import { Loan } from '../../core/loan.ts';
import { createNotes } from '../../core/notes.ts';
import type { ByteRange, ReadOptions } from '../../core/provider.ts';
import { isUtf8Text, LongText } from '../../core/text/long-text.ts';
import { isBinaryType } from '../../core/text/text.ts';
import { type InputRequired, inputRequired } from '../../protocol/input-required.ts';
import {
  ACCEPT_META_KEY,
  IF_VERSION_META_KEY,
  NOT_MODIFIED_META_KEY,
  RANGE_META_KEY,
  WINDOW_META_KEY,
} from '../../protocol/meta.ts';
import type { ReadParams } from '../../protocol/methods.ts';
import type { CacheHint } from '../../protocol/resources.ts';
import { answering } from './answer.ts';
import { encodeBody, type ItemOf, STRINGS, type TextForm, toBeSent } from './encode.ts';
import { type GivenBodies, isUnasked } from './kept.ts';
import { type LineRange, splitLines } from './line-uri.ts';
import { cutLines } from './lines.ts';
import type { ResourceOptions } from './options.ts';
import { isHeld, versionOfItem, withVersion } from './versions.ts';

export interface ReadResult<T = string> extends CacheHint {
  readonly contents: readonly ItemOf<T>[];
}

/**
 * Returns the contents, or the questions that another server asks before it gives them. The memory of long contents is only
 * lent: whoever sends them gives it back (`LongText.release`).
 */
export async function readResource(
  options: ResourceOptions,
  params: ReadParams,
  invocation: Invocation,
): Promise<ReadResult<string | LongText> | InputRequired> {
  const { state, answers, seal } = invocation;
  // A client that knows the questions may send its answers with the first request.
  const isFirst = state === undefined && Object.keys(answers).length === 0;
  try {
    return await readForClient(options, params, isFirst ? invocation : { ...invocation, round: { answers, state } });
  } catch (error) {
    if (error instanceof QuestionsAsked) return inputRequired(error.requests, seal(error.state));
    throw error;
  }
}

/**
 * The members of the kept result in JSON, if a read would give the same result now; else undefined.
 * @param params as the client sent them. They need no check: with wrong parameters nothing was read, so nothing is kept.
 */
export function readAgain(
  { kept }: ResourceOptions,
  params: { readonly uri: string; readonly _meta?: Readonly<Record<string, unknown>> | undefined },
  ctx: Context,
): string | undefined {
  return kept !== undefined && isPlain(params, ctx) ? kept.again(keyOf(params.uri), ctx) : undefined;
}

/** Whether a request is for the whole, and the answer did not depend on a question. */
const isPlain = (
  { _meta: meta }: { readonly _meta?: Readonly<Record<string, unknown>> | undefined },
  ctx: Context,
): boolean => PARTIAL.every((key) => meta?.[key] === undefined) && isUnasked(ctx);

/** The keys of `_meta` by which a client requests something other than the whole. */
const PARTIAL = [RANGE_META_KEY, ACCEPT_META_KEY, IF_VERSION_META_KEY];

/** Reads for a client: adds icons, and keeps the result if it may be given again. */
async function readForClient(
  options: ResourceOptions,
  params: ReadParams,
  ctx: Context,
): Promise<ReadResult<string | LongText>> {
  const { kept, withIcons, cacheHint } = options;
  const notes = createNotes();
  const loan = new Loan();
  const way: Way<string | LongText> = { form: toBeSent(loan), loan, held: params._meta?.[IF_VERSION_META_KEY] };
  const { contents, from } = await readContents(options, params, { ...ctx, notes }, way).catch((error) => {
    loan.end();
    throw error;
  });
  if (contents === undefined) {
    loan.end();
    return notes.finish({ contents: [], _meta: { [NOT_MODIFIED_META_KEY]: true } }, cacheHint);
  }
  const said = notes.finish({ contents }, cacheHint);
  const result = withIcons === undefined ? said : withIcons(said);
  if (contents.some(isLong)) return result;
  loan.end();
  if (kept === undefined || from === undefined || !notes.silent || !isPlain(params, ctx)) return result;
  return kept.keep(keyOf(params.uri), [from], result);
}

/** The key of a kept answer, which depends on nothing but the spelling of the URI. */
const keyOf = (uri: string): string => `read ${uri}`;

const isLong = (item: ItemOf<string | LongText>): boolean =>
  ('text' in item ? item.text : item.blob) instanceof LongText;

/** Reads the whole, a window or lines without asking a human. A read that the context does not confirm is refused. */
export function readConfirmed(options: ResourceOptions, params: ReadParams, ctx: Context): Promise<ReadResult> {
  return answering(options, ctx, async (noted) => {
    const { contents = [] } = await readContents(options, params, noted, { form: STRINGS });
    return { contents };
  });
}

/** How contents are read. */
interface Way<T> {
  readonly form: TextForm<T>;
  /** The memory to read into. With a loan, the items get their versions. */
  readonly loan?: Loan;
  /** The versions of the contents that the client has. */
  readonly held?: readonly string[] | undefined;
}

interface Contents<T> {
  /** Undefined if the client already has these versions. */
  readonly contents: readonly ItemOf<T>[] | undefined;
  /** The bodies, if the contents are made of nothing else. */
  readonly from?: GivenBodies;
}

async function readContents<T>(
  options: ResourceOptions,
  params: ReadParams,
  ctx: Context,
  way: Way<T>,
): Promise<Contents<T>> {
  const { resource, lines } = splitLines(params.uri);
  if (lines !== undefined) return readLines(options, resource, lines, params, ctx, way);
  const { form, loan, held } = way;
  const accept = params._meta?.[ACCEPT_META_KEY];
  const range = rangeOf(params);
  const limit = options.limits.maxReadBytes;
  return withBodies(options, resource, { range, accept, loan }, ctx, async (bodies, from) => {
    const versions = loan === undefined ? [] : bodies.map((body) => versionOfItem(body, range));
    if (isHeld(versions, held)) return { contents: undefined };
    const contents: ItemOf<T>[] = [];
    let budget = limit;
    const taken = breaks();
    for (const [at, body] of bodies.entries()) {
      const turn = taken();
      if (turn !== undefined) await turn;
      const { item, bytes } = await encodeBody(body, { budget, limit, range }, form, ctx);
      budget -= bytes;
      contents.push(withVersion(item, versions[at]));
    }
    await taken.end();
    return { contents, from };
  });
}

/** Reads the bodies of a URI, passes them to `use`, and closes them when `use` is done. */
export async function withBodies<T>(
  options: ResourceOptions,
  uri: string,
  want: Partial<ReadOptions>,
  ctx: Context,
  use: (bodies: readonly ResourceBody[], given: GivenBodies) => Promise<T>,
): Promise<T> {
  const { maxReadBytes, maxChildren } = options.limits;
  const { loan, ...kept } = want;
  const wanted: ReadOptions = { maxBytes: maxReadBytes, maxChildren, ...kept };
  const bodies = await options.provider.read(uri, loan === undefined ? wanted : { ...wanted, loan }, ctx);
  try {
    return await use(
      bodies.map((body) => named(body, uri)),
      { uri, bodies, want: wanted },
    );
  } finally {
    await closeBodies(bodies);
  }
}

/** Reads lines of a text, as one item with the requested URI. */
async function readLines<T>(
  options: ResourceOptions,
  resource: string,
  lines: LineRange,
  { uri, _meta }: ReadParams,
  ctx: Context,
  { form, loan, held }: Way<T>,
): Promise<Contents<T>> {
  const { maxReadBytes } = options.limits;
  const accept = _meta?.[ACCEPT_META_KEY];
  return withBodies(options, resource, { maxChildren: 0, accept }, ctx, async (bodies) => {
    const body = bodies.find((each) => !each.child && !isBinaryType(each.resource.mimeType));
    if (body === undefined) throw invalid('Only a text has lines; read it without the fragment', uri);
    const version = loan && versionOfItem(body, lines);
    if (isHeld([version], held)) return { contents: undefined };
    const { bytes, offset } = await cutLines(body, lines, maxReadBytes, ctx);
    const window = {
      offset,
      length: bytes.byteLength,
      ...(body.resource.size !== undefined && { total: body.resource.size }),
    };
    const _meta = { ...body.resource._meta, [WINDOW_META_KEY]: window };
    // Lines in another encoding are given as bytes, like the whole of such a text.
    const parts = [bytes];
    const content = isUtf8Text(parts) ? { text: form.utf8(parts) } : { blob: form.base64(parts) };
    return { contents: [withVersion({ ...body.resource, uri, _meta, ...content }, version)] };
  });
}

/** Gives the body of the requested resource the URI as the client spelled it (2093-6). */
function named(body: ResourceBody, uri: string): ResourceBody {
  return body.child || body.resource.uri === uri ? body : { ...body, resource: { ...body.resource, uri } };
}

function rangeOf(params: ReadParams): ByteRange | undefined {
  const range = params._meta?.[RANGE_META_KEY];
  return range === undefined ? undefined : { offset: range.offset ?? 0, length: range.length };
}
