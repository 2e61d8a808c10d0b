/** Converts an entry of a host's configuration, or a server that was typed, to a target to connect to. */

import { ConfigError } from '../../../config/error.ts';
import { hostServersOf, parseHostFile } from '../../../config/load.ts';
import type { Secrets } from '../../../config/secrets.ts';
import type { UpstreamConfig } from '../../../config/upstream-schema.ts';
import { isData } from '../../../protocol/data.ts';

/** The fewest characters of a value that is taken for a secret. Shorter values are words such as `true` or `production`. */
const MIN_HIDDEN_LENGTH = 12;

/**
 * Returns the target of an entry, with its references to the environment resolved.
 * @param from the file and name of the entry in messages
 * @throws ConfigError for an entry that cannot be used
 */
export function blockOf(entry: Readonly<Record<string, unknown>>, from: string, secrets: Secrets): UpstreamConfig {
  for (const part of [entry.env, entry.headers]) hideValues(part, secrets);
  try {
    const { mcpServers = {} } = parseHostFile(JSON.stringify({ mcpServers: { server: entry } }), from, { secrets });
    const [server] = hostServersOf(mcpServers, '');
    if (server !== undefined) return server.block;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // The place in the message is in the text that was written above, not in the user's file.
    const message = error.message
      .replace(`${from}:`, '')
      .replace(/^\d+:\d+: /, '')
      .replaceAll('mcpServers.server.', '');
    throw new ConfigError(`${from}: ${message}`, { cause: error });
  }
  throw new ConfigError(`${from}: the server is turned off there`);
}

/** Hides the values of an environment or of headers in all output, except short values and references. */
export function hideValues(part: unknown, secrets: Secrets): void {
  if (!isData(part)) return;
  for (const [name, value] of Object.entries(part))
    if (typeof value === 'string' && value.length >= MIN_HIDDEN_LENGTH && !/\$\{/.test(value)) secrets.add(name, value);
}
