/** An entry of a host, or what was typed in its place, as what to connect to. */

import { ConfigError } from '../../../config/error.ts';
import { hostServersOf, parseHostFile } from '../../../config/load.ts';
import type { Secrets } from '../../../config/secrets.ts';
import type { UpstreamConfig } from '../../../config/upstream-schema.ts';
import { isData } from '../../../protocol/data.ts';

/** Values that are shorter are words, as `true` and `production`, and not secrets. */
const MIN_HIDDEN_LENGTH = 12;

/**
 * An entry as what to connect to, with its references to the environment resolved.
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
    // The place is one in what was made of it here.
    const message = error.message
      .replace(`${from}:`, '')
      .replace(/^\d+:\d+: /, '')
      .replaceAll('mcpServers.server.', '');
    throw new ConfigError(`${from}: ${message}`, { cause: error });
  }
  throw new ConfigError(`${from}: it is turned off there`);
}

/** Keeps the values of an environment or of headers out of all that is printed, but for short ones and references. */
export function hideValues(part: unknown, secrets: Secrets): void {
  if (!isData(part)) return;
  for (const [name, value] of Object.entries(part))
    if (typeof value === 'string' && value.length >= MIN_HIDDEN_LENGTH && !/\$\{/.test(value)) secrets.add(name, value);
}
