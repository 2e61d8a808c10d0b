/** Answers malformed requests, because their sender would otherwise wait for ever. The error says what is wrong. */
import { isData } from '../../protocol/data.ts';

/** The error for a request that is no valid message; undefined for a value without a method or without a usable id. */
export function answerToUnread(value: unknown): object | undefined {
  if (!isData(value) || !('method' in value)) return undefined;
  const { id, params = {} } = value;
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  return { jsonrpc: '2.0', id, error: problemOf(params) };
}

function problemOf(params: unknown): { readonly code: number; readonly message: string } {
  if (!isData(params)) return { code: -32_602, message: 'params must be an object' };
  const { _meta = {} } = params;
  if (!isData(_meta)) return { code: -32_602, message: 'params._meta must be an object' };
  return { code: -32_600, message: 'The message is not a valid request' };
}
