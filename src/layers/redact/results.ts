/**
 * Results of mounted servers' tools and prompts: every text in them, and every blob, whatever it is called. There are no
 * URIs to go by: all are looked through.
 */
import { ResourceError } from '../../core/errors.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { NamedRequest } from '../../core/mounted-server.ts';
import type { PublishedServer } from '../../core/published-server.ts';
import { isInputRequired } from '../../protocol/input-required.ts';
import { counted, refused } from './bodies.ts';
import { type Finding, mask } from './mask.ts';
import type { Scanner } from './scanner.ts';

export interface ResultOptions {
  readonly scanner: Scanner;
  readonly maxBytes: number;
  readonly refuse: boolean;
}

/** The server with what its tools and prompts give under the mark. */
export function redactedServer(server: PublishedServer, options: ResultOptions): PublishedServer {
  // What it says of itself changes while it is served: that is looked up, not copied.
  return Object.create(server, {
    callTool: {
      value: async (request: NamedRequest, invocation: Invocation) =>
        redactedResult(await server.callTool(request, invocation), options, invocation.signal),
    },
    getPrompt: {
      value: async (request: NamedRequest, invocation: Invocation) =>
        redactedResult(await server.getPrompt(request, invocation), options, invocation.signal),
    },
  }) as PublishedServer;
}

/** A text of the result, and where its bytes are among those of all. */
interface Piece {
  readonly start: number;
  readonly bytes: Buffer;
  readonly base64: boolean;
}

/** Between two texts, so that nothing is found that begins in one and ends in another. */
const GAP = Buffer.from('\u0001\n\u0001\n');

async function redactedResult<T extends object>(result: T, options: ResultOptions, signal: AbortSignal): Promise<T> {
  // What has gone round with the client is the server's own, and comes back as it left.
  const { requestState, ...said } = result as { readonly requestState?: unknown };
  const pieces: Piece[] = [];
  const parts: Buffer[] = [];
  let size = 0;
  walk(said, '', (text, key) => {
    const base64 = (key === 'blob' || key === 'data') && isBase64(text);
    const bytes = Buffer.from(text, base64 ? 'base64' : 'utf8');
    pieces.push({ start: size, bytes, base64 });
    parts.push(bytes, GAP);
    size += bytes.byteLength + GAP.byteLength;
    if (size > options.maxBytes)
      throw new ResourceError(
        'too-large',
        `The result is larger than the ${options.maxBytes} bytes that are looked through for secrets`,
        { details: { limit: options.maxBytes } },
      );
    return text;
  });
  const findings = await options.scanner.scan(Buffer.concat(parts, size), signal);
  if (findings.length === 0) return result;
  if (options.refuse) throw refused(undefined, findings);
  let index = 0;
  const masked = walk(said, '', (text) => {
    const piece = pieces[index++];
    return piece === undefined ? text : maskedText(text, piece, findings);
  }) as T;
  const whole = requestState === undefined ? masked : { ...masked, requestState };
  return isInputRequired(whole) ? whole : counted(whole, findings);
}

function maskedText(text: string, { start, bytes, base64 }: Piece, findings: readonly Finding[]): string {
  const end = start + bytes.byteLength;
  const own = findings
    .filter((each) => each.start < end && each.end > start)
    .map((each) => ({
      ...each,
      start: Math.max(0, each.start - start),
      end: Math.min(bytes.byteLength, each.end - start),
    }));
  if (own.length === 0) return text;
  const masked = Buffer.from(mask(bytes, own));
  return masked.toString(base64 ? 'base64' : 'utf8');
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

/** Every text in JSON data, as `map` has it. Names of fields stay: they are the server's, as its schemas are. */
function walk(value: unknown, key: string, map: (text: string, key: string) => string): unknown {
  if (typeof value === 'string') return map(value, key);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => walk(each, key, map));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, walk(each, name, map)]));
}
