/**
 * The SDK checks parameters with schemas. The handlers that it brings itself throw what those say as an internal error, in
 * JSON; before others it names what is wrong as it was sent. A client is told that its parameters are not right, and
 * which, in visible characters.
 */
import { type JSONRPCRequest, ProtocolError, type Result, type ServerContext } from '@modelcontextprotocol/server';
import { scrub } from '../core/scrub.ts';

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

/** Problems that are told at once. */
const MAX_PROBLEMS = 5;

/** The handler, whose refusal of parameters is one that a client understands (JSON-RPC `-32602`). */
export const sayingProblems =
  (method: string, handler: Handler): Handler =>
  async (request, ctx) => {
    try {
      return await handler(request, ctx);
    } catch (error) {
      if (error instanceof ProtocolError) {
        error.message = scrub(error.message);
        throw error;
      }
      const problems = problemsIn(error);
      throw problems === undefined
        ? error
        : new ProtocolError(-32_602, scrub(`Invalid params for ${method}: ${problems}`));
    }
  };

/** What a schema has found, where the error is one of a schema. */
function problemsIn(error: unknown): string | undefined {
  if (!(error instanceof Error) || !error.message.startsWith('[')) return undefined;
  let issues: unknown;
  try {
    issues = JSON.parse(error.message);
  } catch {
    return undefined;
  }
  if (!Array.isArray(issues)) return undefined;
  return issues.slice(0, MAX_PROBLEMS).map(problemOf).join('; ');
}

function problemOf(issue: { readonly path?: unknown; readonly message?: unknown } | null): string {
  const path = Array.isArray(issue?.path) ? issue.path.filter((part, index) => index > 0 || part !== 'params') : [];
  const said = typeof issue?.message === 'string' ? issue.message : 'not as the protocol has it';
  return path.length === 0 ? said : `${path.join('.')}: ${said}`;
}
