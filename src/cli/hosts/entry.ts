/** Writes Vitrine's entry in each host's configuration format, and install links. */

/** How a host reaches Vitrine: the command that it starts, or the URL that it connects to. */
export type Reached = { readonly command: string; readonly args: readonly string[] } | { readonly url: string };

export type Entry = Readonly<Record<string, unknown>>;

/** An entry to set in a configuration, or to remove from it. */
export interface Edit {
  /** The keys that lead to the entry. */
  readonly path: readonly string[];
  /** The entry; undefined for none. */
  readonly value: Entry | undefined;
}

/** Returns the entry; undefined if the host has no such entries. @param host as in `host-places.ts` */
export function entryOf(host: string, name: string, reached: Reached): Entry | undefined {
  const url = 'url' in reached ? reached.url : undefined;
  switch (host) {
    case 'Claude Desktop':
      return url === undefined ? { ...reached } : undefined;
    case 'Claude Code':
      return url === undefined ? { ...reached } : { type: 'http', url };
    case 'VS Code':
    case 'VS Code Insiders':
      return { type: url === undefined ? 'stdio' : 'http', ...reached };
    case 'Windsurf':
      return url === undefined ? { ...reached } : { serverUrl: url };
    case 'Gemini CLI':
      return url === undefined ? { ...reached } : { httpUrl: url };
    case 'Cline':
      return url === undefined ? { ...reached } : { type: 'streamableHttp', url };
    case 'Zed':
      return url === undefined ? { ...reached, env: {} } : { url };
    case 'opencode':
      return 'url' in reached
        ? { type: 'remote', url, enabled: true }
        : { type: 'local', command: [reached.command, ...reached.args], enabled: true };
    case 'Goose': {
      const first = { enabled: true, name, description: DESCRIPTION, timeout: GOOSE_SECONDS };
      return 'url' in reached
        ? { ...first, type: 'streamable_http', uri: url }
        : { ...first, type: 'stdio', cmd: reached.command, args: reached.args };
    }
    default:
      return { ...reached };
  }
}

const DESCRIPTION = 'Resources behind glass: list, read, search';

/** How long Goose waits for a response, in seconds; Goose's own default. */
const GOOSE_SECONDS = 300;

/** Commands that Goose accepts in a link. */
const GOOSE_COMMANDS: ReadonlySet<string> = new Set(['npx']);

/** Returns a link that installs the entry; undefined if the host has no links, or none for such a command. */
export function installLink(host: string, name: string, reached: Reached): string | undefined {
  const entry = entryOf(host, name, reached);
  const config = Buffer.from(JSON.stringify(entry)).toString('base64');
  switch (host) {
    case 'VS Code':
    case 'VS Code Insiders': {
      const scheme = host === 'VS Code' ? 'vscode' : 'vscode-insiders';
      return `${scheme}:mcp/install?${encodeURIComponent(JSON.stringify({ name, ...entry }))}`;
    }
    case 'Cursor':
      return `cursor://anysphere.cursor-deeplink/mcp/install?${query({ name, config })}`;
    case 'LM Studio':
      return `lmstudio://add_mcp?${query({ name, config })}`;
    case 'Goose': {
      const about = { id: name, name, description: DESCRIPTION };
      if ('url' in reached)
        return `goose://extension?${query({ url: reached.url, type: 'streamable_http', ...about })}`;
      if (!GOOSE_COMMANDS.has(reached.command)) return undefined;
      const args = reached.args.map((arg) => `&arg=${encodeURIComponent(arg)}`).join('');
      return `goose://extension?${query({ cmd: reached.command })}${args}&${query(about)}`;
    }
    default:
      return undefined;
  }
}

const query = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join('&');
