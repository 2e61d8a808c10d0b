/** Makes mounts of servers in the format of hosts, from `mcpServers` in a configuration or from a file of a host. */
import { nameServers } from './mount-names.ts';
import { type HostEntry, httpMount, stdioMount, type UpstreamConfig } from './upstream-schema.ts';

export interface HostServer {
  readonly name: string;
  readonly block: UpstreamConfig;
  /** The directory that relative paths in the block start from. */
  readonly base: string;
  /** Keys of the entry that only hosts understand. */
  readonly ignored: readonly string[];
}

const STDIO_KEYS: ReadonlySet<string> = new Set(Object.keys(stdioMount.shape));
const HTTP_KEYS: ReadonlySet<string> = new Set(Object.keys(httpMount.shape));
/** Keys that are read, but are not options of a mount. */
const ENTRY_KEYS: ReadonlySet<string> = new Set(['type', 'disabled']);

/** Turns entries into blocks of mounts. @param base the folder of the file that has the entries */
export function hostServersOf(entries: Readonly<Record<string, HostEntry>>, base: string): readonly HostServer[] {
  return nameServers(Object.keys(entries), []).map(({ title, name }) => {
    const entry = entries[title] ?? {};
    const mountKeys = 'command' in entry ? STDIO_KEYS : HTTP_KEYS;
    const pairs = Object.entries(entry);
    return {
      name,
      base,
      block: Object.fromEntries(pairs.filter(([key]) => mountKeys.has(key))) as UpstreamConfig,
      ignored: pairs.map(([key]) => key).filter((key) => !mountKeys.has(key) && !ENTRY_KEYS.has(key)),
    };
  });
}
