/** `vitrine servers`: lists the names of servers that commands accept. */
import type { Secrets } from '../../config/secrets.ts';
import { withOutput } from './ending.ts';
import { EXIT_OK } from './exit-codes.ts';
import { type OutputFlags, safe } from './printing/output.ts';
import { type KnownServer, knownServers } from './reaching/known-servers.ts';

export interface ServersFlags extends OutputFlags {
  readonly mcpConfig?: string;
  /** Prints only names, for completion. */
  readonly names?: boolean;
}

/** Returns the parts of an entry that may be shown: no arguments, environment or headers, because these may hold secrets. */
const shown = ({ name, host, file, scope, kind, disabled, entry }: KnownServer) => ({
  name,
  host,
  file,
  scope,
  kind,
  target: kind === 'http' ? originOf(entry.url) : String(entry.command),
  ...(disabled && { disabled }),
});

/** Prints the servers in the configurations of hosts, or only their names. */
export const servers = (flags: ServersFlags, secrets: Secrets): Promise<void> =>
  withOutput(flags, secrets, async (output) => {
    const found = (await knownServers(flags.mcpConfig)).map(shown);
    if (flags.names === true) {
      for (const name of new Set(found.map((server) => server.name))) await output.line(safe(name));
      return EXIT_OK;
    }
    const width = Math.max(0, ...found.map((server) => safe(server.name).length));
    await output.list(found, ({ name, host, file, target, disabled }) => {
      const off = disabled === true ? output.paint('yellow', '  turned off') : '';
      const from = output.paint('dim', `${safe(host)}, ${safe(file)}`);
      return `${output.paint('bold', safe(name).padEnd(width))}  ${safe(target)}  ${from}${off}`;
    });
    if (found.length === 0) output.note('no host on this machine has a server in its configuration');
    return EXIT_OK;
  });

const originOf = (url: unknown): string => (typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : '?');
