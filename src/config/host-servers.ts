/** Servers as hosts write them, in `mcpServers` or a file of its own: what of an entry counts here. */
import { nameServers } from './mount-names.ts';
import { type HostEntry, httpMount, stdioMount, type UpstreamConfig } from './upstream-schema.ts';

export interface HostServer {
  readonly name: string;
  readonly block: UpstreamConfig;
  /** The directory that relative paths in it start from. */
  readonly base: string;
  /** Keys that mean something to a host only. */
  readonly ignored: readonly string[];
}

const STDIO_KEYS: ReadonlySet<string> = new Set(Object.keys(stdioMount.shape));
const HTTP_KEYS: ReadonlySet<string> = new Set(Object.keys(httpMount.shape));
/** These are read, and are no options of a mount. */
const ENTRY_KEYS: ReadonlySet<string> = new Set(['type', 'disabled']);

/** The entries as blocks of mounts. @param base the folder of the file that they stand in */
export function hostServersOf(entries: Readonly<Record<string, HostEntry>>, base: string): readonly HostServer[] {
  return nameServers(Object.keys(entries), []).map(({ title, name }) => {
    const entry = entries[title] ?? {};
    const known = 'command' in entry ? STDIO_KEYS : HTTP_KEYS;
    const pairs = Object.entries(entry);
    return {
      name,
      base,
      block: Object.fromEntries(pairs.filter(([key]) => known.has(key))) as UpstreamConfig,
      ignored: pairs.map(([key]) => key).filter((key) => !known.has(key) && !ENTRY_KEYS.has(key)),
    };
  });
}
