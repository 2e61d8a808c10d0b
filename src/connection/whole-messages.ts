/**
 * Preserves parts of a server's messages that the SDK's client would drop:
 * - the data of an error for which the SDK has a class of its own;
 * - a result that is a task, or that has a list with an invalid entry;
 * - progress that arrives directly before the answer, because the client would have forgotten the request by then;
 * - fields of progress that the client does not know.
 *
 * It also sends the methods of tasks, which the client would refuse to send.
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

/** The key under which data of errors, lists of results and unknown fields of progress pass through the client unchecked. */
const WHOLE = 'vitrine/whole';

/** The key under which a result that is a task passes through the client, which does not know tasks. */
const TASK = 'vitrine/task';

/**
 * Codes of errors whose data the SDK keeps only in part: a resource is missing (two codes), a page has to be opened first, or a
 * capability is missing.
 */
const CLASSED: ReadonlySet<number> = new Set([LEGACY_RESOURCE_NOT_FOUND, INVALID_PARAMS, -32_042, -32_021]);

/** The lists in results. The client does not see their entries; each entry is checked on its own later. */
const LISTS = ['resources', 'resourceTemplates', 'tools', 'prompts', 'contents', 'content', 'messages'] as const;

/** The prefix of a method that the SDK would not send in the connection's era. `sendMeant` removes it. */
export const AS_EXTENSION = 'vitrine/extension/';

/** Methods that list. In the 2026 era the SDK refuses a whole list because of one invalid entry. */
const LISTING: ReadonlySet<string> = new Set(
  ['resources', 'resources/templates', 'tools', 'prompts'].map((of) => `${of}/list`),
);

/** Returns the name under which the SDK sends a request without checking its answer. The transport needs `sendMeant`. */
export const uncheckedMethod = (method: string, era: Era): string =>
  era === 'modern' && LISTING.has(method) ? `${AS_EXTENSION}${method}` : method;

/** Makes the transport send each request under its method's own name. Returns a function that undoes it. */
export function sendMeant(transport: Transport): () => void {
  const { send } = transport;
  const sending: Transport['send'] = (message, options) => send.call(transport, meant(message), options);
  transport.send = sending;
  return () => {
    if (transport.send === sending) transport.send = send;
  };
}

/** Changes messages on their way between a transport and the client that is already connected over it. */
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
    // The client handles a notification one turn after receiving it, so the next message waits for that turn.
    before = before
      .then(() => deliver?.(whole, extra as never))
      .catch((error: unknown) => transport.onerror?.(error as Error));
  };
}

/**
 * Returns the message to send. A request gets its method's own name. A request for changes of tasks declares that the client
 * supports tasks, because servers require it.
 */
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

/** The client gets these empty values in place of the ones in a result. */
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

/** Returns a result with its lists as the server sent them. */
export function wholeResult(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (isData(answer[TASK])) return answer[TASK];
  const { [WHOLE]: whole, ...result } = answer;
  return typeof whole === 'object' && whole !== null ? { ...result, ...whole } : result;
}

/** Keeps the progress fields that the client knows, and moves the others into `_meta`. */
function wrappedProgress<Message extends JSONRPCMessage>(message: Message): Message {
  const { params } = message as { readonly params?: Data };
  if (!isData(params)) return message;
  const { progressToken, progress, total, message: text, _meta, ...others } = params;
  if (Object.keys(others).length === 0) return message;
  const meta = { ...(isData(_meta) && _meta), [WHOLE]: others };
  return { ...message, params: { progressToken, progress, total, message: text, _meta: meta } };
}

/** Returns the fields of a progress report that the protocol does not have, and its `_meta` as the server sent it. */
export function othersOfProgress(_meta: unknown): Data {
  if (!isData(_meta)) return {};
  const { [WHOLE]: others, ...meta } = _meta;
  return { ...(isData(others) && others), ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}

/** Returns the data of an error as the server sent it. */
export function wholeData(data: unknown): unknown {
  return typeof data === 'object' && data !== null && WHOLE in data ? data[WHOLE] : data;
}
