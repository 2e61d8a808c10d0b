/** Whether a message claims to be one of 2026-07-28, and whether that claim is good; as the SDK's schemas have it. */
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
import { scrub, scrubData } from '../core/scrub.ts';
import { LOGGING_LEVELS } from './dispatch/invocation.ts';
import { REVISION } from './dispatch/standing-alone.ts';
import { type Data, isData, isRequest, metaOf } from './messages.ts';

export interface Problem {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** `refused` comes with the status that it has over HTTP. */
export type Claim =
  | { readonly kind: 'legacy' }
  | { readonly kind: 'modern' }
  | { readonly kind: 'refused'; readonly status: number; readonly problem: Problem };

/** Headers of a POST that repeat what is in its body; none over other wires. */
export interface ClaimHeaders {
  readonly version: string | null;
  readonly method: string | null;
  readonly name: string | null;
}

const LEGACY: Claim = { kind: 'legacy' };
const MODERN: Claim = { kind: 'modern' };

/** An envelope that has what is needed of it; of anything else the schemas say what is wrong. */
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

/** Nothing in it is of 2026-07-28. */
const claimsNothing = (meta: Data, version: string | null = null): boolean =>
  !ENVELOPE.some((key) => key in meta) && (version === null || OF_2025.has(version));

const ENVELOPE = [PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY];

/** @param body a message as it was parsed, or what should have been one */
export function claimOf(body: unknown, headers?: ClaimHeaders): Claim {
  if (isRequest(body)) {
    const meta = metaOf(body);
    if (claimsNothing(meta, headers?.version)) return LEGACY;
    const repeated = headers === undefined || (headers.version === REVISION && headers.method === body.method);
    if (repeated && isGood(meta)) return MODERN;
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
  return MODERN;
}

/** A revision that is not served. */
export function unsupported(requested: string): Problem {
  const { code, message, data } = new UnsupportedProtocolVersionError({ supported: [REVISION], requested });
  return shown({ code, message, data });
}

/** A problem in visible characters: what is wrong is named as it was sent. */
export const shown = ({ code, message, data }: Problem): Problem => ({
  code,
  message: scrub(message),
  ...(data !== undefined && { data: scrubData(data) }),
});
