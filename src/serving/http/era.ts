/** Which era a POST is of, and whether it says of itself in its headers what it says in its body (SEP-2243). */
import { HEADER_MISMATCH } from '../../protocol/error-codes.ts';
import { claimOf, type Problem, shown } from '../claim.ts';
import { REVISION } from '../dispatch/standing-alone.ts';
import { idIn, isRequest, type RequestMessage } from '../messages.ts';
import { type HttpAnswer, type HttpRequest, json } from './exchange.ts';

export type Entry =
  /** A request or, without one, a notification of 2026-07-28. */
  | { readonly era: 'modern'; readonly request: RequestMessage | undefined }
  | { readonly era: 'legacy' }
  | { readonly refused: HttpAnswer };

const LEGACY: Entry = { era: 'legacy' };

/** The parameter that stands in the header `Mcp-Name`, too. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'resources/read': 'uri',
  'tools/call': 'name',
  'prompts/get': 'name',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** @param body as it was parsed */
export function eraOf({ headers }: HttpRequest, body: unknown): Entry {
  const claim = claimOf(body, {
    version: headers.get('mcp-protocol-version'),
    method: headers.get('mcp-method'),
    name: headers.get('mcp-name'),
  });
  if (claim.kind === 'legacy') return LEGACY;
  if (claim.kind === 'refused') return refused(claim.status, claim.problem, body);
  return isRequest(body) ? entryOf(headers, body) : { era: 'modern', request: undefined };
}

const refused = (status: number, { code, message, data }: Problem, body: unknown): Entry => ({
  refused: json(status, {
    jsonrpc: '2.0',
    error: { code, message, ...(data !== undefined && { data }) },
    id: idIn(body),
  }),
});

/** The request, unless a header that it has to have is missing, or names something else. */
function entryOf(headers: HttpRequest['headers'], request: RequestMessage): Entry {
  const mismatch = (header: string, body: string): Entry =>
    refused(
      400,
      shown({
        code: HEADER_MISMATCH,
        message: `Bad Request: the request headers and body disagree: ${body}`,
        data: { mismatch: { header, body } },
      }),
      request,
    );
  const { method, params = {} } = request;
  if (!headers.has('mcp-protocol-version'))
    return mismatch(
      '(missing)',
      `the body envelope names protocol version ${REVISION} but the required MCP-Protocol-Version header is absent`,
    );
  if (!headers.has('mcp-method'))
    return mismatch('(missing)', `the body names method ${method} but the required Mcp-Method header is absent`);
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  if (field === undefined) return { era: 'modern', request };
  const value = params[field];
  const given = headers.get('mcp-name')?.replace(/^[ \t]+|[ \t]+$/g, '');
  if (given === undefined) {
    if (typeof value !== 'string') return { era: 'modern', request };
    return mismatch(
      '(missing)',
      `the body carries params.${field}="${value}" but the required Mcp-Name header is absent`,
    );
  }
  const decoded = decodedHeader(given);
  if (decoded === undefined) return mismatch(given, 'the Mcp-Name header carries an invalid Base64 sentinel value');
  if (typeof value === 'string' && decoded !== value)
    return mismatch(given, `the body carries params.${field}="${value}" but the Mcp-Name header names "${decoded}"`);
  return { era: 'modern', request };
}

const ENCODED = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The value that a header stands for; undefined when its encoding is broken. */
export function decodedHeader(header: string): string | undefined {
  const encoded = ENCODED.exec(header)?.[1];
  if (encoded === undefined) return header;
  if (!BASE64.test(encoded)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}
