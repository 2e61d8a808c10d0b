/**
 * Checks whether a message claims revision 2026-07-28, and whether the claim is valid by the SDK's schemas. Over HTTP
 * it also checks that the headers agree with the body (SEP-2243).
 */

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server';
import type { LoggingLevel } from '../core/invocation.ts';
import { scrub, scrubData } from '../core/text/scrub.ts';
import { type Data, isData } from '../protocol/data.ts';
import { HEADER_MISMATCH } from '../protocol/error-codes.ts';
import { LOGGING_LEVELS } from './dispatch/invocation.ts';
import { REVISION } from './dispatch/standing-alone.ts';
import { isRequest, metaOf, type RequestMessage } from './messages.ts';

export interface Problem {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A refusal has the HTTP status of its answer. */
export type Claim =
  | { readonly kind: 'legacy' }
  /** `request` is undefined for a notification. */
  | { readonly kind: 'modern'; readonly request: RequestMessage | undefined }
  | Refused;

interface Refused {
  readonly kind: 'refused';
  readonly status: number;
  readonly problem: Problem;
}

/** Headers of a POST that repeat parts of its body; none over other wires. */
export interface ClaimHeaders {
  readonly version: string | null;
  readonly method: string | null;
  readonly name: string | null;
}

const LEGACY: Claim = { kind: 'legacy' };

/** Whether the `_meta` of a request is valid for 2026-07-28. If it is not, the schemas say what is wrong. */
function isGood(meta: Data): boolean {
  const client = meta[CLIENT_INFO_META_KEY];
  const level = meta[LOG_LEVEL_META_KEY];
  return (
    meta[PROTOCOL_VERSION_META_KEY] === REVISION &&
    isData(meta[CLIENT_CAPABILITIES_META_KEY]) &&
    (client === undefined ||
      (isData(client) && typeof client.name === 'string' && typeof client.version === 'string')) &&
    (level === undefined || LOGGING_LEVELS.includes(level as LoggingLevel))
  );
}

/** Revisions of the 2025 era, as headers name them. */
const OF_2025: ReadonlySet<string> = new Set(SUPPORTED_PROTOCOL_VERSIONS.filter((each) => each < REVISION));

/** Whether nothing in the message is of 2026-07-28. */
const claimsNothing = (meta: Data, version: string | null = null): boolean =>
  !ENVELOPE.some((key) => key in meta) && (version === null || OF_2025.has(version));

const ENVELOPE = [PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY];

/** @param body a parsed message, or any other value */
export function claimOf(body: unknown, headers?: ClaimHeaders): Claim {
  const request = isRequest(body) ? body : undefined;
  if (request !== undefined) {
    const meta = metaOf(request);
    if (claimsNothing(meta, headers?.version)) return LEGACY;
    const repeated = headers === undefined || (headers.version === REVISION && headers.method === request.method);
    if (repeated && isGood(meta)) return nameProblem(request, headers) ?? { kind: 'modern', request };
  }
  const found = classifyInboundRequest({
    httpMethod: 'POST',
    ...(headers?.version != null && { protocolVersionHeader: headers.version }),
    ...(headers?.method != null && { mcpMethodHeader: headers.method }),
    ...(headers?.name != null && { mcpNameHeader: headers.name }),
    body,
  });
  if (found.kind === 'legacy') return LEGACY;
  if (found.kind === 'reject') return { kind: 'refused', status: found.httpStatus, problem: shown(found) };
  const { revision } = found.classification;
  if (revision !== REVISION) return { kind: 'refused', status: 400, problem: unsupported(revision ?? 'unknown') };
  const problem = request && (headerProblem(request, headers) ?? nameProblem(request, headers));
  return problem ?? { kind: 'modern', request };
}

const mismatch = (header: string, body: string): Refused => ({
  kind: 'refused',
  status: 400,
  problem: shown({
    code: HEADER_MISMATCH,
    message: `Bad Request: the request headers and body disagree: ${body}`,
    data: { mismatch: { header, body } },
  }),
});

/** Checks the headers that every request must have. */
function headerProblem({ method }: RequestMessage, headers: ClaimHeaders | undefined): Refused | undefined {
  if (headers?.version === null)
    return mismatch(
      '(missing)',
      `the body envelope names protocol version ${REVISION} but the required MCP-Protocol-Version header is absent`,
    );
  if (headers?.method === null)
    return mismatch('(missing)', `the body names method ${method} but the required Mcp-Method header is absent`);
  return undefined;
}

/** The parameter that the header `Mcp-Name` repeats, by method. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'resources/read': 'uri',
  'tools/call': 'name',
  'prompts/get': 'name',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

function nameProblem({ method, params }: RequestMessage, headers: ClaimHeaders | undefined): Refused | undefined {
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  if (headers === undefined || field === undefined) return undefined;
  const value = params?.[field];
  const given = headers.name?.replace(/^[ \t]+|[ \t]+$/g, '');
  if (given === undefined) {
    if (typeof value !== 'string') return undefined;
    return mismatch(
      '(missing)',
      `the body carries params.${field}="${value}" but the required Mcp-Name header is absent`,
    );
  }
  const decoded = decodedHeader(given);
  if (decoded === undefined) return mismatch(given, 'the Mcp-Name header carries an invalid Base64 sentinel value');
  if (typeof value === 'string' && decoded !== value)
    return mismatch(given, `the body carries params.${field}="${value}" but the Mcp-Name header names "${decoded}"`);
  return undefined;
}

const ENCODED = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Decodes the value of a header; undefined when its encoding is broken. */
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

/** The problem of a revision that is not served. */
export function unsupported(requested: string): Problem {
  const { code, message, data } = new UnsupportedProtocolVersionError({ supported: [REVISION], requested });
  return shown({ code, message, data });
}

/** Escapes invisible characters of a problem, which quotes the request. */
export const shown = ({ code, message, data }: Problem): Problem => ({
  code,
  message: scrub(message),
  ...(data !== undefined && { data: scrubData(data) }),
});
