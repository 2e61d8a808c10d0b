/** `vitrine init` writes a configuration of everything that can be served, and the configuration works. */
import { execFileSync } from 'node:child_process';
import { copyFile, cp, readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { connect, DIAGONAL, ROOT } from '../e2e/harness.ts';
import { vitrine } from './here.ts';

const OPENAPI = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Opening hours', version: '1' },
  servers: [{ url: 'https://museum.invalid/v1' }],
  paths: { '/hours': { get: { responses: { 200: { description: 'Hours' } } } } },
});

/** A folder with data of every kind. */
async function variedFolder(): Promise<Folder> {
  const folder = await temporaryFolder({
    'my notes/README.md': '# Notes',
    'my notes/.gitignore': 'secret.txt\n',
    'my notes/secret.txt': 'secret',
    'my notes/api/openapi.json': OPENAPI,
    'my notes/api/Hours # 2.yaml': `openapi: "3.0.3"\n${OPENAPI.slice(OPENAPI.indexOf('"info"'), -1).replace(/^/, '# ')}\n`,
    'my notes/fake.db': 'no database',
    'my notes/.mcp.json': '{"mcpServers":{"git hub":{"command":"x","env":{"KEY":"a-key-of-somebody"}}}}',
    'my notes/a/b/c/too-deep.txt': '',
  });
  await copyFile(`${ROOT}examples/registrar.sqlite`, folder.at('my notes', 'a', "it's: data.sqlite"));
  await copyFile(`${ROOT}examples/registrar.sqlite`, folder.at('my notes', 'README.db'));
  await cp(`${ROOT}examples/restoration.git`, folder.at('my notes', 'restoration.git'), { recursive: true });
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: folder.at('my notes'), stdio: 'ignore' });
  git('init', '-q');
  git('-c', 'user.name=a', '-c', 'user.email=a@b.invalid', 'commit', '-q', '--allow-empty', '-m', 'first');
  return folder;
}

describe('vitrine init', () => {
  it('mounts files, history, databases, repositories and APIs, and reports those that it cannot mount', async () => {
    await using folder = await variedFolder();
    const written = await vitrine(['init', 'my notes'], folder.path);
    expect(written).toMatchObject({ status: 0, stderr: '' });
    expect(written.stdout).toContain('vitrine add claude-code my notes/vitrine.yaml');
    const text = await readFile(folder.at('my notes/vitrine.yaml'), 'utf8');
    expect(parse(text)).toEqual({
      server: { name: 'my-notes' },
      mounts: {
        'my-notes': { path: '.', exclude: ['vitrine.yaml'], gitignore: true },
        history: { git: '.' },
        readme: './README.db',
        'it-s-data': "./a/it's: data.sqlite",
        api: { http: { api: { openapi: './api/openapi.json' } } },
        restoration: './restoration.git',
      },
    });
    expect(text).toMatch(/# The answers of an API.* Turned off: .*\n {2}# hours-2:\n {2}# {3}http:\n/);
    expect(text).toContain('# git hub of .mcp.json: vitrine serve vitrine.yaml --mcp-config .mcp.json');
    expect(text).not.toContain('a-key-of-somebody');
    const checked = await vitrine(['check', 'vitrine.yaml'], folder.at('my notes'));
    expect(checked).toMatchObject({ status: 0, stderr: '' });
    for (const name of ['my-notes', 'history', 'readme', 'it-s-data', 'api', 'restoration'])
      expect(checked.stdout).toMatch(new RegExp(`^ok {2}${name} `, 'm'));
  });

  it.each(DIAGONAL)('writes a configuration that is served over $transport, $era', async ({ transport, era }) => {
    await using folder = await variedFolder();
    expect(await vitrine(['init'], folder.at('my notes'))).toMatchObject({ status: 0, stderr: '' });
    await using host = await connect(transport, era, ['--config', folder.at('my notes/vitrine.yaml')]);
    const { resources } = await host.request<{ resources: { uri: string }[] }>('resources/list');
    const uris = resources.map(({ uri }) => uri);
    for (const uri of [
      'my-notes+file:///README.md',
      'history+git:///HEAD',
      'readme+sqlite:///',
      'api+https://museum.invalid/v1/hours',
    ])
      expect(uris).toContain(uri);
    for (const name of ['secret.txt', 'vitrine.yaml']) expect(uris).not.toContain(`my-notes+file:///${name}`);
  });

  it('overwrites a configuration only with --force, and refuses files', async () => {
    await using folder = await temporaryFolder({ 'a/vitrine.yml': 'mounts: { a: . }', 'b/': '', 'file.txt': '' });
    const refused = await vitrine(['init', 'a'], folder.path);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain('There is a vitrine.yml already; --force');
    expect(await readdir(folder.at('a'))).toEqual(['vitrine.yml']);
    expect(await vitrine(['init', 'b'], folder.path)).toMatchObject({ status: 0 });
    const first = await readFile(folder.at('b/vitrine.yaml'), 'utf8');
    expect(await vitrine(['init', 'b'], folder.path)).toMatchObject({ status: 2 });
    expect(await vitrine(['init', 'b', '--force'], folder.path)).toMatchObject({ status: 0 });
    expect(await readFile(folder.at('b/vitrine.yaml'), 'utf8')).toBe(first);
    for (const typed of ['file.txt', 'nowhere'])
      expect((await vitrine(['init', typed], folder.path)).stderr).toMatch(
        /is no folder; a configuration is made for one/,
      );
    expect(await vitrine(['check', 'b/vitrine.yaml'], folder.path)).toMatchObject({ status: 0, stderr: '' });
  });
});
