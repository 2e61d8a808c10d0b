/** A repository on the command line: a real client of either era lists, reads, searches and watches it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ResourceTemplate } from '../../src/protocol/resources.ts';
import { type Scene, scene } from '../../src/testing/git-scene.ts';
import { drain, failure, metadata, readOne } from './answers.ts';
import { temporaryFolder, writeConfig } from './folders.ts';
import { CLI, type Connected, connect, DIAGONAL } from './harness.ts';
import { collectNotices, subscribe } from './notices.ts';
import { within } from './waiting.ts';

let work: Scene;
let folder = '';
let bare = '';

beforeAll(async () => {
  work = await scene();
  await work.write('readme.md', '# Read me\n');
  await work.write('100% café.txt', 'one\n');
  work.commit('First');
  work.git('branch', 'feature/x');
  work.git('branch', 'moving');
  folder = await mkdtemp(join(tmpdir(), 'vitrine-git-e2e-'));
  bare = join(folder, 'museum.git');
  work.git('clone', '--quiet', '--bare', work.directory, bare);
});
afterAll(async () => {
  await work[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe.each(DIAGONAL)('vitrine serve ./museum.git over $transport, $era', ({ transport, era }) => {
  let server: Connected;
  beforeAll(async () => {
    server = await connect(transport, era, [bare]);
  });
  afterAll(() => server.close());

  it('causes no warning of a leak, however many requests there are at a time', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    try {
      const read = (): Promise<unknown> => server.request('resources/read', { uri: 'git:///HEAD/readme.md' });
      const list = (): Promise<unknown> => server.request('resources/list', { uri: 'git:///branches' });
      const search = (): Promise<unknown> =>
        server.request('tools/call', { name: 'search', arguments: { pattern: 'Read', uri: 'git:///HEAD' } });
      await Promise.all(Array.from({ length: 8 }, () => [read(), list(), search()]).flat());
      // Warnings come in the next turn of the event loop.
      await new Promise((done) => setImmediate(done));
    } finally {
      process.off('warning', warned);
    }
    expect(warnings).toEqual([]);
  });

  it('lists the tree of HEAD, and the other containers [RES-1, 2093-4]', async () => {
    const uris = (await drain(server, 'resources/list')).map(({ uri }) => uri);
    expect(uris).toEqual([
      'git:///',
      'git:///HEAD',
      'git:///branches',
      'git:///tags',
      'git:///commits',
      'git:///HEAD/100%25%20caf%C3%A9.txt',
      'git:///HEAD/readme.md',
    ]);
    const branches = await drain(server, 'resources/list', { uri: 'git:///branches' });
    expect(branches.map(({ uri }) => uri)).toEqual([
      'git:///branches/feature~2Fx',
      'git:///branches/main',
      'git:///branches/moving',
    ]);
  });

  it('has templates with a title, and with a type if all matches have the same [RES-11]', async () => {
    const { resourceTemplates } = await server.request<{ resourceTemplates: readonly ResourceTemplate[] }>(
      'resources/templates/list',
    );
    const types = Object.fromEntries(
      resourceTemplates.map(({ uriTemplate, mimeType }) => [uriTemplate.slice('git:///'.length), mimeType]),
    );
    expect(types).toMatchObject({
      'commit/commits/{commit}': 'text/markdown',
      'diff/commits/{commit}': 'text/x-diff',
      'log/HEAD/{+path}': 'inode/directory',
      'HEAD/{+path}': undefined,
      'blame/HEAD/{+path}': undefined,
    });
    for (const { title, description } of resourceTemplates) {
      expect({ title, description }).toEqual({ title: expect.any(String), description: expect.any(String) });
    }
    const [commit] = await drain(server, 'resources/list', { uri: 'git:///commits' });
    const id = commit?.uri.split('/').at(-1);
    const matching: Readonly<Record<string, string>> = {
      'commit/commits/{commit}': `commit/commits/${id}`,
      'diff/commits/{commit}': `diff/commits/${id}`,
      'log/HEAD/{+path}': 'log/HEAD/readme.md',
      'compare/branches/{base}/branches/{branch}': 'compare/branches/moving/branches/main',
    };
    for (const [template, path] of Object.entries(matching)) {
      expect((await metadata(server, `git:///${path}`)).mimeType, path).toBe(types[template]);
    }
  });

  it('reads files of any revision, history and changes [RES-2, 2093-1]', async () => {
    expect(await readOne(server, 'git:///branches/feature~2Fx/100%25%20caf%C3%A9.txt')).toMatchObject({
      text: 'one\n',
    });
    const [commit] = await drain(server, 'resources/list', { uri: 'git:///log/HEAD/readme.md' });
    expect(commit).toMatchObject({ title: 'First', mimeType: 'text/markdown' });
    expect((await readOne(server, commit?.uri ?? '')).text).toContain('- added: [readme.md](');
    expect((await readOne(server, 'git:///diff/HEAD')).text).toContain('+# Read me');
    expect(await metadata(server, 'git:///HEAD/readme.md')).toMatchObject({ size: 10, mimeType: 'text/markdown' });
    expect(await failure(metadata(server, 'git:///branches/HEAD~1'))).toMatchObject({ code: -32602 });
  });

  it('reports that a branch has moved [RES-4]', async () => {
    const notices = await collectNotices(server);
    const subscription = await subscribe(server, ['git:///branches/moving']);
    await work.write('readme.md', `# Read me ${transport}\n`);
    work.commit(transport);
    work.git('push', '--quiet', '--force', bare, 'main:moving');
    await notices.told('git:///branches/moving');
    await subscription.end();
    expect((await readOne(server, 'git:///branches/moving/readme.md')).text).toBe(`# Read me ${transport}\n`);
  });
});

it('a program that does not close a repository ends all the same, and leaves no process behind', async () => {
  const temporary = await mkdtemp(join(tmpdir(), 'vitrine-git-e2e-'));
  try {
    const program = `
      import { gitProvider } from ${JSON.stringify(new URL('../providers/git.js', pathToFileURL(CLI)).href)};
      const provider = await gitProvider({ path: ${JSON.stringify(bare)} });
      const ctx = { principal: { id: 'anonymous' }, signal: new AbortController().signal, log: { warn() {}, debug() {} } };
      await provider.watch('git:///HEAD', () => {}, ctx);
      console.log((await provider.metadata('git:///HEAD/readme.md', ctx)).size);`;
    const env = { ...process.env, TMPDIR: temporary };
    const ended = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env });
    expect((await within(ended, 'the end of the program')).stdout).toBe('10\n');
    expect(await readdir(temporary)).toEqual([]);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
});

it('a configuration mounts a repository with `git`, and chooses the parts that it shows', async () => {
  await using place = await temporaryFolder({ 'notes/a.md': 'a\n' });
  const mounts = { history: { git: work.directory, branches: false, tags: false }, notes: './notes' };
  const server = await connect('stdio', 'modern', ['--config', await writeConfig(place, { mounts })]);
  try {
    const listed = await drain(server, 'resources/list', { uri: 'history+git:///' });
    expect(listed.map(({ uri }) => uri)).toEqual(['history+git:///HEAD', 'history+git:///commits']);
  } finally {
    await server.close();
  }
});
