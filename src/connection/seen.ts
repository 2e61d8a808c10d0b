/** Says in words why a server cannot be used and what to try, from the innermost known cause. */
import { ConnectionFault } from './faults.ts';

/** The most nested causes that are examined. */
const MAX_DEPTH = 8;

export const ENDPOINT_HINT = '; is that the address of its MCP endpoint, as in .../mcp?';
export const PROGRAM_HINT = '; does it serve MCP over stdio, or need an argument for that?';
const NO_ENDPOINT = `its answer is not an MCP message${ENDPOINT_HINT}`;

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED); is it started, and is the port right?',
  ENOTFOUND: 'there is no such host (ENOTFOUND); is its name spelled right?',
  EAI_AGAIN: 'the name of the host cannot be resolved now (EAI_AGAIN)',
  ECONNRESET: 'the connection was reset (ECONNRESET)',
  UND_ERR_SOCKET: 'the connection was cut',
  EHOSTUNREACH: 'there is no route to the host (EHOSTUNREACH)',
  ETIMEDOUT: 'the host does not answer (ETIMEDOUT)',
  CLIENT_HTTP_UNEXPECTED_CONTENT: NO_ENDPOINT,
  ENOENT: 'there is no such program, or no such folder to start it in (ENOENT); check its name and its path',
  EACCES: 'it cannot be started (EACCES): it is a folder, or is not executable',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; NODE_EXTRA_CA_CERTS names a file to trust',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified; NODE_EXTRA_CA_CERTS names a file to trust',
};

/** After these words, the description of a program's failure quotes the program's own output. */
export const SAYS = /\b[Ii]t said: /;

/** Returns undefined where only the failure itself is known. The text may quote the server, and is not cleaned. */
export function seenIn(error: unknown): string | undefined {
  let found: string | undefined;
  let current: unknown = error;
  for (let depth = 0; depth < MAX_DEPTH && typeof current === 'object' && current !== null; depth++) {
    const { code, status, errors, cause, data } = current as Readonly<Record<string, unknown>>;
    if (current instanceof ConnectionFault && current.message !== '')
      found = current.message.replace(/^(The|It) /, (word) => word.toLowerCase());
    if (current instanceof SyntaxError) found = NO_ENDPOINT;
    // `fetch` fails so for ports that browsers block.
    if (current instanceof Error && current.message === 'bad port') found = 'browsers and fetch block that port';
    if (typeof code === 'string' && REASONS[code] !== undefined) found = REASONS[code];
    const answered = status ?? (data as { readonly status?: unknown } | undefined)?.status;
    if (typeof answered === 'number')
      found = `it answers with the HTTP status ${answered}${answered === 404 ? ENDPOINT_HINT : ''}`;
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return found;
}
