/** The configuration files of hosts, and the keys in them under which the servers stand. */
import { join } from 'node:path';

/** A section of a host's file that holds servers. */
export interface HostPlace {
  readonly host: string;
  readonly file: string;
  /** The keys that lead to the servers, from the outermost. */
  readonly section: readonly string[];
  /** `project`: the file is in the folder that the command runs in. `user`: it is in the home of the user. */
  readonly scope: 'project' | 'user';
}

/** The folders and environment that places depend on. */
export interface Machine {
  /** The folder that the command runs in. */
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns all places, the places of the folder first. */
export function hostPlaces({ cwd, home, platform, env }: Machine): readonly HostPlace[] {
  const config = env.XDG_CONFIG_HOME ?? join(home, '.config');
  const applications =
    platform === 'darwin'
      ? join(home, 'Library', 'Application Support')
      : platform === 'win32'
        ? (env.APPDATA ?? join(home, 'AppData', 'Roaming'))
        : config;
  const zed = platform === 'win32' ? join(applications, 'Zed') : join(config, 'zed');
  const goose = platform === 'win32' ? join(applications, 'Block', 'goose', 'config') : join(config, 'goose');
  const project = (host: string, path: readonly string[], ...section: string[]): HostPlace => ({
    host,
    file: join(cwd, ...path),
    section,
    scope: 'project',
  });
  const user = (host: string, file: string, ...section: string[]): HostPlace => ({
    host,
    file,
    section,
    scope: 'user',
  });
  const cline = ['globalStorage', 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json'];
  return [
    project('Claude Code', ['.mcp.json'], 'mcpServers'),
    project('VS Code', ['.vscode', 'mcp.json'], 'servers'),
    project('Cursor', ['.cursor', 'mcp.json'], 'mcpServers'),
    project('Gemini CLI', ['.gemini', 'settings.json'], 'mcpServers'),
    project('Zed', ['.zed', 'settings.json'], 'context_servers'),
    project('opencode', ['opencode.json'], 'mcp'),
    project('opencode', ['opencode.jsonc'], 'mcp'),
    project('Codex', ['.codex', 'config.toml'], 'mcp_servers'),
    user('Claude Code', join(home, '.claude.json'), 'projects', cwd, 'mcpServers'),
    user('Claude Code', join(home, '.claude.json'), 'mcpServers'),
    user('Claude Desktop', join(applications, 'Claude', 'claude_desktop_config.json'), 'mcpServers'),
    user('VS Code', join(applications, 'Code', 'User', 'mcp.json'), 'servers'),
    user('VS Code Insiders', join(applications, 'Code - Insiders', 'User', 'mcp.json'), 'servers'),
    user('Cursor', join(home, '.cursor', 'mcp.json'), 'mcpServers'),
    user('Windsurf', join(home, '.codeium', 'windsurf', 'mcp_config.json'), 'mcpServers'),
    user('Zed', join(zed, 'settings.json'), 'context_servers'),
    user('Gemini CLI', join(home, '.gemini', 'settings.json'), 'mcpServers'),
    user('Cline', join(applications, 'Code', 'User', ...cline), 'mcpServers'),
    user('LM Studio', join(home, '.lmstudio', 'mcp.json'), 'mcpServers'),
    user('opencode', join(config, 'opencode', 'opencode.json'), 'mcp'),
    user('opencode', join(config, 'opencode', 'opencode.jsonc'), 'mcp'),
    user('Codex', join(env.CODEX_HOME ?? join(home, '.codex'), 'config.toml'), 'mcp_servers'),
    user('Goose', join(goose, 'config.yaml'), 'extensions'),
  ];
}

/** Returns the names of hosts for the command line, such as `claude-code`. */
export const hostIds = (machine: Machine): readonly string[] => [
  ...new Set(hostPlaces(machine).map(({ host }) => host.toLowerCase().replaceAll(' ', '-'))),
];
