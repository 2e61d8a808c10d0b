/** Sends one raw request, in either era, and gives the parts of the answer that tests need. */
import type { Era } from '../../e2e/harness.ts';
import { type Answer, http, INITIALIZE, JSON_HEADERS, messageOf, post } from '../../e2e/raw.ts';

export interface Said {
  readonly text: string;
  readonly status: number;
  readonly message: Answer;
  readonly refused: boolean;
}

type Headers = Readonly<Record<string, string>>;

/** Begins a session, if the era has sessions. Gives the headers of its requests. `endSession` ends it. */
export async function beginSession(url: string, era: Era, headers: Headers = {}): Promise<Headers> {
  if (era === 'modern') return headers;
  const begun = await post(url, era, 'initialize', INITIALIZE, headers);
  const id = String(begun.headers['mcp-session-id']);
  return { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25', ...headers };
}

export async function endSession(url: string, era: Era, session: Headers): Promise<void> {
  if (era === 'legacy') await http(url, { method: 'DELETE', headers: { ...JSON_HEADERS, ...session } });
}

/** Sends a request; in the 2025 era in the session of the headers, or in one of its own. `headers` go with every request. */
export async function ask(
  url: string,
  era: Era,
  method: string,
  params: object = {},
  headers: Headers = {},
): Promise<Said> {
  if (era === 'modern') return said(await post(url, era, method, params, { ...namedIn(method, params), ...headers }));
  if ('mcp-session-id' in headers) return said(await post(url, era, method, params, headers));
  const session = await beginSession(url, era, headers);
  try {
    return said(await post(url, era, method, params, session));
  } finally {
    await endSession(url, era, session);
  }
}

/** Calls a tool. A tool error counts as a refusal. */
export async function call(url: string, era: Era, name: string, args: object, headers: Headers = {}): Promise<Said> {
  const outcome = await ask(url, era, 'tools/call', { name, arguments: args }, headers);
  return { ...outcome, refused: outcome.refused || outcome.message.result?.isError === true };
}

function said(response: { readonly text: string; readonly status: number }): Said {
  const message = messageOf({ headers: {}, ...response });
  return { ...response, message, refused: message.error !== undefined };
}

/** Gives the header that the 2026-07-28 era requires, encoded so that it can carry any text. */
function namedIn(method: string, params: object): Headers {
  const { uri, name } = params as { readonly uri?: string; readonly name?: string };
  const value =
    method === 'resources/read' ? uri : method === 'tools/call' || method === 'prompts/get' ? name : undefined;
  return value === undefined ? {} : { 'mcp-name': `=?base64?${Buffer.from(value).toString('base64')}?=` };
}

/** The number of concurrent requests. */
const CONCURRENCY = 16;

export async function forEach<T>(
  items: readonly T[],
  run: (item: T) => Promise<void>,
  concurrency = CONCURRENCY,
): Promise<void> {
  const queue = [...items];
  const workers = Array.from({ length: concurrency }, async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
  });
  await Promise.all(workers);
}
