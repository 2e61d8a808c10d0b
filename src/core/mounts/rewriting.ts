/**
 * Rewrites URIs of a mounted server inside other values: blocks of tool results, prompts and sampling requests, the
 * view of a tool, and data of errors; and the other way in arguments. Text and structured content are left alone,
 * because the protocol does not say which parts of them are URIs. A value without URIs is not copied.
 */
import { type Data, isData } from '../../protocol/data.ts';
import type { InputRequest, InputRequired } from '../../protocol/input-required.ts';
import { DYNAMIC, type Skill } from '../../protocol/skills.ts';
import { type InputRequests, QuestionsAsked } from '../asking/needed.ts';
import type { Context } from '../context.ts';
import type { ResourceError } from '../errors.ts';
import type { Mount } from './mount.ts';
import { isPrefixed, nativeUri, publishUri } from './published-uris.ts';

/** The most levels of nested blocks, such as tool results within sampling requests, that are rewritten. */
const MAX_DEPTH = 8;

/** Rewrites one block or message, or a list of them, to published URIs. */
export function publishContent<T>(mount: Mount, content: T): T {
  return isPrefixed(mount) ? (walkContent(mount, content, 0) as T) : content;
}

function walkContent(mount: Mount, value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return mapChanged(value, (each) => walkContent(mount, each, depth));
  if (!isData(value) || depth > MAX_DEPTH) return value;
  if (value.type === 'resource' && isData(value.resource)) {
    return { ...value, resource: publishMeta(mount, withUri(mount, value.resource)) };
  }
  if (value.type === 'resource_link') return publishMeta(mount, withUri(mount, value));
  if (!('content' in value)) return value;
  const content = walkContent(mount, value.content, depth + 1);
  return content === value.content ? value : { ...value, content };
}

const withUri = (mount: Mount, value: Data): Data =>
  typeof value.uri === 'string' ? { ...value, uri: publishUri(mount, value.uri) } : value;

/** Rewrites the URIs of a skill and its files. Front matter and digests stay: they are about the unchanged files. */
export function publishSkill(mount: Mount, skill: Skill): Skill {
  if (!isPrefixed(mount)) return skill;
  const { uri, resources } = skill;
  return {
    ...skill,
    uri: publishUri(mount, uri),
    resources:
      resources === DYNAMIC ? resources : resources.map((each) => ({ ...each, uri: publishUri(mount, each.uri) })),
  };
}

/** Rewrites the URI in the data of an error. */
export function publishErrorData(mount: Mount, data: Data): Data {
  return isPrefixed(mount) ? withUri(mount, data) : data;
}

/** Rewrites the view of a tool: `_meta.ui.resourceUri`, and the older flat key. */
export function publishMeta<T extends object>(mount: Mount, described: T): T {
  const meta = (described as { readonly _meta?: unknown })._meta;
  if (!isPrefixed(mount) || !isData(meta)) return described;
  const { ui } = meta;
  const nested = isData(ui) && typeof ui.resourceUri === 'string' ? ui.resourceUri : undefined;
  const flat = typeof meta[FLAT_VIEW] === 'string' ? meta[FLAT_VIEW] : undefined;
  if (nested === undefined && flat === undefined) return described;
  return {
    ...described,
    _meta: {
      ...meta,
      ...(nested !== undefined && { ui: { ...(ui as Data), resourceUri: publishUri(mount, nested) } }),
      ...(flat !== undefined && { [FLAT_VIEW]: publishUri(mount, flat) }),
    },
  };
}

const FLAT_VIEW = 'ui/resourceUri';

/** Rewrites questions to the client: their messages may embed resources and link to them. */
export function publishInputRequests(mount: Mount, asked: InputRequired): InputRequired {
  if (!isPrefixed(mount) || asked.inputRequests === undefined) return asked;
  return { ...asked, inputRequests: publishRequests(mount, asked.inputRequests) };
}

/** Rewrites the questions of a read; returns any other error unchanged. */
export function publishQuestions(mount: Mount, error: ResourceError): ResourceError {
  if (!isPrefixed(mount) || !(error instanceof QuestionsAsked)) return error;
  return new QuestionsAsked(publishRequests(mount, error.requests), error.state, error.uri);
}

function publishRequests(mount: Mount, requests: InputRequests): InputRequests {
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => [key, publishInputRequest(mount, request)]),
  );
}

/** Wraps the client, so that questions of a mounted server during a request are rewritten. */
export function publishAsking<C extends Context>(mount: Mount, ctx: C): C {
  const { client } = ctx;
  const ask = client?.ask;
  if (!isPrefixed(mount) || ask === undefined) return ctx;
  return {
    ...ctx,
    client: { ...client, ask: (request, ...rest) => ask(publishInputRequest(mount, request), ...rest) },
  };
}

/** Rewrites one question. */
function publishInputRequest(mount: Mount, request: InputRequest): InputRequest {
  if (!isPrefixed(mount) || request.method !== 'sampling/createMessage') return request;
  const { messages } = request.params;
  return { ...request, params: { ...request.params, messages: publishContent(mount, messages) } };
}

/**
 * Replaces published URIs in arguments by the server's own, but only where a text consists of nothing but such a URI. Models pass
 * on URIs that they have seen, such as a link in another result.
 */
export function nativeArguments(mount: Mount, args: Data): Data {
  return isPrefixed(mount) ? (walkArguments(mount, args, 0) as Data) : args;
}

function walkArguments(mount: Mount, value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    return value.length <= MAX_URI_ARGUMENT && URI.test(value) ? (nativeUri(mount, value) ?? value) : value;
  }
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return mapChanged(value, (each) => walkArguments(mount, each, depth + 1));
  if (!isData(value)) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, each]): [string, unknown] => {
    const native = walkArguments(mount, each, depth + 1);
    changed ||= native !== each;
    return [key, native];
  });
  return changed ? Object.fromEntries(entries) : value;
}

/** The longest text that may be a URI. */
const MAX_URI_ARGUMENT = 65_536;

/** Matches a URI of a mount: a scheme with the mount in front, and no white space, which tells it from prose. */
const URI = /^(?:[a-z][a-z0-9.-]*\+[a-z][a-z0-9+.-]*:|ui:\/\/)\S*$/i;

function mapChanged(values: readonly unknown[], map: (value: unknown) => unknown): readonly unknown[] {
  let changed = false;
  const mapped = values.map((each) => {
    const after = map(each);
    changed ||= after !== each;
    return after;
  });
  return changed ? mapped : values;
}
