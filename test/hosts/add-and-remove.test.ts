/** `vitrine add` and `vitrine remove` on the files of every host, on every system. */
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostPlaces } from '../../src/cli/client/reaching/host-places.ts';
import { knownServers } from '../../src/cli/client/reaching/known-servers.ts';
import { explainFailure } from '../../src/cli/errors.ts';
import { type AddFlags, addToHost, removeFromHost } from '../../src/cli/hosts/change.ts';
import { createSecrets } from '../../src/config/secrets.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { CONFIGURATIONS, type Configuration, machineOf } from './configurations.ts';

let served: Folder;
beforeAll(async () => {
  served = await temporaryFolder({ 'my docs/a.md': '# A', 'mcp.json': '{"mcpServers":{"a":{"command":"a"}}}' });
});
afterAll(() => served[Symbol.asyncDispose]());

interface Machine extends AsyncDisposable {
  readonly home: Folder;
  readonly project: Folder;
  /** Gives the output and, after `!`, the exit status and the error. */
  add(host: string, paths?: readonly string[], flags?: Partial<AddFlags>): Promise<string>;
  remove(host: string, flags?: Partial<AddFlags>): Promise<string>;
}

/** @param answer what a person types at the prompt; without it there is no terminal */
async function machine(
  { platform = 'linux', answer }: { platform?: keyof Configuration['file']; answer?: string } = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Machine> {
  const home = await temporaryFolder(files);
  const project = await temporaryFolder();
  const machine = machineOf(platform, home.path, project.path);
  const run = async (command: (changing: Parameters<typeof removeFromHost>[2]) => Promise<void>): Promise<string> => {
    const input = Object.assign(new PassThrough(), { isTTY: answer !== undefined });
    if (answer !== undefined) input.end(answer);
    let said = '';
    const output = new PassThrough().on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const errors = new PassThrough().resume();
    const secrets = createSecrets();
    await command({ secrets, machine, terminal: { input, output, errors } }).catch((error: unknown) => {
      const { line, status } = explainFailure(error);
      said += `!${status} ${line}`;
    });
    return said;
  };
  return {
    home,
    project,
    add: (host, paths = [served.at('my docs')], flags = {}) =>
      run((changing) => addToHost(host, paths, { name: 'vitrine', ...flags }, changing)),
    remove: (host, flags = {}) => run((changing) => removeFromHost(host, { name: 'vitrine', ...flags }, changing)),
    async [Symbol.asyncDispose]() {
      await Promise.all([home, project].map((folder) => folder[Symbol.asyncDispose]()));
    },
  };
}

/** Gives the piece that `now` has in addition to `before`. @throws if more was added than one piece, and one comma before it */
function pieceAdded(before: string, now: string): string {
  let start = 0;
  while (start < before.length && before[start] === now[start]) start++;
  for (const comma of ['', ',']) {
    if (!now.startsWith(before.slice(0, start) + comma)) continue;
    let end = 0;
    while (end < before.length - start && before.at(-1 - end) === now.at(-1 - end)) end++;
    const between = before.slice(start, before.length - end);
    const piece = now.slice(start + comma.length, now.length - end);
    if (piece.startsWith(between)) return piece.slice(between.length);
  }
  throw new Error(`more than a piece was added:\n${now}`);
}

const PLATFORMS = ['linux', 'darwin', 'win32'] as const;
const HOSTS = CONFIGURATIONS.map((each) => [each.host, each.scope, each] as const);

describe.each(PLATFORMS)('on %s', (platform) => {
  it.each(HOSTS)('adds itself to %s (%s), and is removed without a trace', async (host, scope, configuration) => {
    await using here = await machine({ platform });
    const folder = scope === 'user' ? here.home : here.project;
    const file = configuration.file[platform];
    await folder.write(file, configuration.text);
    const printed = await here.add(host, undefined, { scope, yes: true });
    expect(printed).toContain(`${host}, ${folder.at(file)}:\n`);
    const now = await readFile(folder.at(file), 'utf8');
    expect(pieceAdded(configuration.text, now)).toContain('vitrine');
    // The host reads it, beside everything else in the file.
    const known = await knownServers(undefined, machineOf(platform, here.home.path, here.project.path));
    const own = known.find((server) => server.name === 'vitrine' && server.host === host && server.scope === scope);
    expect(own?.file).toBe(folder.at(file));
    expect(own?.entry.command).toBe(process.execPath);
    expect((own?.entry.args as string[] | undefined)?.slice(-2)).toEqual(['serve', served.at('my docs')]);
    expect(await here.add(host, undefined, { scope, yes: true })).toBe(
      `${host} has this already as "vitrine", in ${folder.at(file)}\n`,
    );
    expect(await readFile(folder.at(file), 'utf8')).toBe(now);
    await here.remove(host, { yes: true });
    expect(await readFile(folder.at(file), 'utf8')).toBe(configuration.text);
  });

  it('makes the file of every host that has none, for its owner only', async () => {
    await using here = await machine({ platform });
    const places = hostPlaces(machineOf(platform, here.home.path, here.project.path));
    const hosts = new Set(places.map((place) => place.host));
    expect([...new Set(CONFIGURATIONS.map(({ host }) => host))].sort()).toEqual([...hosts].sort());
    for (const host of hosts) {
      const scopes = new Set(places.filter((place) => place.host === host).map(({ scope }) => scope));
      for (const scope of scopes) expect(await here.add(host, undefined, { scope, yes: true })).toContain('a new file');
    }
    const known = await knownServers(undefined, machineOf(platform, here.home.path, here.project.path));
    expect(new Set(known.map(({ host }) => host))).toEqual(hosts);
    for (const { file } of known) expect((await stat(file)).mode & 0o777).toBe(0o600);
  });
});

describe('a running server', () => {
  it('is added by its address, in the format of each host', async () => {
    await using here = await machine();
    const url = 'http://127.0.0.1:8931/mcp';
    for (const host of [
      'claude-code',
      'vscode',
      'cursor',
      'windsurf',
      'gemini-cli',
      'cline',
      'zed',
      'opencode',
      'goose',
      'codex',
      'lmstudio',
    ])
      expect(await here.add(host, [], { url, yes: true })).toContain('Written.');
    const known = await knownServers(undefined, machineOf('linux', here.home.path, here.project.path));
    expect(known.map(({ entry }) => entry.url)).toEqual(known.map(() => url));
    expect(known).toHaveLength(11);
    expect(await here.add('claude-desktop', [], { url, yes: true })).toMatch(/^!2 Claude Desktop cannot use a server/);
    expect(await here.add('cursor', [], { url: 'file:///x', yes: true })).toMatch(/^!2 --url is the address/);
    expect(await here.add('cursor', ['docs'], { url, yes: true })).toMatch(/^!2 Say either what to serve/);
  });
});

describe('links that install Vitrine', () => {
  it('have the content of the entry, and nothing is written', async () => {
    await using here = await machine();
    const link = async (host: string, flags = {}) => (await here.add(host, undefined, { link: true, ...flags })).trim();
    const vscode = await link('vscode');
    expect(vscode).toMatch(/^vscode:mcp\/install\?/);
    const wanted = {
      command: process.execPath,
      args: expect.arrayContaining(['serve', served.at('my docs')]) as unknown,
    };
    expect(JSON.parse(decodeURIComponent(vscode.split('?')[1] ?? ''))).toEqual({
      name: 'vitrine',
      type: 'stdio',
      ...wanted,
    });
    expect(await link('vs-code-insiders')).toMatch(/^vscode-insiders:mcp\/install\?/);
    for (const [host, begin] of [
      ['cursor', 'cursor://anysphere.cursor-deeplink/mcp/install'],
      ['lm-studio', 'lmstudio://add_mcp'],
    ] as const) {
      const url = new URL(await link(host, { name: 'team' }));
      expect(url.href.split('?')[0]).toBe(begin);
      expect(url.searchParams.get('name')).toBe('team');
      expect(JSON.parse(Buffer.from(url.searchParams.get('config') ?? '', 'base64').toString())).toEqual(wanted);
    }
    const goose = await here.add('goose', [], { link: true, url: 'http://127.0.0.1:8931/mcp' });
    expect(new URL(goose).searchParams.get('url')).toBe('http://127.0.0.1:8931/mcp');
    for (const host of ['goose', 'claude-code'])
      expect(await link(host)).toMatch(/^!2 .* has no links that install this/);
    expect(await readdir(here.home.path)).toEqual([]);
  });
});

describe('the command', () => {
  const OWN = '{\n  "mcpServers": {\n    "a": { "command": "a", "env": { "KEY": "a-key-of-somebody" } }\n  }\n}\n';
  const files = { '.cursor/mcp.json': OWN };
  const textOf = (here: Machine) => readFile(here.home.at('.cursor/mcp.json'), 'utf8');

  it('shows the difference and asks, and writes only after `y`', async () => {
    await using yes = await machine({ answer: 'y\n' }, files);
    const printed = await yes.add('cursor');
    expect(printed).toMatch(/\+ {5}"vitrine": \{\n/);
    expect(printed).toContain('Written. Cursor reads it when it is started anew.');
    expect(await textOf(yes)).toContain('vitrine');
    for (const answer of ['n\n', '\n', 'yesterday\n', '']) {
      await using no = await machine({ answer }, files);
      expect(await no.add('cursor')).toMatch(/!1 Nothing was written$/);
      expect(await textOf(no)).toBe(OWN);
    }
  });

  it('writes nothing with --dry-run, and without a terminal only with --yes', async () => {
    await using here = await machine({}, files);
    expect(await here.add('cursor', undefined, { dryRun: true, yes: true })).toMatch(/\+ {5}"vitrine": \{\n/);
    expect(await here.add('cursor')).toMatch(/!2 Nothing was written: there is no terminal to ask at. Say --yes/);
    expect(await textOf(here)).toBe(OWN);
  });

  it('shows no secrets of other entries', async () => {
    for (const text of [OWN, JSON.stringify(JSON.parse(OWN))]) {
      await using here = await machine({}, { '.cursor/mcp.json': text });
      expect(await here.add('cursor', undefined, { dryRun: true })).not.toContain('a-key-of-somebody');
    }
  });

  it('shows the old entry, and replaces it', async () => {
    await using here = await machine(
      {},
      { '.codex/config.toml': 'x = 1\n[mcp_servers.vitrine]\nurl = "http://old/" # c\n[y]\n' },
    );
    expect(await here.add('codex', undefined, { yes: true })).toMatch(
      /where "vitrine" is there already, and replaced:\n(?:.*\n)* {2}- url = "http:\/\/old\/" # c\n/,
    );
    const text = await readFile(here.home.at('.codex/config.toml'), 'utf8');
    expect(text).toMatch(/^x = 1\n\[mcp_servers\.vitrine\]\ncommand = .*\nargs = .*\n\[y\]\n$/);
    expect(await here.add('codex', undefined, { yes: true, name: 'other' })).not.toContain('replaced');
    expect(await here.remove('codex', { yes: true })).toContain('"vitrine" is taken out');
    expect(await readFile(here.home.at('.codex/config.toml'), 'utf8')).toContain('[mcp_servers.other]');
    expect(await here.remove('codex', { yes: true })).toBe('Codex has no "vitrine"; nothing was changed\n');
  });
});

describe('a file', () => {
  it.each([
    ['claude-code', '.claude.json', '{ "mcpServers": { "a": '],
    ['claude-code', '.claude.json', '[]'],
    ['claude-code', '.claude.json', '{ "mcpServers": [] }'],
    ['codex', '.codex/config.toml', '[mcp_servers\n'],
    ['codex', '.codex/config.toml', 'mcp_servers = { a = { command = "a" } }\n'],
    ['goose', '.config/goose/config.yaml', 'a: [\n'],
    ['goose', '.config/goose/config.yaml', 'extensions: &all\n  a: {}\nother: *all\n'],
    ['goose', '.config/goose/config.yaml', 'extensions: some\n'],
  ])('of %s that is broken, or cannot be edited, stays unchanged: %s %j', async (host, name, text) => {
    await using here = await machine({}, { [name]: text });
    expect(await here.add(host, undefined, { yes: true })).toMatch(
      /^!2 .*(is invalid|not a configuration|cannot be edited)/,
    );
    expect(await readFile(here.home.at(name), 'utf8')).toBe(text);
  });

  it('that is not UTF-8 stays unchanged', async () => {
    await using here = await machine();
    const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    await here.home.write('.cursor/mcp.json', bytes);
    expect(await here.add('cursor', undefined, { yes: true })).toMatch(/^!2 .*is not UTF-8, and was left as it is$/);
    expect(await readFile(here.home.at('.cursor/mcp.json'))).toEqual(bytes);
  });

  it('keeps its permissions, and a link to it stays a link', async () => {
    await using here = await machine({}, { 'dotfiles/mcp.json': '{}\n', '.cursor/': '' });
    await chmod(here.home.at('dotfiles/mcp.json'), 0o664);
    await symlink('../dotfiles/mcp.json', here.home.at('.cursor/mcp.json'));
    await here.add('cursor', undefined, { yes: true });
    expect((await lstat(here.home.at('.cursor/mcp.json'))).isSymbolicLink()).toBe(true);
    expect((await stat(here.home.at('dotfiles/mcp.json'))).mode & 0o777).toBe(0o664);
    expect(await readFile(here.home.at('dotfiles/mcp.json'), 'utf8')).toContain('vitrine');
    expect(await readdir(here.home.at('dotfiles'))).toEqual(['mcp.json']);
    // A link to a missing file makes that file.
    await mkdir(here.home.at('.codeium/windsurf'), { recursive: true });
    await symlink('../../dotfiles/windsurf.json', here.home.at('.codeium/windsurf/mcp_config.json'));
    await here.add('windsurf', undefined, { yes: true });
    expect(await readFile(here.home.at('dotfiles/windsurf.json'), 'utf8')).toContain('vitrine');
    expect(dirname(here.home.at('x'))).toBe(here.home.path);
  });
});

describe('an argument', () => {
  it('names a host in any spelling; an unknown host or scope and an invalid name are refused', async () => {
    await using here = await machine();
    for (const typed of ['claude-desktop', 'Claude Desktop', 'claudedesktop', 'CLAUDE_DESKTOP'])
      expect(await here.add(typed, undefined, { dryRun: true })).toMatch(/^Claude Desktop, /);
    expect(await here.add('cursr')).toBe('!2 There is no host "cursr" here; did you mean cursor?');
    expect(await here.add('notepad')).toMatch(/^!2 There is no host "notepad" here; there are claude-code, .*goose$/);
    expect(await here.add('windsurf', undefined, { scope: 'project' })).toMatch(/^!2 .* say --scope user$/);
    for (const name of ['__proto__', 'two words', '', 'a"b'])
      expect(await here.add('cursor', undefined, { name })).toMatch(/^!2 A name has letters/);
  });

  it('is written only if it can be served', async () => {
    await using here = await machine({}, { 'vitrine.yaml': 'mounts: { docs: ./missing-key: 1 }' });
    expect(await here.add('cursor', ['./nowhere'], { yes: true })).toMatch(/^!2 There is nothing at \.\/nowhere/);
    expect(await here.add('cursor', [], { yes: true })).toMatch(/^!2 Say what to serve/);
    expect(await here.add('cursor', [here.home.at('vitrine.yaml')], { yes: true })).toMatch(/^!2 vitrine\.yaml/);
    expect(await here.add('cursor', ['postgres://me:a-password@db/x'], { yes: true })).toMatch(
      /^!2 A path or URL to serve contains a password/,
    );
    expect(await here.add('cursor', [served.at('mcp.json')], { dryRun: true })).toContain('"--mcp-config"');
    expect(await readdir(here.home.path)).toEqual(['vitrine.yaml']);
  });
});
