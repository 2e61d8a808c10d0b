/**
 * The SDK's server checks what a tool gave, and sends only the fields that it knows of embedded resources and links.
 * This one has it checked in the same way and sends all of it: their names, sizes and annotations (2093-1, 2093-9, CB-4).
 */
import {
  isInputRequiredResult,
  type JSONRPCRequest,
  type LoggingLevel,
  ProtocolError,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { sayingProblems } from './sdk-problems.ts';

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

const LEVELS: ReadonlySet<unknown> = new Set<LoggingLevel>([
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]);

export class WholeResultServer extends Server {
  #logLevel: LoggingLevel | undefined;

  /** The level that the client of a 2025-era connection has set. */
  get logLevel(): LoggingLevel | undefined {
    return this.#logLevel;
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    return sayingProblems(method, this.wholeHandler(method, handler));
  }

  /** Not `#`: the SDK's constructor comes by here, before there is any such thing. */
  private wholeHandler(method: string, handler: Handler): Handler {
    if (method === 'logging/setLevel') {
      return async (request, ctx) => {
        // The SDK would call it an internal error, and tell how it checks.
        if (!LEVELS.has(request.params?.level)) {
          throw new ProtocolError(-32_602, `level: one of ${[...LEVELS].join(', ')} is needed`);
        }
        const result = await handler(request, ctx);
        this.#logLevel = request.params?.level as LoggingLevel | undefined;
        return result;
      };
    }
    if (method !== 'tools/call') return super._wrapHandler(method, handler);
    return async (request, ctx) => {
      let whole: Result | undefined;
      const keeping: Handler = async (...args) => {
        whole = await handler(...args);
        return whole;
      };
      const checked = await super._wrapHandler(method, keeping)(request, ctx);
      // A question to the client is the SDK's to send, or to turn into the failure that it gives instead.
      return whole === undefined || isInputRequiredResult(whole) ? checked : whole;
    };
  }
}
