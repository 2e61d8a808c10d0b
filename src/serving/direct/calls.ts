/**
 * `tools/call` and `prompts/get` on the direct path. Here a call runs once, whatever comes of it: what is not plainly a
 * result goes to the SDK as it is (`handed-on.ts`), which checks it, or asks the client, as it does with all others.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
} from '@modelcontextprotocol/server';
import { createContext, type Log, type Principal } from '../../core/context.ts';
import { detached, type Invocation } from '../../core/invocation.ts';
import type { Vitrine } from '../../vitrine.ts';
import { refuseParamHeaders } from '../http/param-headers.ts';
import { declaredFeatures, sealerOf } from '../invocation.ts';
import type { Method } from '../methods.ts';
import { plainMessage, runObserved } from '../observed.ts';
import { handOn } from './handed-on.ts';

type Data = Readonly<Record<string, unknown>>;

/** A call that may run here. */
export interface PlainCall {
  readonly request: Request;
  readonly parsed: unknown;
  readonly method: Method;
  readonly params: unknown;
  readonly declared: ClientCapabilities;
  readonly principal: Principal;
}

export interface DirectCalls {
  /** Whether calls of the method are taken now. */
  takes(method: Method): boolean;
  /** The plain result, or the whole answer; undefined when what came of it was handed on. */
  run(call: PlainCall): Promise<{ readonly plain: object } | Response | undefined>;
  /** Ends the calls that are under way. */
  close(): void;
}

export function createDirectCalls(vitrine: Vitrine, log: Log): DirectCalls {
  const underWay = new Set<() => void>();
  let closed = false;

  async function outcome(call: PlainCall, signal: AbortSignal): Promise<{ readonly plain: object } | undefined> {
    const { request, method, params, declared, principal } = call;
    const client = declaredFeatures(declared);
    const ctx = createContext({ principal, signal, log, client });
    const invocation: Invocation = { ...detached(ctx), client, seal: sealerOf(vitrine, method.name, params, ctx) };
    try {
      const { telemetry } = vitrine;
      const result =
        telemetry === undefined
          ? await method.run(params, invocation)
          : await runObserved(telemetry, method, params, invocation, plainMessage(request, call.parsed));
      if (isPlainResult(method.name, result as Data)) return { plain: result };
      handOn(request, { requestId: ctx.requestId, result });
    } catch (error) {
      handOn(request, { requestId: ctx.requestId, error });
    }
    return undefined;
  }

  return {
    takes: ({ name }) => !closed && (name === 'tools/call' ? vitrine.tools.some : vitrine.prompts.some),
    async run(call) {
      const { request, parsed, method, principal } = call;
      if (method.name === 'tools/call') {
        const refused = await refuseParamHeaders(vitrine, request, parsed, principal);
        if (refused !== undefined) return refused;
      }
      const abort = new AbortController();
      let leave = (): void => {};
      // Whoever has gone is not waited for, nor is a call that does not stop when it is told to.
      const left = new Promise<Response>((resolve) => {
        leave = () => {
          resolve(new Response(null, { status: 499 }));
          abort.abort(request.signal.reason);
        };
      });
      if (closed || request.signal.aborted) return new Response(null, { status: 499 });
      request.signal.addEventListener('abort', leave, { once: true });
      underWay.add(leave);
      try {
        return await Promise.race([outcome(call, abort.signal), left]);
      } finally {
        underWay.delete(leave);
        request.signal.removeEventListener('abort', leave);
      }
    },
    close() {
      closed = true;
      for (const leave of underWay) leave();
    },
  };
}

const PARAMS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);

/** Parameters of a first round, from a client whose description of itself has nothing in it that the SDK may refuse. */
export function isPlainCall(params: Data & { readonly _meta: Data }): boolean {
  const capabilities = params._meta[CLIENT_CAPABILITIES_META_KEY] as Data;
  const client = params._meta[CLIENT_INFO_META_KEY] as Data;
  return (
    Object.keys(params).every((key) => PARAMS.has(key)) &&
    Object.entries(client).every(([key, value]) => typeof value === 'string' && key !== 'websiteUrl') &&
    Object.entries(capabilities).every(([name, each]) => isObject(each) && Object.values(each).every(partOf(name)))
  );
}

const OPEN_CAPABILITIES: ReadonlySet<string> = new Set(['extensions', 'experimental']);

/** A part of a capability: an object, empty where the specification knows what may be in it. */
const partOf =
  (capability: string) =>
  (part: unknown): boolean =>
    isObject(part) && (OPEN_CAPABILITIES.has(capability) || Object.keys(part).length === 0);

const RESULT_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  'tools/call': new Set(['content', 'structuredContent', 'isError', '_meta']),
  'prompts/get': new Set(['messages', 'description', '_meta']),
};

/** A complete result, and of a tool one of texts alone: what else there may be in it, the SDK checks. */
function isPlainResult(method: string, result: Data): boolean {
  const fields = RESULT_FIELDS[method];
  const { content, structuredContent = {}, isError = false, _meta = {} } = result;
  if (fields === undefined || !Object.keys(result).every((key) => fields.has(key)) || !isObject(_meta)) return false;
  if (method === 'prompts/get') return true;
  if (typeof isError !== 'boolean' || !isObject(structuredContent)) return false;
  return Array.isArray(content) && content.every(isPlainText);
}

const isPlainText = (block: unknown): boolean =>
  isObject(block) && block.type === 'text' && typeof block.text === 'string' && Object.keys(block).length === 2;

const isObject = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
