/**
 * Refuses a `tools/call` over HTTP whose `Mcp-Param-*` headers differ from its arguments (SEP-2243). A proxy in front of the server
 * decides by the headers, and the tool acts on the arguments, so both have to agree.
 */

import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { createContext, type Principal } from '../../core/context.ts';
import { toWireError } from '../../core/errors.ts';
import type { HeaderParameter } from '../../core/schema/header-parameters.ts';
import type { Engine } from '../../engine/index.ts';
import { isData } from '../../protocol/data.ts';
import { HEADER_MISMATCH } from '../../protocol/error-codes.ts';
import { decodedHeader } from '../claim.ts';
import { hiddenIn } from '../dispatch/methods.ts';
import { type HttpAnswer, type HttpRequest, json } from './exchange.ts';

const PREFIX = 'Mcp-Param-';
const DECIMAL = /^-?\d+(?:\.\d+)?$/;

/** The most header names that are read from one preflight request. */
const MAX_ASKED = 32;

/** Returns the `Mcp-Param-*` headers that a page wants to send. Any name is allowed, because each tool has its own headers. */
export function askedParamHeaders(headers: Headers): readonly string[] {
  const asked = headers.get('access-control-request-headers')?.split(',', MAX_ASKED) ?? [];
  return asked.map((name) => name.trim()).filter((name) => /^mcp-param-[\w!#$%&'*+.^`|~-]+$/i.test(name));
}

/**
 * Refuses a tool call of 2026-07-28 whose headers and arguments differ, or whose headers the mounted server cannot tell now.
 * Returns undefined for any other request.
 */
export async function refuseParamHeaders(
  { provider, tools, hide }: Engine,
  request: HttpRequest,
  message: unknown,
  principal?: Principal,
): Promise<HttpAnswer | undefined> {
  const call = toolCallOf(request.headers, message);
  if (call === undefined) return undefined;
  const ctx = createContext({ signal: request.signal, ...(principal !== undefined && { principal }) });
  let parameters: readonly HeaderParameter[];
  try {
    parameters = await provider.headerParameters(call.name, tools.ownerOf(call.name), ctx);
  } catch (error) {
    // The mounted server that defines the headers cannot be asked now, so its tool cannot be called either.
    const shown = hiddenIn(toWireError(error, ctx.requestId), hide);
    return json(200, { jsonrpc: '2.0', id: call.id, error: shown });
  }
  const problem = parameters
    .map((parameter) => problemOf(parameter, request.headers.get(PREFIX + parameter.header), call.args))
    .find((each) => each !== undefined);
  if (problem === undefined) return undefined;
  const error = { code: HEADER_MISMATCH, message: `Header mismatch: ${problem}` };
  return json(400, { jsonrpc: '2.0', id: call.id, error });
}

interface ToolCall {
  readonly id: unknown;
  readonly name: string;
  readonly args: unknown;
}

/** A tool call whose standard headers agree with its body; undefined for any other message, which other code checks. */
function toolCallOf(headers: HttpRequest['headers'], message: unknown): ToolCall | undefined {
  if (!isData(message) || message.method !== 'tools/call' || headers.get('mcp-method') !== 'tools/call')
    return undefined;
  const { id, params } = message;
  if (!isData(params) || !isData(params._meta) || typeof params.name !== 'string' || id === undefined) return undefined;
  if (params._meta[PROTOCOL_VERSION_META_KEY] !== headers.get('mcp-protocol-version')) return undefined;
  if (decodedHeader(headers.get('mcp-name') ?? '') !== params.name) return undefined;
  return { id, name: params.name, args: params.arguments };
}

function problemOf({ header, path, type }: HeaderParameter, given: string | null, args: unknown): string | undefined {
  const name = PREFIX + header;
  const value = path.reduce<unknown>((at, key) => (isData(at) && Object.hasOwn(at, key) ? at[key] : undefined), args);
  if (value === undefined || value === null) {
    return given === null ? undefined : `${name} is there, and the argument ${path.join('.')} is not`;
  }
  // A header cannot express this value. The input schema of the tool refuses it, with a better message.
  if (typeof value === 'object') return undefined;
  if (given === null) return `${name} is missing, and the argument ${path.join('.')} is there`;
  const text = decodedHeader(given);
  if (text === undefined) return `${name} is not valid base64 of UTF-8`;
  const agrees = type === 'integer' && DECIMAL.test(text) ? Number(text) === value : text === String(value);
  return agrees ? undefined : `${name} and the argument ${path.join('.')} differ`;
}
