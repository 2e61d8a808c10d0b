/** Commands find servers by the names that hosts give them. */
import { chmod } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostPlace, hostPlaces } from '../../../src/cli/client/reaching/host-places.ts';
import { knownServers } from '../../../src/cli/client/reaching/known-servers.ts';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { startHttp } from '../../e2e/harness.ts';
import { vitrine } from '../run.ts';
import { ODD_ENTRY, oddOverHttp, TOKEN } from './odd.ts';
import { run } from './run.ts';

/** A reference to an environment variable. Biome would report it in a plain string. */
const reference = (name: string): string => `$\{${name}}`;

let home: Folder;
let project: Folder;
let odd: Awaited<ReturnType<typeof oddOverHttp>>;
beforeAll(async () => {
  odd = await oddOverHttp();
  home = await temporaryFolder({
    '.cursor/mcp.json': JSON.stringify({
      mcpServers: {
        odd: ODD_ENTRY,
        twice: ODD_ENTRY,
        'with spaces': ODD_ENTRY,
        sorted: { ...ODD_ENTRY, env: { ONE: '1', TWO: '2' } },
      },
    }),
    '.claude.json': JSON.stringify({
      mcpServers: {
        odd: { type: 'stdio', ...ODD_ENTRY, env: {} },
        sorted: { ...ODD_ENTRY, env: { TWO: '2', ONE: '1' } },
      },
      history: [],
    }),
    '.config/Code/User/mcp.json': `{
      // As editors write it.
      "servers": { "guarded": { "type": "http", "url": "${odd.url}", "headers": { "Authorization": "Bearer ${reference('env:ODD_TOKEN')}" } }, },
    }`,
    '.config/goose/config.yaml': `extensions:\n  goose: { type: stdio, cmd: ${process.execPath}, args: [], enabled: false }\n`,
    '.config/zed/settings.json': JSON.stringify({ context_servers: { zed: { command: { path: 'x', args: ['y'] } } } }),
    '.config/opencode/opencode.json': JSON.stringify({ mcp: { open: { type: 'local', command: ['a', 'b', 'c'] } } }),
    '.gemini/settings.json': 'no JSON at all: [',
    'other.json': JSON.stringify({ mcpServers: { twice: ODD_ENTRY, broken: { command: 5 } } }),
  });
  project = await temporaryFolder({
    '.mcp.json': JSON.stringify({ mcpServers: { twice: { command: 'something-else' } } }),
  });
});
afterAll(async () => {
  await Promise.all([home, project, odd].map((each) => each[Symbol.asyncDispose]()));
});

const around = () => ({ cwd: project.path, home: home.path, platform: 'linux' as const, env: {} });
const env = (more: Readonly<Record<string, string>> = {}) => ({
  HOME: home.path,
  XDG_CONFIG_HOME: home.at('.config'),
  ...more,
});

describe('servers of hosts', () => {
  it('in a named file may have variables of the machine', async () => {
    await using folder = await temporaryFolder({
      'mine.json': JSON.stringify({ servers: { one: { command: 'x', args: [reference('userHome')] } } }),
    });
    const [server] = await knownServers(folder.at('mine.json'), { ...around(), home: '/home/ada' });
    expect(server?.entry).toEqual({ command: 'x', args: ['/home/ada'] });
  });

  it('are found where hosts keep them, in the format of each host', async () => {
    const found = await knownServers(undefined, around());
    expect(found.map(({ host, name }) => `${host}: ${name}`).sort()).toEqual([
      'Claude Code: odd',
      'Claude Code: sorted',
      'Claude Code: twice',
      'Cursor: odd',
      'Cursor: sorted',
      'Cursor: twice',
      'Cursor: with spaces',
      'Goose: goose',
      'VS Code: guarded',
      'Zed: zed',
      'opencode: open',
    ]);
    expect(found.find(({ name }) => name === 'zed')?.entry).toEqual({ command: 'x', args: ['y'] });
    expect(found.find(({ name }) => name === 'open')?.entry).toEqual({ command: 'a', args: ['b', 'c'] });
    expect(found.find(({ name }) => name === 'goose')?.disabled).toBe(true);
  });

  it('are looked for in the places of each system', () => {
    const desktop = (platform: NodeJS.Platform, variables: object = {}): string | undefined => {
      const places: readonly HostPlace[] = hostPlaces({ cwd: '/p', home: '/h', platform, env: { ...variables } });
      return places.find(({ host }) => host === 'Claude Desktop')?.file.replaceAll('\\', '/');
    };
    expect(desktop('linux')).toBe('/h/.config/Claude/claude_desktop_config.json');
    expect(desktop('darwin')).toBe('/h/Library/Application Support/Claude/claude_desktop_config.json');
    expect(desktop('win32', { APPDATA: '/a' })).toBe('/a/Claude/claude_desktop_config.json');
  });

  it('are listed without possible secrets, and used by name', async () => {
    const listed = await run(['servers', '--json'], env());
    expect(JSON.parse(listed.stdout)).toContainEqual({
      name: 'guarded',
      host: 'VS Code',
      file: home.at('.config/Code/User/mcp.json'),
      scope: 'user',
      kind: 'http',
      target: new URL(odd.url).origin,
    });
    expect(listed.stdout).not.toContain('Bearer');
    const names = await run(['servers', '--names'], env());
    expect(names.stdout.split('\n')).toContain('with spaces');
    const used = await run(['ls', 'with spaces'], env());
    expect(used).toMatchObject({ status: 0, stderr: '' });
    const guarded = await run(['ls', 'guarded'], env({ ODD_TOKEN: TOKEN }));
    expect(guarded).toEqual(used);
    const unset = await run(['ls', 'guarded'], env());
    expect(unset).toMatchObject({ status: 2, stdout: '' });
    expect(unset.stderr).toMatch(/^vitrine: mcp\.json, server "guarded": .*ODD_TOKEN is not set/);
  });

  it('come only from the file of --mcp-config, in spite of mistakes in other entries', async () => {
    const file = home.at('other.json');
    const [used, broken, missing] = [
      await run(['ls', 'twice', '--mcp-config', file]),
      await run(['ls', 'broken', '--mcp-config', file]),
      await run(['ls', 'twicee', '--mcp-config', file]),
    ];
    expect(used.status).toBe(0);
    expect(broken.stderr).toMatch(/^vitrine: other\.json, server "broken": /);
    expect(missing.stderr).toContain('did you mean "twice"?');
    expect([broken.status, missing.status]).toEqual([2, 2]);
  });

  it.each([
    ['odd', 'an empty environment or none'],
    ['sorted', 'keys in another order'],
  ])('%s is the same server in two files that have %s', async (name) => {
    expect(await run(['ls', name], env())).toMatchObject({ status: 0, stderr: '' });
  });

  it('of a folder never replace servers of the user', async () => {
    const { status, stderr } = await vitrine(['ls', 'twice'], project.path, env());
    expect(status).toBe(2);
    expect(stderr).toMatch(/"twice" is one server in .*\.mcp\.json and another one in .*\.cursor.mcp\.json/);
  });
});

describe('a path', () => {
  it('to a program is served as a file, with a note on how to run it', async () => {
    await using folder = await temporaryFolder({ 'run.mjs': '#!/usr/bin/env node\n', 'text.txt': 'text' });
    await chmod(folder.at('run.mjs'), 0o755);
    const { status, stdout, stderr } = await vitrine(['ls', './run.mjs'], folder.path);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'file:///run.mjs\n' });
    expect(stderr).toBe(
      'vitrine: ./run.mjs is a program, and is served as a file; "env ./run.mjs" in its place runs it as a server\n',
    );
    expect((await vitrine(['ls', './text.txt'], folder.path)).stderr).toBe('');
    await using server = await startHttp([folder.at('run.mjs')]);
    expect(server.output()).toContain('a program is served as a file; a mount with command: runs it');
  });
});
