/**
 * Finds out whether a URL, typed or given for a mount, leads to another MCP server or to a resource of the web. A URL that cannot
 * be reached counts as a server, which may come up later. A block in a configuration says which it is, so it needs no probe.
 */
import { VERSION } from '../../core/version.ts';

/** How long a start waits for all answers of one address, in milliseconds. */
const PROBE_MS = 3_000;

/** The most bytes of an answer that are read to tell whether it is JSON-RPC. */
const MAX_BYTES = 64 * 1024;

const LATEST = '2026-07-28';
const LEGACY = '2025-06-18';

/** Statuses of an address that takes no POST, so that the second message is not tried. */
const NO_POST: ReadonlySet<number> = new Set([404, 405, 410, 501]);

const clientInfo = { name: 'vitrine', version: VERSION };

const DISCOVER = {
  method: 'server/discover',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': LATEST,
      'io.modelcontextprotocol/clientInfo': clientInfo,
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};

const INITIALIZE = {
  method: 'initialize',
  params: { protocolVersion: LEGACY, capabilities: {}, clientInfo },
};

/** How long an answer is used, in milliseconds: a start looks at its sources more than once. */
const KEEP_MS = 30_000;

const answers = new Map<string, Promise<boolean>>();

/** Does the same as `isWebResource`, but probes an address only once within `KEEP_MS`. */
export async function isWebResourceOnce(address: string): Promise<boolean> {
  const earlier = answers.get(address);
  if (earlier !== undefined) return await earlier;
  const answer = isWebResource(address);
  answers.set(address, answer);
  setTimeout(() => answers.delete(address), KEEP_MS).unref();
  return await answer;
}

/**
 * Whether something other than an MCP server answers at the address, with a success or a redirect.
 * @param waitMs the most milliseconds for all requests together
 */
export async function isWebResource(address: string, waitMs = PROBE_MS): Promise<boolean> {
  const signal = AbortSignal.timeout(waitMs);
  const url = new URL(address);
  url.hash = '';
  try {
    const first = await post(url, DISCOVER, LATEST, signal);
    if (first.speaksMcp) return false;
    if (!NO_POST.has(first.status) && (await post(url, INITIALIZE, LEGACY, signal)).speaksMcp) return false;
    const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: '*/*' } });
    await response.body?.cancel();
    const type = response.headers.get('content-type') ?? '';
    return response.status < 400 && !isStream(type);
  } catch {
    return false;
  }
}

interface Posted {
  readonly status: number;
  readonly speaksMcp: boolean;
}

async function post(url: URL, message: object, version: string, signal: AbortSignal): Promise<Posted> {
  const { method } = message as { readonly method: string };
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    signal,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': method,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
  const session = response.headers.get('mcp-session-id');
  const challenge = response.headers.get('www-authenticate') ?? '';
  const type = response.headers.get('content-type') ?? '';
  const headersTell = session !== null || /resource_metadata/i.test(challenge) || isStream(type);
  const speaksMcp = headersTell || isMessage(await beginningOf(response));
  if (headersTell) await response.body?.cancel();
  if (session !== null) await endSession(url, session, signal);
  return { status: response.status, speaksMcp };
}

/** Ends the session that the probe has opened. */
async function endSession(url: URL, session: string, signal: AbortSignal): Promise<void> {
  try {
    // A redirect would give the id of the session to another place.
    const init = { method: 'DELETE', redirect: 'manual', signal } as const;
    const response = await fetch(url, { ...init, headers: { 'mcp-session-id': session } });
    await response.body?.cancel();
  } catch {
    // The server lets it expire.
  }
}

const isStream = (contentType: string): boolean => /^\s*text\/event-stream\b/i.test(contentType);

function isMessage(text: string): boolean {
  try {
    const message = JSON.parse(text) as { readonly jsonrpc?: unknown } | null;
    return message?.jsonrpc === '2.0';
  } catch {
    return false;
  }
}

async function beginningOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
