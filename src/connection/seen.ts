/** Says why a server cannot be used, and what to try: the innermost cause that is known, in words. */
import { ConnectionFault } from './faults.ts';

/** Causes that are looked into. */
const MAX_DEPTH = 8;

export const ENDPOINT_HINT = '; is that the address of its MCP endpoint, as in .../mcp?';
export const PROGRAM_HINT = '; does it serve MCP over stdio, or need an argument for that?';
const NO_ENDPOINT = `it answers with what is no message of MCP${ENDPOINT_HINT}`;

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED); is it started, and is the port right?',
  ENOTFOUND: 'there is no such host (ENOTFOUND); is its name right?',
  EAI_AGAIN: 'the name of the host cannot be looked up now (EAI_AGAIN)',
  ECONNRESET: 'the connection was cut (ECONNRESET)',
  UND_ERR_SOCKET: 'the connection was cut',
  EHOSTUNREACH: 'there is no way to the host (EHOSTUNREACH)',
  ETIMEDOUT: 'the host does not answer (ETIMEDOUT)',
  CLIENT_HTTP_UNEXPECTED_CONTENT: NO_ENDPOINT,
  ENOENT: 'there is no such program, or no such folder to start it in (ENOENT); look at its name and its path',
  EACCES: 'it may not be started (EACCES): it is a folder, or is not marked as a program',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself; NODE_EXTRA_CA_CERTS names a file to trust',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified; NODE_EXTRA_CA_CERTS names a file to trust',
};

/** In what was seen of a program: from here on it is its own words. */
export const SAYS = /\b[Ii]t said: /;

/** Undefined where nothing more is known than that it failed. It may hold what the server said, as it came. */
export function seenIn(error: unknown): string | undefined {
  let found: string | undefined;
  let current: unknown = error;
  for (let depth = 0; depth < MAX_DEPTH && typeof current === 'object' && current !== null; depth++) {
    const { code, status, errors, cause, data } = current as Readonly<Record<string, unknown>>;
    if (current instanceof ConnectionFault && current.message !== '')
      found = current.message.replace(/^(The|It) /, (word) => word.toLowerCase());
    if (current instanceof SyntaxError) found = NO_ENDPOINT;
    // `fetch` says this of ports that browsers keep away from.
    if (current instanceof Error && current.message === 'bad port') found = 'nothing on the web may use that port';
    if (typeof code === 'string' && REASONS[code] !== undefined) found = REASONS[code];
    const answered = status ?? (data as { readonly status?: unknown } | undefined)?.status;
    if (typeof answered === 'number')
      found = `it answers with the HTTP status ${answered}${answered === 404 ? ENDPOINT_HINT : ''}`;
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return found;
}
