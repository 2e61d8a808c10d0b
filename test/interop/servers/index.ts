/**
 * MCP servers of other makers, as they come from the registries, and what a test may ask of each. They talk over stdio,
 * one over HTTP, and none needs the internet. `node scripts/install-interop.mjs servers` installs them.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { built, FOLDER, node, python, repository, type Start } from './starting.ts';

/** How many entries each list has when all its pages are read. `none`: the method is not there. */
export interface Counts {
  readonly tools: number;
  readonly resources: number | 'none';
  readonly templates: number | 'none';
  readonly prompts: number | 'none';
}

/** A request, and whether its answer is the same each time that it is sent to a fresh server. */
export interface SampleRequest<Params> {
  readonly params: Params;
  readonly steady: boolean;
}

/** One server. */
export interface InteropServer {
  /** A name that a mount may have. */
  readonly name: string;
  /** Who made it. */
  readonly make: string;
  readonly runtime: 'node' | 'python' | 'go' | 'rust';
  /** `http` if the server prints the URL at which it listens. Default: stdio. */
  readonly over?: 'http';
  /** The era that it agrees on with a client that can do both. */
  readonly era: 'legacy' | 'modern';
  /** Makes the files that the server needs, in an empty folder, before it starts. */
  readonly prepare?: (scratch: string) => Promise<void>;
  /** The command that starts the server. The server writes its files to the folder. */
  readonly start: (scratch: string) => Start;
  readonly has: Counts;
  /** A call that changes nothing. */
  readonly tool: (scratch: string) => SampleRequest<{ name: string; arguments: Record<string, unknown> }>;
  /** Reads that succeed, of listed resources and of those that templates name. */
  readonly reads?: readonly SampleRequest<{ uri: string }>[];
  /** A tool that asks the user, and says whether there was an answer. */
  readonly asks?: string;
  /** A resource that can be subscribed to, and the tool that changes it. */
  readonly changes?: { readonly uri: string; readonly by: string };
  /** A prompt, and arguments for it. */
  readonly prompt?: SampleRequest<{ name: string; arguments: Record<string, string> }>;
  /** Reads that the server itself gets wrong, and how: through the gateway they fail too, with a clear error. */
  readonly broken?: readonly { readonly uri: string; readonly how: string }[];
}

/** Written for these tests with rmcp: pages of two, metadata on everything, and questions in the way of each revision. */
const TRAY = {
  make: 'Vitrine, with rmcp',
  runtime: 'rust',
  era: 'modern',
  has: { tools: 4, resources: 5, templates: 1, prompts: 1 },
  tool: () => asked({ name: 'open', arguments: { drawer: 'gears' } }),
  reads: [asked({ uri: 'tray:///drawers/springs' })],
  asks: 'ask',
  changes: { uri: 'tray:///counter', by: 'touch' },
  prompt: asked({ name: 'describe', arguments: { drawer: 'dials' } }),
} as const satisfies Partial<InteropServer>;

/** Every server, by name. */
export const SERVERS: readonly InteropServer[] = [
  {
    name: 'everything',
    make: 'Model Context Protocol',
    runtime: 'node',
    era: 'legacy',
    start: node('@modelcontextprotocol/server-everything/dist/index.js', ['stdio']),
    // A client that declares sampling, elicitation and roots gets three more tools.
    has: { tools: 13, resources: 7, templates: 2, prompts: 4 },
    tool: () => asked({ name: 'get-resource-links', arguments: { count: 3 } }),
    reads: [
      asked({ uri: 'demo://resource/static/document/features.md' }),
      changing({ uri: 'demo://resource/dynamic/text/1' }),
      changing({ uri: 'demo://resource/dynamic/blob/2' }),
    ],
    prompt: changing({ name: 'resource-prompt', arguments: { resourceType: 'Text', resourceId: '2' } }),
  },
  {
    name: 'filesystem',
    make: 'Model Context Protocol',
    runtime: 'node',
    era: 'legacy',
    prepare: (scratch) => writeFile(join(scratch, 'note.txt'), 'behind glass\n'),
    start: node('@modelcontextprotocol/server-filesystem/dist/index.js', (scratch) => [scratch]),
    has: { tools: 14, resources: 'none', templates: 'none', prompts: 'none' },
    tool: (scratch) => asked({ name: 'read_text_file', arguments: { path: join(scratch, 'note.txt') } }),
  },
  {
    name: 'memory',
    make: 'Model Context Protocol',
    runtime: 'node',
    era: 'legacy',
    prepare: (scratch) =>
      writeFile(
        join(scratch, 'memory.jsonl'),
        `${JSON.stringify({ type: 'entity', name: 'glass', entityType: 'material', observations: ['clear'] })}\n`,
      ),
    start: node('@modelcontextprotocol/server-memory/dist/index.js', [], (scratch) => ({
      MEMORY_FILE_PATH: join(scratch, 'memory.jsonl'),
    })),
    has: { tools: 9, resources: 1, templates: 0, prompts: 'none' },
    tool: () => asked({ name: 'read_graph', arguments: {} }),
    reads: [asked({ uri: 'memory://knowledge-graph' })],
  },
  {
    // A tool with `_meta.ui.resourceUri`, and the resource it names.
    name: 'app',
    make: 'Model Context Protocol (MCP Apps)',
    runtime: 'node',
    era: 'legacy',
    start: node('@modelcontextprotocol/server-basic-vanillajs/dist/index.js', ['--stdio']),
    has: { tools: 1, resources: 1, templates: 0, prompts: 'none' },
    tool: () => changing({ name: 'get-time', arguments: {} }),
    reads: [asked({ uri: 'ui://get-time/mcp-app.html' })],
  },
  {
    // Its only template has no variable, and is the URI of its only resource.
    name: 'git.cyanheads',
    make: 'Casey Hand',
    runtime: 'node',
    era: 'legacy',
    prepare: repository,
    start: node('@cyanheads/git-mcp-server/dist/index.js', [], (scratch) => ({
      MCP_TRANSPORT_TYPE: 'stdio',
      LOGS_DIR: join(scratch, 'logs'),
    })),
    has: { tools: 28, resources: 1, templates: 1, prompts: 1 },
    tool: (scratch) => asked({ name: 'git_log', arguments: { path: join(scratch, 'repository') } }),
    reads: [asked({ uri: 'git://working-directory' })],
    prompt: asked({ name: 'git_wrapup', arguments: {} }),
  },
  {
    name: 'onepassword',
    make: 'takescake',
    runtime: 'node',
    era: 'modern',
    start: node('@takescake/1password-mcp/bin/1password-mcp.js', [], () => ({ OP_SERVICE_ACCOUNT_TOKEN: 'none' })),
    has: { tools: 15, resources: 3, templates: 0, prompts: 4 },
    tool: () => changing({ name: 'password_generate', arguments: { length: 12 } }),
    prompt: asked({ name: 'vault-audit', arguments: { vaultId: 'glass' } }),
    broken: [
      // RFC 3986 3.1: a scheme begins with a letter.
      { uri: '1password://config', how: 'lists an invalid URI, and refuses to read it' },
    ],
  },
  {
    name: 'knip',
    make: 'Lars Kappert',
    runtime: 'node',
    era: 'legacy',
    start: node('@knip/mcp/src/cli.js'),
    has: { tools: 2, resources: 15, templates: 1, prompts: 1 },
    tool: () => asked({ name: 'knip-docs', arguments: { topic: 'configuration' } }),
    reads: [asked({ uri: 'knip://docs/configuration' }), asked({ uri: 'knip://docs/issue-types' })],
    prompt: asked({ name: 'knip-configure', arguments: {} }),
    broken: [{ uri: 'knip://docs/guides/handling-issues', how: 'answers with `content` in place of `contents`' }],
  },
  {
    name: 'calc',
    make: 'coo-quack',
    runtime: 'node',
    era: 'legacy',
    start: node('@coo-quack/calc-mcp/dist/index.js'),
    has: { tools: 21, resources: 'none', templates: 'none', prompts: 'none' },
    tool: () => asked({ name: 'base64', arguments: { action: 'encode', input: 'glass' } }),
  },
  {
    name: 'time',
    make: 'zac.ma',
    runtime: 'node',
    era: 'legacy',
    start: node('time-mcp/dist/index.js'),
    has: { tools: 6, resources: 'none', templates: 'none', prompts: 'none' },
    tool: () => asked({ name: 'days_in_month', arguments: { date: '2024-02-01' } }),
  },
  {
    // One of its resources has an `https:` URI, which it answers itself.
    name: 'native-guide',
    make: 'mrnitro360',
    runtime: 'node',
    era: 'legacy',
    start: node('@mrnitro360/react-native-mcp-guide/build/index.js'),
    has: { tools: 13, resources: 6, templates: 1, prompts: 6 },
    tool: () => asked({ name: 'debug_issue', arguments: { issue_type: 'crash' } }),
    reads: [
      asked({ uri: 'https://reactnative.dev/docs/getting-started' }),
      asked({ uri: 'rn://best-practices' }),
      asked({ uri: 'rn://platform/ios' }),
    ],
    prompt: asked({ name: 'react-native-debug', arguments: { error_message: 'a crack' } }),
  },
  {
    // Written for these tests with FastMCP. It has what no server of a registry has without the internet.
    name: 'shelf',
    make: 'Vitrine, with FastMCP',
    runtime: 'python',
    era: 'modern',
    start: python('.venv', 'python', [join(FOLDER, 'python', 'shelf.py')]),
    has: { tools: 5, resources: 5, templates: 3, prompts: 1 },
    tool: () => asked({ name: 'borrow', arguments: { book: 'zuleika' } }),
    reads: [
      asked({ uri: 'urn:isbn:9780142437247' }),
      asked({ uri: 'shelf://covers/pixel.png' }),
      asked({ uri: 'shelf://search?order=title&limit=2' }),
      asked({ uri: 'shelf://odd/a%20b%2Fc%23d' }),
      asked({ uri: 'shelf://pair' }),
      asked({ uri: 'shelf://books/s%C3%BCd/text' }),
      asked({ uri: 'shelf://files/a/b/c.txt' }),
      asked({ uri: 'shelf://find?word=I&limit=1' }),
    ],
    prompt: asked({ name: 'review', arguments: { book: 'moby-dick' } }),
  },
  {
    name: 'py.time',
    make: 'Model Context Protocol (Python)',
    runtime: 'python',
    era: 'modern',
    start: python('.venv', 'mcp-server-time', ['--local-timezone', 'UTC']),
    has: { tools: 2, resources: 0, templates: 0, prompts: 0 },
    tool: () => changing({ name: 'get_current_time', arguments: { timezone: 'Asia/Tokyo' } }),
  },
  {
    name: 'py.git',
    make: 'Model Context Protocol (Python)',
    runtime: 'python',
    era: 'modern',
    prepare: repository,
    start: python('.venv', 'mcp-server-git', (scratch) => ['--repository', join(scratch, 'repository')]),
    has: { tools: 12, resources: 0, templates: 0, prompts: 0 },
    tool: (scratch) => asked({ name: 'git_log', arguments: { repo_path: join(scratch, 'repository') } }),
  },
  {
    name: 'py.sqlite',
    make: 'Model Context Protocol (Python, of 2025)',
    runtime: 'python',
    era: 'legacy',
    start: python('.venv-2025', 'mcp-server-sqlite', (scratch) => ['--db-path', join(scratch, 'data.sqlite')]),
    has: { tools: 6, resources: 1, templates: 'none', prompts: 1 },
    tool: () => asked({ name: 'read_query', arguments: { query: "select 'glass' as it, 7 * 6 as answer" } }),
    reads: [asked({ uri: 'memo://insights' })],
    prompt: asked({ name: 'mcp-demo', arguments: { topic: 'glass' } }),
  },
  {
    name: 'py.calculator',
    make: 'githejie',
    runtime: 'python',
    era: 'legacy',
    start: python('.venv-2025', 'mcp-server-calculator'),
    has: { tools: 1, resources: 0, templates: 0, prompts: 0 },
    tool: () => asked({ name: 'calculate', arguments: { expression: '6 * 7' } }),
  },
  {
    name: 'go',
    make: 'Model Context Protocol (Go)',
    runtime: 'go',
    era: 'modern',
    start: built('go'),
    has: { tools: 28, resources: 3, templates: 1, prompts: 5 },
    tool: () => asked({ name: 'test_multiple_content_types', arguments: {} }),
    reads: [asked({ uri: 'test://template/7/data' })],
    prompt: asked({ name: 'test_prompt_with_embedded_resource', arguments: { resourceUri: 'test://static-text' } }),
  },
  { ...TRAY, name: 'rust', start: built('rust') },
  { ...TRAY, name: 'rust.http', over: 'http', start: built('rust', ['http']) },
];

/** Whether a server is installed. Those in other languages than TypeScript are only if the machine has their tools. */
export function isInstalled(server: InteropServer): boolean {
  const { command, args } = server.start(FOLDER);
  return existsSync(server.runtime === 'node' ? (args[0] ?? '') : command);
}

function asked<Params>(params: Params): SampleRequest<Params> {
  return { params, steady: true };
}

function changing<Params>(params: Params): SampleRequest<Params> {
  return { params, steady: false };
}
