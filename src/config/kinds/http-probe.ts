/**
 * Finds out whether a URL that was typed, or stands for a mount, leads to another MCP server or to a resource of the web.
 * The URL is asked once. One that cannot be reached counts as a server, which may come up later; a block says outright
 * which it is.
 */
import { VERSION } from '../../core/version.ts';

/** How long a start waits for an answer, in milliseconds. */
const PROBE_MS = 3_000;

/** Of an answer, as much as tells whether it is JSON-RPC. */
const MAX_BYTES = 64 * 1024;

const LATEST = '2026-07-28';
const LEGACY = '2025-06-18';

/** Nothing takes messages there: no need to ask in another way. */
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

/** How long an answer counts, in milliseconds: a start looks at its sources more than once. */
const COUNTS_MS = 30_000;

const answers = new Map<string, Promise<boolean>>();

/** The same, without asking twice within one start. */
export async function askedOnce(address: string): Promise<boolean> {
  const known = answers.get(address);
  if (known !== undefined) return await known;
  const answer = isWebResource(address);
  answers.set(address, answer);
  setTimeout(() => answers.delete(address), COUNTS_MS).unref();
  return await answer;
}

/**
 * Whether something other than an MCP server answers there.
 * @param waitMs for all requests together
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
  const asks = response.headers.get('www-authenticate') ?? '';
  const type = response.headers.get('content-type') ?? '';
  const known = session !== null || /resource_metadata/i.test(asks) || isStream(type);
  const speaksMcp = known || isMessage(await beginningOf(response));
  if (known) await response.body?.cancel();
  if (session !== null) await forget(url, session, signal);
  return { status: response.status, speaksMcp };
}

/** Ends the session that was begun by asking. */
async function forget(url: URL, session: string, signal: AbortSignal): Promise<void> {
  try {
    const response = await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': session }, signal });
    await response.body?.cancel();
  } catch {
    // It expires there.
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
