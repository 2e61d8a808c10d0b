/**
 * The direct path of HTTP for plain 2026-07-28 requests: the same frontends, without a server object for each request.
 *
 * It takes a request only when it would pass every check of the SDK's own path, and leaves everything else to that one:
 * it adds speed and no behaviour. `direct.test.ts` compares the two, answer by answer.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { ConfirmationNeeded } from '../../core/confirmation.ts';
import { ANONYMOUS, createContext, type Log, type Principal } from '../../core/context.ts';
import { detached } from '../../core/invocation.ts';
import { RootsNeeded } from '../../core/roots.ts';
import type { Vitrine } from '../../vitrine.ts';
import { retryHeaders } from '../http/retry-after.ts';
import { holdUntilSent } from '../http/sending.ts';
import { declaredFeatures } from '../invocation.ts';
import { type Method, methodsOf, offersTo, signatureOf, wireErrorOf, withMeta } from '../methods.ts';
import { plainMessage, runObserved } from '../observed.ts';
import { createDirectCalls, isPlainCall, type PlainCall } from './calls.ts';

const REVISION = '2026-07-28';

export interface Direct {
  /** The answer to a request, or undefined when it is not one for this path. */
  answer(request: Request, parsed: unknown, principal?: Principal): Promise<Response | undefined> | undefined;
  /** Ends the calls that are under way. */
  close(): void;
}

export function createDirect(vitrine: Vitrine, log: Log): Direct {
  const methods = methodsOf(vitrine);
  const signature = signatureOf(vitrine);
  const calls = createDirectCalls(vitrine, log);

  const answerOf = (id: string | number, result: object): Response =>
    json({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...withMeta(result, signature) } });

  async function call(id: string | number, plain: PlainCall): Promise<Response | undefined> {
    const outcome = await calls.run(plain);
    if (outcome === undefined || outcome instanceof Response) return outcome;
    holdUntilSent(vitrine.admission, plain.request, outcome.plain);
    return answerOf(id, outcome.plain);
  }

  async function run(
    id: string | number,
    method: Method,
    params: unknown,
    declared: ClientCapabilities,
    request: Request,
    principal: Principal,
    parsed: PlainRequest,
  ): Promise<Response | undefined> {
    const { signal } = request;
    const client = declaredFeatures(declared);
    const ctx = createContext({ principal, signal, log, client });
    const invocation = { ...detached(ctx), client, seal: needWayBack };
    const { telemetry } = vitrine;
    try {
      const result =
        telemetry === undefined
          ? await method.run(params, invocation)
          : await runObserved(telemetry, method, params, invocation, plainMessage(request, parsed, asks));
      holdUntilSent(vitrine.admission, request, result);
      return answerOf(id, result);
    } catch (error) {
      if (asks(error)) return undefined;
      return json({ jsonrpc: '2.0', id, error: wireErrorOf(vitrine, error, method.name, ctx) }, retryHeaders(error));
    }
  }

  return {
    answer(request, parsed, principal = ANONYMOUS) {
      if (!isPlainRequest(parsed) || !headersAgree(request.headers, parsed)) return undefined;
      const method = methods.get(parsed.method);
      if (method === undefined || 'inputResponses' in parsed.params || 'requestState' in parsed.params)
        return undefined;
      if (!offersTo(vitrine, principal)(method.name)) return undefined;
      if (!method.plain && !(isPlainCall(parsed.params) && calls.takes(method))) return undefined;
      const params = method.params.safeParse(parsed.params);
      if (!params.success) return undefined;
      const declared = parsed.params._meta[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities;
      return method.plain
        ? run(parsed.id, method, params.data, declared, request, principal, parsed)
        : call(parsed.id, { request, parsed, method, params: params.data, declared, principal });
    },
    close: () => calls.close(),
  };
}

/** The client is to be asked something: that takes the way back, which this path does not have. */
class WayBackNeeded extends Error {}

const needWayBack = (): never => {
  throw new WayBackNeeded();
};

const asks = (error: unknown): boolean =>
  error instanceof WayBackNeeded || error instanceof ConfirmationNeeded || error instanceof RootsNeeded;

const json = (message: object, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(message), { headers: { 'Content-Type': 'application/json', ...headers } });

interface PlainRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> & { readonly _meta: Readonly<Record<string, unknown>> };
}

/** A request with a well-formed envelope of the one revision, that asks for no progress and no log messages. */
function isPlainRequest(message: unknown): message is PlainRequest {
  if (!isObject(message) || !isObject(message.params) || !isObject(message.params._meta)) return false;
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== '2.0' || typeof method !== 'string') return false;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return false;
  const meta = params._meta as Readonly<Record<string, unknown>>;
  const client = meta[CLIENT_INFO_META_KEY];
  if (meta[PROTOCOL_VERSION_META_KEY] !== REVISION || !isObject(meta[CLIENT_CAPABILITIES_META_KEY])) return false;
  if (!isObject(client) || typeof client.name !== 'string' || typeof client.version !== 'string') return false;
  return (
    Object.keys(meta).every((key) => !key.startsWith('io.modelcontextprotocol/') || ENVELOPE.has(key)) &&
    meta.progressToken === undefined
  );
}

const ENVELOPE: ReadonlySet<string> = new Set([
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
]);

/** The parameter that stands in the header `Mcp-Name`, too. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'resources/read': 'uri',
  'tools/call': 'name',
  'prompts/get': 'name',
};

function headersAgree(headers: Headers, { method, params }: PlainRequest): boolean {
  if (headers.get('mcp-protocol-version') !== REVISION || headers.get('mcp-method') !== method) return false;
  const accept = headers.get('accept') ?? '';
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) return false;
  // Only a name that stands for itself; encoded ones are left to the SDK.
  const field = NAMED_BY[method];
  if (field === undefined) return true;
  const name = params[field];
  return headers.get('mcp-name') === name && !String(name).startsWith('=?');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
