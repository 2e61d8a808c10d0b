/** Every mistake leads to one line on standard error that says what to do, and to an exit status. */
import { chmod, mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import * as here from './here.ts';
import { vitrine } from './run.ts';

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder({
    'docs/a.md': 'a',
    'vitrine.yaml': 'mounts:\n  docs: ./docs\n',
    'team.yaml': 'mounts:\n  docs: ./docs\n',
    'team.json': '{"mounts": {"docs": "./docs"}}',
    'wrong.json': '{"mounts": {"docs": {"url": 5}}}',
    'mcp.json': '{"mcpServers": {}}',
    'more.json': '{"mcpServers": {}}',
  });
});
afterAll(() => folder[Symbol.asyncDispose]());

/** Returns the line without its prefix. Fails if there are more lines, or something is on standard output. */
async function mistake(args: readonly string[], expectedStatus = 2, cwd = folder.path): Promise<string> {
  const { status, stdout, stderr } = await here.vitrine(args, cwd);
  expect({ args, status, stdout }).toEqual({ args, status: expectedStatus, stdout: '' });
  expect(stderr).toMatch(/^vitrine: [^\n]+\n$/);
  return stderr.slice('vitrine: '.length, -1);
}

describe.concurrent('a mistake on the command line', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['a path that does not exist', ['serve', 'dosc'], /no file or folder at dosc/],
    ['a path that does not exist, for check', ['check', 'dosc'], /no file or folder at dosc/],
    ['a path below a file', ['serve', 'docs/a.md/b'], /no file or folder at docs\/a\.md\/b/],
    ['one of several paths that does not exist', ['serve', 'docs', 'dosc'], /no file or folder at dosc/],
    ['a device', ['serve', '/dev/null'], /\/dev\/null is neither a folder nor a file/],
    [
      'a URL',
      ['serve', 'ftp://example/docs'],
      /^.*ftp:\/\/\.\.\. is a URL of a kind that is not served; there are http/,
    ],
    [
      'an unknown option',
      ['serve', '--htp'],
      /unknown option '--htp' \(Did you mean --http\?\); see vitrine serve --help$/,
    ],
    [
      'an unknown option of a subcommand',
      ['audit', 'verify', 'x', '--haed'],
      /'--haed'.*; see vitrine audit verify --help$/,
    ],
    ['only the locks of an audit', ['audit', 'verify', 'a.lock', 'b.lock'], /^a\.lock, b\.lock: only locks; name /],
    ['only the lock of an audit, with --each', ['audit', 'verify', '--each', 'a.lock'], /^a\.lock: only locks; name /],
    [
      'only the locks of audits to be merged',
      ['audit', 'merge', 'a.lock', 'b.lock'],
      /^a\.lock, b\.lock: only locks; name /,
    ],
    [
      'an unknown option of a command for servers',
      ['ls', '--bogus', 'x'],
      /unknown option '--bogus'; see vitrine ls --help$/,
    ],
    ['an option of another command', ['check', 'docs', '--http'], /unknown option '--http'/],
    ['an unknown command', ['srve', 'docs'], /unknown command 'srve' \(Did you mean serve\?\)/],
    ['a path in place of a command that does not exist', ['./dosc'], /no file or folder at \.\/dosc/],
    ['a word that is no command and no path', ['dosc'], /unknown command 'dosc'; see vitrine --help$/],
    [
      'a configuration under another name',
      ['serve', 'team.yaml'],
      /^team\.yaml has mounts.*--config team\.yaml.*--as-document/,
    ],
    ['a configuration in JSON under another name, for check', ['check', 'team.json'], /^team\.json has mounts/],
    [
      'a mistake in a configuration in JSON that is to be authorized',
      ['authorize', 'wrong.json', 'docs'],
      /^wrong\.json:1:\d+: mounts\.docs\.url: Invalid input/,
    ],
    ['two files of servers', ['serve', 'mcp.json', 'more.json'], /^more\.json has mcpServers.*only one such file/],
    [
      'a file of servers beside another',
      ['serve', 'mcp.json', '--mcp-config', 'more.json'],
      /^mcp\.json has mcpServers/,
    ],
    ['a port and an address', ['serve', 'docs', '--http', '--port', '1'], /either --http or --port/],
    ['a port that is no number', ['docs', '--port', 'here'], /--port takes a port, as in --port 8931, and not "here"/],
    ['an invalid address', ['serve', 'docs', '--http', 'here'], /--http takes \[host:\]port, as in --http 8931/],
    ['a port that is too large', ['serve', 'docs', '--http', '70000'], /--http takes \[host:\]port.*"70000"/],
    [
      'a path after --http, which takes it as an address',
      ['serve', '--http', './docs'],
      /"\.\/docs"; put paths before it/,
    ],
    [
      'paths and a configuration',
      ['serve', 'docs', '--config', 'vitrine.yaml'],
      /either paths or a configuration, not both/,
    ],
    [
      'paths and a configuration by its name',
      ['serve', 'vitrine.yaml', 'docs'],
      /either paths or a configuration, not both/,
    ],
    ['two configurations', ['serve', 'vitrine.yaml', 'docs/vitrine.yaml'], /either paths or a configuration/],
    ['a configuration that does not exist', ['serve', '--config', 'other.yaml'], /no configuration at other\.yaml/],
    ['a folder for a configuration', ['serve', '--config', 'docs'], /docs is a folder; name the configuration in it/],
    ['an option without its value', ['serve', '--config'], /'--config <file>' argument missing/],
    [
      'an unknown log level',
      ['serve', 'docs', '--log-level', 'loud'],
      /'loud' is invalid.*silent, error, warn, info, debug/,
    ],
    [
      'options of paths for a configuration',
      ['serve', 'vitrine.yaml', '--hidden'],
      /--hidden.*in a configuration say so in each mount/,
    ],
    [
      'options of paths for a file of a host',
      ['serve', '--mcp-config', 'x.json', '--hidden'],
      /--hidden.*are for paths/,
    ],
  ])('is reported: %s', async (_, args, line) => {
    expect(await mistake(args)).toMatch(line);
  });

  it('is reported if nothing is named to serve, with the configuration in the folder', async () => {
    expect(await mistake(['serve'])).toBe(
      'Say what to serve, as in: vitrine serve ./docs, or: vitrine serve vitrine.yaml',
    );
    expect(await mistake(['check'], 2, folder.at('docs'))).toBe('Say what to serve, as in: vitrine serve ./docs');
  });

  it('is reported if other machines could reach the server, with both ways out', async () => {
    for (const address of ['0.0.0.0:0', '[::]:0', 'example.com:0', '192.168.1.1:0']) {
      const line = await mistake(['serve', 'docs', '--http', address]);
      expect(line).toContain('no authorization');
      expect(line).toContain('--allow-remote');
      expect(line).toContain(`leave out "${address.slice(0, -2).replace(/^\[|\]$/g, '')}:"`);
    }
  });

  it.each([
    ['127.0.0.1', ''],
    ['localhost', 'localhost:'],
  ])('is reported if the port is in use, with another port of %s', async (host, before) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, host, resolve));
    try {
      const { port } = taken.address() as AddressInfo;
      const line = await mistake(['serve', 'docs', '--http', `${before}${port}`]);
      expect(line).toMatch(
        new RegExp(`^Port ${port} is already in use; stop the program that uses it, .*--http ${before}\\d+$`),
      );
      expect(Number(/\d+$/.exec(line)?.[0])).not.toBe(port);
    } finally {
      await new Promise((resolve) => taken.close(resolve));
    }
  });

  it('is reported if the address is not one of this machine', async () => {
    const line = await mistake(['serve', 'docs', '--allow-remote', '--http', '203.0.113.7:0']);
    expect(line).toMatch(/^Cannot listen on 203\.0\.113\.7:0; choose another address or port, as in --http \d+$/);
  });

  // Root may read everything.
  it.skipIf(process.getuid?.() === 0)('is reported if a folder may not be read', async () => {
    await mkdir(folder.at('closed', 'inner'), { recursive: true });
    await chmod(folder.at('closed'), 0);
    try {
      expect(await mistake(['serve', 'closed/inner'])).toMatch(/may not be read; give this user the right/);
      expect(await mistake(['serve', 'closed'])).toMatch(/may not be read; give this user the right/);
    } finally {
      await chmod(folder.at('closed'), 0o700);
    }
  });
});

describe('mistakes in a configuration', () => {
  it('get a line each, with their places', async () => {
    await using own = await temporaryFolder({
      'vitrine.yaml': 'server:\n  nme: x\nmounts:\n  docs: .\nlimits:\n  pageSize: -1\n',
    });
    for (const command of ['serve', 'check']) {
      const { status, stdout, stderr } = await vitrine([command, 'vitrine.yaml'], own.path);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr.trimEnd().split('\n')).toEqual([
        'vitrine: vitrine.yaml:2:3: unknown key "nme" in server; did you mean "name"?',
        expect.stringMatching(/^vitrine: vitrine\.yaml:6:3: limits\.pageSize: Too small/),
      ]);
    }
  });
});
