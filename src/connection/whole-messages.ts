/**
 * Keeps what the SDK's client would lose of a server's messages: data of errors that it has classes for, which know only a
 * part of it; a whole result that is a task, or that has an invalid entry; and progress that comes together with the answer,
 * when the client no longer knows the request. Also sends the methods of tasks, which the client would refuse.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCResultResponse,
  type Transport,
} from '@modelcontextprotocol/client';
import { type Data, isData } from '../protocol/data.ts';
import type { Era } from '../protocol/era.ts';
import { INVALID_PARAMS, LEGACY_RESOURCE_NOT_FOUND } from '../protocol/error-codes.ts';
import { CLIENT_CAPABILITIES_KEY } from '../protocol/meta.ts';
import { isTaskStarted, TASKS_EXTENSION } from '../protocol/tasks.ts';

/** Around the data of an error, so that the SDK takes it for nothing that it knows. */
const WHOLE = 'vitrine/whole';

/** Around a result that is a task, of whose kind the SDK knows nothing. */
const TASK = 'vitrine/task';

/** Codes of whose data the SDK keeps a part: a missing resource, a page to be seen first, a client that lacks something. */
const CLASSED: ReadonlySet<number> = new Set([LEGACY_RESOURCE_NOT_FOUND, INVALID_PARAMS, -32_042, -32_021]);

/** Fields of results with entries, each of which is looked at alone, behind the client. */
const LISTS = ['resources', 'resourceTemplates', 'tools', 'prompts', 'contents', 'content', 'messages'] as const;

/** Before the name of a method that the SDK would not send in the connection's era, since an extension has it. */
export const AS_EXTENSION = 'vitrine/extension/';

/** Lists, which the SDK refuses whole in 2026 where one entry is not valid. */
const LISTING: ReadonlySet<string> = new Set(
  ['resources', 'resources/templates', 'tools', 'prompts'].map((of) => `${of}/list`),
);

/** The name under which the SDK sends a request whose answer it does not look into, over a transport of `sendMeant`. */
export const uncheckedMethod = (method: string, era: Era): string =>
  era === 'modern' && LISTING.has(method) ? `${AS_EXTENSION}${method}` : method;

/** From now on it sends each request under its method's own name. Gives what undoes that. */
export function sendMeant(transport: Transport): () => void {
  const { send } = transport;
  const sending: Transport['send'] = (message, options) => send.call(transport, meant(message), options);
  transport.send = sending;
  return () => {
    if (transport.send === sending) transport.send = send;
  };
}

/** Goes between a transport and the client that has connected over it. */
export function keepWhole(transport: Transport): void {
  sendMeant(transport);
  const deliver = transport.onmessage?.bind(transport);
  let before = Promise.resolve();
  transport.onmessage = (message: JSONRPCMessage, extra?: unknown) => {
    const whole = isJSONRPCErrorResponse(message)
      ? wrapped(message)
      : isJSONRPCResultResponse(message)
        ? wrappedResult(message)
        : 'method' in message && message.method === 'notifications/progress'
          ? wrappedProgress(message)
          : message;
    // The client handles a notification in the turn after it got it: the next message comes after that.
    before = before
      .then(() => deliver?.(whole, extra as never))
      .catch((error: unknown) => transport.onerror?.(error as Error));
  };
}

/** A message as it is to be sent: a request under its method's own name, and one for changes of tasks with what allows it. */
function meant<Message extends JSONRPCMessage>(message: Message): Message {
  if (!('method' in message)) return message;
  const { method, params = {} } = message;
  if (method.startsWith(AS_EXTENSION)) return { ...message, method: method.slice(AS_EXTENSION.length) };
  if (method !== 'subscriptions/listen' || !isData(params.notifications) || !('taskIds' in params.notifications))
    return message;
  const { [CLIENT_CAPABILITIES_KEY]: declared = {}, ...meta } = (params._meta ?? {}) as Data;
  const { extensions = {}, ...others } = declared as Data;
  const capabilities = { ...others, extensions: { ...(extensions as Data), [TASKS_EXTENSION]: {} } };
  return { ...message, params: { ...params, _meta: { ...meta, [CLIENT_CAPABILITIES_KEY]: capabilities } } };
}

function wrapped(message: JSONRPCErrorResponse): JSONRPCErrorResponse {
  const { error } = message;
  if (!CLASSED.has(error.code) || error.data === undefined) return message;
  return { ...message, error: { ...error, data: { [WHOLE]: error.data } } };
}

/** Nothing in the lists for the client to look at. */
const EMPTY: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(LISTS.map((field) => [field, []])),
  completion: { values: [] },
};

function wrappedResult(message: JSONRPCResultResponse): JSONRPCResultResponse {
  const { result } = message;
  if (typeof result !== 'object' || result === null) return message;
  if (isTaskStarted(result)) return { ...message, result: { resultType: 'complete', content: [], [TASK]: result } };
  const kept = Object.keys(EMPTY).filter((field) => Array.isArray(EMPTY[field]) === Array.isArray(result[field]));
  const fields = kept.filter((field) => typeof result[field] === 'object' && result[field] !== null);
  const whole = Object.fromEntries(fields.map((field) => [field, result[field]]));
  const shown = Object.fromEntries(fields.map((field) => [field, EMPTY[field]]));
  return { ...message, result: { ...result, ...shown, [WHOLE]: whole } };
}

/** A result with its lists as the server sent them. */
export function wholeResult(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (isData(answer[TASK])) return answer[TASK];
  const { [WHOLE]: whole, ...result } = answer;
  return typeof whole === 'object' && whole !== null ? { ...result, ...whole } : result;
}

/** Keeps the fields of a report of progress that the client knows, and puts the others into its `_meta`. */
function wrappedProgress<Message extends JSONRPCMessage>(message: Message): Message {
  const { params } = message as { readonly params?: Data };
  if (!isData(params)) return message;
  const { progressToken, progress, total, message: text, _meta, ...others } = params;
  if (Object.keys(others).length === 0) return message;
  const meta = { ...(isData(_meta) && _meta), [WHOLE]: others };
  return { ...message, params: { progressToken, progress, total, message: text, _meta: meta } };
}

/** The fields of a report of progress that the protocol does not have, its `_meta` among them. */
export function othersOfProgress(_meta: unknown): Data {
  if (!isData(_meta)) return {};
  const { [WHOLE]: others, ...meta } = _meta;
  return { ...(isData(others) && others), ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}

/** The data of an error as the server sent it. */
export function wholeData(data: unknown): unknown {
  return typeof data === 'object' && data !== null && WHOLE in data ? data[WHOLE] : data;
}
