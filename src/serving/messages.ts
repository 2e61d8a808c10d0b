/** Recognises JSON-RPC 2.0 messages by the shapes in the protocol's schema. Anything else, such as an unknown field, is rejected. */

import { jsonOf } from '../core/kept.ts';
import { type Data, isData } from '../protocol/data.ts';
import { RELATED_TASK_META_KEY } from '../protocol/tasks.ts';

export type MessageId = string | number;

export interface RequestMessage {
  readonly jsonrpc: '2.0';
  readonly id: MessageId;
  readonly method: string;
  readonly params?: Data;
}

export interface NotificationMessage {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Data;
}

/** The client's answer to a request of the server. */
export interface ResponseMessage {
  readonly jsonrpc: '2.0';
  readonly id?: MessageId;
  readonly result?: Data;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export type Message = RequestMessage | NotificationMessage | ResponseMessage;

/** The JSON of an outgoing message. */
export function jsonOfMessage(message: object): string {
  const { result, ...envelope } = message as { readonly result?: unknown };
  if (!isData(result)) return JSON.stringify(message);
  return `${JSON.stringify(envelope).slice(0, -1)},"result":${jsonOf(result)}}`;
}

const isId = (value: unknown): value is MessageId => typeof value === 'string' || Number.isSafeInteger(value);

/** Whether a message has no other fields than these, and at least the first `needed` of them. */
function hasFields(message: Data, fields: readonly string[], needed: number): boolean {
  for (const key of Object.keys(message)) if (!fields.includes(key)) return false;
  for (let at = 0; at < needed; at++) if (!Object.hasOwn(message, fields[at] as string)) return false;
  return true;
}

function areParams(params: unknown): boolean {
  if (params === undefined) return true;
  if (!isData(params)) return false;
  const { _meta: meta } = params;
  if (meta === undefined) return true;
  if (!isData(meta)) return false;
  const { progressToken: token, [RELATED_TASK_META_KEY]: task } = meta;
  return (
    (token === undefined || isId(token)) && (task === undefined || (isData(task) && typeof task.taskId === 'string'))
  );
}

const REQUEST = ['jsonrpc', 'id', 'method', 'params'];
const NOTIFICATION = ['jsonrpc', 'method', 'params'];
const RESULT = ['jsonrpc', 'id', 'result'];
const FAILURE = ['jsonrpc', 'error', 'id'];

export function isRequest(value: unknown): value is RequestMessage {
  if (!isData(value) || !hasFields(value, REQUEST, 3)) return false;
  return value.jsonrpc === '2.0' && isId(value.id) && typeof value.method === 'string' && areParams(value.params);
}

export function isNotification(value: unknown): value is NotificationMessage {
  if (!isData(value) || !hasFields(value, NOTIFICATION, 2)) return false;
  return value.jsonrpc === '2.0' && typeof value.method === 'string' && areParams(value.params);
}

export function isResponse(value: unknown): value is ResponseMessage {
  if (!isData(value) || value.jsonrpc !== '2.0') return false;
  const { id, result, error } = value;
  if (hasFields(value, RESULT, 3))
    return isId(id) && isData(result) && (result._meta === undefined || isData(result._meta));
  if (!hasFields(value, FAILURE, 2) || !isData(error) || (id !== undefined && !isId(id))) return false;
  return Number.isSafeInteger(error.code) && typeof error.message === 'string';
}

/** The value as a message; undefined if it is none. */
export const asMessage = (value: unknown): Message | undefined =>
  isRequest(value) || isNotification(value) || isResponse(value) ? value : undefined;

/** The id with which an error about a malformed request can be answered; null if the value has no usable id. */
export function idIn(value: unknown): MessageId | null {
  if (!isData(value) || typeof value.method !== 'string') return null;
  return typeof value.id === 'string' || typeof value.id === 'number' ? value.id : null;
}

/** The `_meta` of a request. */
export const metaOf = ({ params }: Pick<RequestMessage, 'params'>): Data => (params?._meta as Data | undefined) ?? {};
