/**
 * The handlers that the SDK brings itself check what they are asked with schemas, and throw what those say as an internal
 * error, in JSON. A client is told that its parameters are not right, and which.
 */
import { type JSONRPCRequest, ProtocolError, type Result, type ServerContext } from '@modelcontextprotocol/server';

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
      const problems = error instanceof ProtocolError ? undefined : problemsIn(error);
      throw problems === undefined ? error : new ProtocolError(-32_602, `Invalid params for ${method}: ${problems}`);
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
