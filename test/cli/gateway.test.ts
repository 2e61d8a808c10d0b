/** Other servers on the command line and in configurations: how they are mounted and reported, without their secrets. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { CLI, connectHttp, connectStdio, startHttp } from '../e2e/harness.ts';
import { until, within } from '../e2e/waiting.ts';
import { vitrine } from './here.ts';

const SECRET = 'never-to-be-seen-7f3a';
/** A program that is no server, and prints its environment variable and its argument. */
const TELLTALE = "console.error('Error: ' + process.env.KEY + ' ' + process.argv[1]); process.exit(3)";

let folder: Folder;
/** An entry of a file of a host; it starts Vitrine. */
const server = (...args: readonly string[]) => ({ command: process.execPath, args: [CLI, 'serve', ...args] });

beforeAll(async () => {
  process.env.VITRINE_TEST_SECRET = SECRET;
  folder = await temporaryFolder({ 'docs/a.md': 'a', 'data/b.md': 'b', 'beside/b.md': 'b' });
});
afterAll(async () => {
  delete process.env.VITRINE_TEST_SECRET;
  await folder[Symbol.asyncDispose]();
});

/** Writes a file of a host. @returns its name */
async function hostFile(name: string, mcpServers: object): Promise<string> {
  await folder.write(name, JSON.stringify({ mcpServers }));
  return folder.at(name);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const uris = ({ resources }: { readonly resources: readonly { readonly uri: string }[] }): string[] =>
  resources.map(({ uri }) => uri).sort();

describe.concurrent('vitrine check', () => {
  it('prints the name and the contents of each server, and ends with 1 if one cannot be reached', async () => {
    const config = await writeConfig(
      folder,
      {
        mounts: {
          docs: './docs',
          there: server('docs', '--name', 'there-server'),
          gone: { command: './no-such-program' },
          web: { url: 'http://127.0.0.1:9/mcp' },
        },
        mcpServers: { 'Data Set': { ...server('./data'), start: 'lazy', autoApprove: ['read'] } },
      },
      'check.yaml',
    );
    const { status, stdout, stderr } = await vitrine(['check', '--config', config]);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toEqual([
      'ok  docs  docs+file:///  1 entries',
      expect.stringMatching(
        /^ok {2}there {2}there-server \d+\.\d+\.\d+, 2026 era {2}\d+ tools, 2 resources, 1 template/,
      ),
      expect.stringMatching(/^not reached {2}gone {2}no-such-program: .*ENOENT/),
      expect.stringMatching(/^not reached {2}web {2}http:\/\/127\.0\.0\.1:9: /),
      expect.stringMatching(/^ok {2}data-set {2}vitrine .*2 resources/),
      '--  data-set  has unknown keys, which are ignored: autoApprove',
    ]);
  });

  it('reads files of hosts, and ends with 0 if all servers can be reached', async () => {
    const file = await hostFile('check.json', { one: server('docs') });
    const { status, stdout } = await vitrine(['check', '--mcp-config', file]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^ok {2}one {2}vitrine [^\n]+\n$/) });
  });

  it('waits for a slow server, and prints one line for it', async () => {
    const later = 'setTimeout(() => import(require("node:url").pathToFileURL(process.argv[1])), 6_000)';
    const { command, args } = server('docs');
    const file = await hostFile('slow.json', { slow: { command, args: ['-e', later, ...args] } });
    const outcome = await vitrine(['check', '--mcp-config', file]);
    expect(outcome).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^ok {2}slow {2}vitrine [^\n]+\n$/),
      stderr: '',
    });
  }, 60_000);

  it('reports a mistake in either file in one line', async () => {
    const sse = await hostFile('sse.json', { old: { type: 'sse', url: 'https://old.example/sse' } });
    const clash = await hostFile('clash.json', { Docs: { command: 'x' } });
    const itself = await hostFile('itself.json', {
      vitrine: { command: 'node', args: ['serve', '--mcp-config', './itself.json'] },
    });
    const config = await writeConfig(folder, { mounts: { docs: './docs' } }, 'clash.yaml');
    for (const [args, line] of [
      [['--mcp-config', sse], /^vitrine: sse\.json:1:\d+: mcpServers\.old\.type: The transport "sse"/],
      [
        ['--config', config, '--mcp-config', clash],
        /^vitrine: --mcp-config, server docs: The server becomes the mount "docs"/,
      ],
      [['--mcp-config', itself], /^vitrine: itself\.json: the server "vitrine" is this gateway itself/],
      [['--mcp-config', folder.at('none.json')], /^vitrine: There is no configuration at/],
    ] as const) {
      const outcome = await vitrine(['check', ...args]);
      expect(outcome).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(line) });
      expect(outcome.stderr.trimEnd()).not.toContain('\n');
    }
  });
});

describe.concurrent('vitrine serve', () => {
  it('publishes the one server of a file of a host under its own URIs and names [CB-1]', async () => {
    const file = await hostFile('one.json', { one: server('docs'), off: { command: 'x', disabled: true } });
    await using connected = await connectStdio('modern', ['--mcp-config', file]);
    expect(uris(await connected.request('resources/list'))).toEqual(['file:///', 'file:///a.md']);
  });

  it.each([
    ['an entry with `prefix: name`', { one: { ...server('docs'), prefix: 'name' } }, [], 'one+file:///a.md'],
    ['two servers', { one: server('docs'), two: server('data') }, [], 'two+file:///b.md'],
    ['a path beside the server', { data: server('docs') }, ['data'], 'data-2+file:///b.md'],
  ] as const)('puts names before the URIs for %s', async (_, servers, paths, uri) => {
    const file = await hostFile(`${[...Object.keys(servers), ...paths].join('-')}.several.json`, servers);
    await using connected = await connectStdio('legacy', [
      ...paths.map((path) => folder.at(path)),
      '--mcp-config',
      file,
    ]);
    // On a busy machine a list may be given before the servers have started.
    const listed = await until(async () => {
      const found = uris(await connected.request('resources/list'));
      return found.includes(uri) && found;
    }, `${uri} in a list`);
    expect(listed.every((each) => each.includes('+file:'))).toBe(true);
  });

  it('serves a file of a host and a configuration together, and starts programs in the folder of their file', async () => {
    const config = await writeConfig(folder, { mounts: { here: './docs' } }, 'beside.yaml');
    const file = await hostFile('beside/beside.json', { there: server('.') });
    await using connected = await connectStdio('modern', ['--config', config, '--mcp-config', file]);
    const listed = uris(await connected.request('resources/list'));
    expect(listed).toEqual(expect.arrayContaining(['here+file:///a.md', 'there+file:///b.md']));
  });

  it('mounts a typed URL, alone or with others, and prints only its origin', async () => {
    await using upstream = await startHttp([folder.at('docs')]);
    await using alone = await startHttp([`${upstream.url}?key=${SECRET}`]);
    expect(alone.output()).toMatch(/^ {2}server {2}… {2}http:\/\/127\.0\.0\.1:\d+$/m);
    expect(alone.output()).not.toContain(SECRET);
    await using client = await connectHttp('modern', alone);
    expect(uris(await client.request('resources/list'))).toContain('file:///a.md');

    await using beside = await startHttp([upstream.url, folder.at('data')]);
    expect(beside.output()).toMatch(/^ {2}server {2}server\+… {2}http/m);
    await using other = await connectHttp('legacy', beside);
    const listed = uris(await other.request('resources/list'));
    expect(listed).toEqual(expect.arrayContaining(['server+file:///a.md', 'data+file:///b.md']));
  });

  it.each([
    [
      'with a password in it',
      'https://me:hunter22@api.example/mcp',
      /^vitrine: The URL at https:\/\/api\.example has a user or a password/,
    ],
    [
      'of another kind',
      'ftp://me:hunter22@db.example/x',
      /^vitrine: ftp:\/\/\.\.\. is a URL of a kind that is not served/,
    ],
    ['that cannot be parsed', 'https://:hunter22', /^vitrine: The URL at https: cannot be read/],
  ])('refuses a URL %s, and does not repeat it', async (_, url, line) => {
    const { status, stderr } = await vitrine(['serve', url]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(line) });
    expect(stderr).not.toContain('hunter22');
  });

  it('never prints the value of a reference, whatever fails', async () => {
    const reference = `\${VITRINE_TEST_SECRET}`;
    const config = await writeConfig(
      folder,
      {
        mounts: {
          loud: { command: process.execPath, args: ['-e', TELLTALE, reference], env: { KEY: reference } },
          gone: { command: `./${reference}` },
          web: {
            url: `http://127.0.0.1:9/${reference}?key=${reference}`,
            headers: { 'X-Key': reference },
            auth: { type: 'bearer', token: reference },
          },
          fine: { ...server('docs'), env: { KEY: reference } },
        },
        mcpServers: {
          host: { url: `http://127.0.0.1:9/${reference}`, headers: { Authorization: `Bearer ${reference}` } },
        },
      },
      'secrets.yaml',
    );
    const checked = await vitrine(['check', '--config', config]);
    expect(checked).toMatchObject({ status: 1, stdout: expect.stringContaining('it said: Error: ') });
    expect(checked.stdout + checked.stderr).not.toContain(SECRET);

    await using listening = await startHttp(['--config', config, '--log-level', 'debug']);
    await until(() => listening.output().includes('Error: '), 'the line of the program in the log');
    for (const era of ['legacy', 'modern'] as const) {
      await using client = await connectHttp(era, listening);
      const said: unknown[] = [await client.request('resources/list'), await client.request('tools/list')];
      const status = await client.request('resources/read', { uri: 'vitrine+state:///upstreams' });
      expect(JSON.stringify(status)).toMatch(/loud.*away.*gone.*away.*fine.*ready/);
      said.push(status);
      for (const uri of ['loud+x:///a', 'gone+x:///a', 'web+x:///a', 'host+x:///a'])
        said.push(await client.request('resources/read', { uri }).catch((error: unknown) => error));
      expect(JSON.stringify(said)).toContain('fine+file:///a.md');
      expect(JSON.stringify(said)).not.toContain(SECRET);
    }
    await listening.stop();
    expect(listening.output()).not.toContain(SECRET);
  });

  it('ends in order while it waits for servers, and ends their programs', async () => {
    const silent =
      'process.stdin.resume(); process.stdin.on("end", () => {}); setInterval(() => {}, 1e6); console.error("pid", process.pid)';
    const config = await writeConfig(
      folder,
      { mounts: { silent: { command: process.execPath, args: ['-e', silent] } } },
      'silent.yaml',
    );
    const child = spawn(process.execPath, [CLI, 'serve', '--config', config, '--http', '0', '--log-level', 'debug']);
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const ended = once(child, 'exit');
    try {
      const pid = Number(await until(() => /pid (\d+)/.exec(output)?.[1], 'the program'));
      child.kill('SIGTERM');
      const [status] = await within(ended, 'the end of the server');
      expect(status).toBe(0);
      await until(() => !isRunning(pid), 'the end of the program');
    } finally {
      if (child.exitCode === null) child.kill('SIGKILL');
    }
  });

  it('serves all other mounts if a server cannot be reached', async () => {
    const config = await writeConfig(
      folder,
      { mounts: { docs: './docs', gone: { command: './no-such-program' } } },
      'partial.yaml',
    );
    await using connected = await connectStdio('modern', ['--config', config]);
    expect(uris(await connected.request('resources/list'))).toContain('docs+file:///a.md');
    expect(connected.stderr()).toContain('serving begins without an upstream');
  });
});
