/**
 * Counts messages that run no operation: pings, handshakes, notifications, unknown methods. They count like requests,
 * so that a flood of them is refused (SEC-UTIL-4).
 */
import type { Principal } from '../../core/context.ts';
import { type ResourceError, toWireError } from '../../core/errors.ts';
import type { Engine } from '../../engine/index.ts';
import { DIRECTORY_READ_METHOD, METADATA_METHOD } from '../../protocol/methods.ts';
import { type HttpAnswer, json } from './exchange.ts';
import { retryHeaders } from './retry-after.ts';

/** Methods that are counted where they run. */
const RUN: ReadonlySet<string> = new Set([
  'resources/list',
  'resources/read',
  METADATA_METHOD,
  DIRECTORY_READ_METHOD,
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'subscriptions/listen',
]);

/** Counts the messages of a POST that run nothing. Returns the refusal of too many; synchronous where nothing counts. */
export function refuseFlood(
  engine: Engine,
  parsed: unknown,
  principal: Principal,
): Promise<HttpAnswer | undefined> | undefined {
  if (Array.isArray(parsed)) return refuseBatch(engine, parsed, principal);
  return isIdle(engine, parsed) ? refuse(engine, parsed, principal) : undefined;
}

async function refuseBatch(
  engine: Engine,
  parsed: readonly unknown[],
  principal: Principal,
): Promise<HttpAnswer | undefined> {
  for (const message of parsed) {
    if (!isIdle(engine, message)) continue;
    // A batch is refused as a whole: otherwise its other messages would get no answer.
    const refused = await refuse(engine, undefined, principal);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

async function refuse(engine: Engine, message: unknown, principal: Principal): Promise<HttpAnswer | undefined> {
  try {
    await engine.admission.count({ method: methodOf(message) ?? '' }, principal);
    return undefined;
  } catch (error) {
    return tooMany(error, idOf(message));
  }
}

/**
 * Makes the HTTP answer for a client over a limit. A request with an id gets status 200, because clients read an error
 * from it, and few read the body of a 429.
 */
export function tooMany(error: unknown, id: string | number | null): HttpAnswer {
  const body = { jsonrpc: '2.0', id, error: toWireError(error as ResourceError) };
  return json(id === null ? 429 : 200, body, retryHeaders(error));
}

function isIdle({ tools, prompts, skills }: Engine, message: unknown): boolean {
  const method = methodOf(message);
  if (method === undefined) return true;
  if (method.startsWith('tools/')) return !tools.some;
  if (method.startsWith('prompts/')) return !prompts.some;
  if (method.startsWith('skills/')) return !skills.some;
  return !RUN.has(method);
}

function methodOf(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null || !('method' in message)) return undefined;
  return typeof message.method === 'string' ? message.method : undefined;
}

export function idOf(message: unknown): string | number | null {
  if (typeof message !== 'object' || message === null || !('id' in message)) return null;
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
