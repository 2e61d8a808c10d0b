/**
 * URIs of a mounted server where they occur inside of other things: blocks of tool results, prompts and sampling
 * requests, the view of a tool, data of errors, and back again in arguments. What is not a URI by the protocol, such as
 * text and structured content, is left alone. Nothing is copied that has none.
 */
import type { InputRequest, InputRequired } from '../../protocol/input-required.ts';
import { DYNAMIC, type Skill } from '../../protocol/skills.ts';
import { type InputRequests, QuestionsAsked } from '../asking/needed.ts';
import type { Context } from '../context.ts';
import type { ResourceError } from '../errors.ts';
import type { Mount } from './mount.ts';
import { isPrefixed, nativeUri, publishUri } from './published-uris.ts';

type Data = Readonly<Record<string, unknown>>;

/** Blocks within blocks, as in results of tools within sampling, are followed this deep. */
const MAX_DEPTH = 8;

/** One block or message, or a list of them, as published. */
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

/** A skill with its files. Its front matter stays as its author wrote it, and its digests are of the same bytes. */
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

/** The data of an error names the resource that it is about. */
export function publishErrorData(mount: Mount, data: Data): Data {
  return isPrefixed(mount) ? withUri(mount, data) : data;
}

/** The view of a tool: `_meta.ui.resourceUri`, and the flat key of before. */
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

/** Questions to the client, whose messages may embed resources and link to them. */
export function publishInputRequests(mount: Mount, asked: InputRequired): InputRequired {
  if (!isPrefixed(mount) || asked.inputRequests === undefined) return asked;
  return { ...asked, inputRequests: publishRequests(mount, asked.inputRequests) };
}

/** Questions of a read; any other error as it is. */
export function publishQuestions(mount: Mount, error: ResourceError): ResourceError {
  if (!isPrefixed(mount) || !(error instanceof QuestionsAsked)) return error;
  return new QuestionsAsked(publishRequests(mount, error.requests), error.state, error.uri);
}

function publishRequests(mount: Mount, requests: InputRequests): InputRequests {
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => [key, publishInputRequest(mount, request)]),
  );
}

/** The client as a mounted server asks it, while a request is running. */
export function publishAsking<C extends Context>(mount: Mount, ctx: C): C {
  const { client } = ctx;
  const ask = client?.ask;
  if (!isPrefixed(mount) || ask === undefined) return ctx;
  return { ...ctx, client: { ...client, ask: (request, signal) => ask(publishInputRequest(mount, request), signal) } };
}

/** One question. */
function publishInputRequest(mount: Mount, request: InputRequest): InputRequest {
  if (!isPrefixed(mount) || request.method !== 'sampling/createMessage') return request;
  const { messages } = request.params;
  return { ...request, params: { ...request.params, messages: publishContent(mount, messages) } };
}

/**
 * Arguments as the server itself knows them: a text that is as a whole a published URI of the mount is turned back.
 * A model hands on what it was shown, such as the URI of a link in another result.
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

/** The longest text that is looked at: a URI has at most that many characters. */
const MAX_URI_ARGUMENT = 65_536;

/** A scheme with a mount before it, and no white space: prose that begins like one is not a URI. */
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

const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value);
