/** Picks the protocol revision for a client of the 2025 era. */
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';

/** Returns the requested revision where the server supports it, otherwise the server's latest. */
export function revisionFor(asked: unknown): string {
  const [latest = ''] = SUPPORTED_PROTOCOL_VERSIONS;
  return SUPPORTED_PROTOCOL_VERSIONS.includes(asked as string) ? (asked as string) : latest;
}
