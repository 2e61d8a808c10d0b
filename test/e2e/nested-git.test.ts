/** Git repositories in a served folder, gone into like folders (`nested: on`), by a real client of either era. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gitIn } from '../../src/testing/git-fixture.ts';
import { embeddedIn } from '../tools/engine.ts';
import { drain, failure, metadata, read, readOne } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, DIAGONAL } from './harness.ts';
import { collectNotices, subscribe } from './notices.ts';

const commit = (folder: Folder, message: string): void => {
  gitIn(folder.at('docs'), ['add', '--all', '--force']);
  gitIn(folder.at('docs'), ['commit', '--quiet', '--allow-empty', '-m', message]);
};

async function scene(): Promise<Folder> {
  const folder = await temporaryFolder({
    'docs/readme.md': '# One\n',
    'docs/guide/intro.txt': 'a clock\n',
    'docs/secret/key.txt': 'a hushed clock\n',
    'docs/.env': 'PASSWORD=clock\n',
    'docs/gone.txt': 'gone\n',
  });
  const root = folder.at('docs');
  gitIn(root, ['init', '--quiet', '--template=', '--initial-branch=main']);
  commit(folder, 'First');
  gitIn(root, ['tag', 'v1']);
  gitIn(root, ['rm', '--quiet', 'gone.txt']);
  await folder.write('docs/readme.md', '# Two\n');
  await folder.write('docs/secret/key.txt', 'another hushed clock\n');
  await folder.write('docs/.env', 'PASSWORD=another clock\n');
  commit(folder, 'Second');
  gitIn(root, ['branch', 'topic']);
  gitIn(folder.path, ['clone', '--quiet', '--bare', 'docs', 'docs/bare.git']);
  return folder;
}

const config = (nested: unknown): object => ({
  mounts: { docs: { path: 'docs', prefix: 'none', nested } },
  access: {
    default: 'allow',
    rules: [{ effect: 'hide', uris: ['file:///secret/**', 'file:///bare.git/secret/**'] }],
  },
});

describe.each(DIAGONAL)('nested git, over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  beforeAll(async () => {
    folder = await scene();
    server = await connect(transport, era, ['--config', await writeConfig(folder, config('on'))]);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  const list = async (uri: string): Promise<string[]> =>
    (await drain(server, 'resources/list', { uri })).map((each) => each.uri);

  it('lists the repository of a folder after its files, and in a bare repository its revisions and not its files [2093-4]', async () => {
    expect(await list('file:///')).toEqual(['file:///bare.git', 'file:///guide', 'file:///readme.md', 'file:///.git']);
    expect(await list('file:///.git')).toEqual([
      'file:///.git/HEAD',
      'file:///.git/branches',
      'file:///.git/tags',
      'file:///.git/commits',
    ]);
    expect(await list('file:///bare.git')).toEqual([
      'file:///bare.git/HEAD',
      'file:///bare.git/branches',
      'file:///bare.git/tags',
      'file:///bare.git/commits',
    ]);
    expect(await list('file:///.git/branches')).toEqual(['file:///.git/branches/main', 'file:///.git/branches/topic']);
    for (const uri of ['file:///.git', 'file:///bare.git'])
      expect(await metadata(server, uri), uri).toMatchObject({
        uri,
        title: 'Git repository',
        mimeType: 'inode/directory',
        capabilities: { list: true, subscribe: true },
        _meta: { 'vitrine/walk': false },
      });
  });

  it('reads files at HEAD, a branch and a tag, and a commit, its diff and the blame of a file', async () => {
    for (const root of ['file:///.git', 'file:///bare.git']) {
      expect((await readOne(server, `${root}/HEAD/readme.md`)).text).toBe('# Two\n');
      expect((await readOne(server, `${root}/branches/topic/readme.md`)).text).toBe('# Two\n');
      expect((await readOne(server, `${root}/tags/v1/readme.md`)).text).toBe('# One\n');
      expect((await readOne(server, `${root}/tags/v1/gone.txt`)).text).toBe('gone\n');
      const [newest = ''] = await list(`${root}/log/HEAD/readme.md`);
      const document = await readOne(server, newest);
      expect(document.text).toContain('# Second');
      // The link to the diff is relative, so it works wherever the repository is.
      const link = /\[changes\]\(([^)]+)\)/.exec(document.text ?? '')?.[1] ?? '';
      expect((await readOne(server, new URL(link, newest).href)).text).toContain('+# Two');
      expect((await readOne(server, `${root}/blame/HEAD/readme.md`)).text).toContain('# Two');
    }
  });

  it('shows no past version of a file that a rule, or its name, hides now [SEC-RES-2]', async () => {
    for (const root of ['file:///.git', 'file:///bare.git']) {
      for (const path of ['secret/key.txt', 'secret', '.env', '%2Eenv', '%73ecret/key.txt'])
        for (const way of ['HEAD', 'tags/v1', 'log/HEAD', 'blame/HEAD', 'diff/HEAD', 'compare/tags/v1/HEAD'])
          expect((await failure(read(server, `${root}/${way}/${path}`))).code, `${root} ${way} ${path}`).toBe(-32602);
      expect(await list(`${root}/HEAD`)).toEqual([`${root}/HEAD/guide`, `${root}/HEAD/readme.md`]);
      const texts = [];
      for (const uri of [`${root}/diff/HEAD`, `${root}/compare/tags/v1/HEAD`, `${root}/commit/HEAD`])
        texts.push((await readOne(server, uri)).text ?? '');
      expect(texts[0]).toContain('+# Two');
      expect(texts.join('\n')).not.toMatch(/secret|key\.txt|\.env|clock/);
      const { content } = (await server.client.callTool({
        name: 'search',
        arguments: { pattern: 'clock', uri: `${root}/HEAD`, context: 0 },
      })) as never as { content: never };
      expect(embeddedIn({ content } as never).map(({ uri }) => uri.replace(/#.*/, ''))).toEqual([
        `${root}/HEAD/guide/intro.txt`,
      ]);
    }
  });

  it('is not entered by a walk over everything', async () => {
    const all = (await drain(server, 'resources/list')).map(({ uri }) => uri);
    expect(all).toContain('file:///.git');
    expect(all.filter((uri) => /\.git\//.test(uri))).toEqual([]);
    const result = await server.client.callTool({ name: 'search', arguments: { pattern: 'clock|refs', context: 0 } });
    expect(embeddedIn(result as never).map(({ uri }) => uri.replace(/#.*/, ''))).toEqual(['file:///guide/intro.txt']);
  });

  it('shows and reports new commits [RES-4]', async () => {
    const notices = await collectNotices(server);
    const subscription = await subscribe(server, ['file:///.git/HEAD/readme.md']);
    await folder.write('docs/readme.md', '# Three\n');
    commit(folder, 'Third');
    expect((await readOne(server, 'file:///.git/HEAD/readme.md')).text).toBe('# Three\n');
    await notices.told('file:///.git/HEAD/readme.md');
    gitIn(folder.at('docs'), ['gc', '--quiet', '--prune=now']);
    expect((await readOne(server, 'file:///.git/HEAD/readme.md')).text).toBe('# Three\n');
    await subscription.end();
  });
});

describe('nested git under rules', () => {
  it('shows a revision of a file only if a rule allows the present file, too, also under a prefix', async () => {
    await using folder = await scene();
    const file = await writeConfig(folder, {
      mounts: { docs: { path: 'docs', nested: ['git'] } },
      access: {
        default: 'hide',
        rules: [
          { effect: 'allow', uris: ['docs+file:///', 'docs+file:///.git/**', 'docs+file:///guide/**'] },
          { effect: 'hide', uris: ['docs+file:///guide/later/**'] },
        ],
      },
    });
    await using server = await connect('http', 'modern', ['--config', file]);
    const list = async (uri: string): Promise<string[]> =>
      (await drain(server, 'resources/list', { uri })).map((each) => each.uri);
    expect(await list('docs+file:///')).toEqual(['docs+file:///guide', 'docs+file:///.git']);
    expect(await list('docs+file:///.git/HEAD')).toEqual(['docs+file:///.git/HEAD/guide']);
    expect((await readOne(server, 'docs+file:///.git/tags/v1/guide/intro.txt')).text).toBe('a clock\n');
    for (const path of ['HEAD/readme.md', 'tags/v1/gone.txt', 'diff/HEAD/readme.md', 'HEAD/secret/key.txt'])
      expect((await failure(read(server, `docs+file:///.git/${path}`))).code, path).toBe(-32602);
    expect((await readOne(server, 'docs+file:///.git/diff/HEAD')).text).toBe('');
    const notices = await collectNotices(server);
    const watched = ['HEAD/guide/later/key.txt', 'HEAD/guide/intro.txt'].map((path) => `docs+file:///.git/${path}`);
    const [hidden = '', shown = ''] = watched;
    const subscription = await subscribe(server, watched);
    await folder.write('docs/guide/later/key.txt', 'hush\n');
    await folder.write('docs/guide/intro.txt', 'another clock\n');
    commit(folder, 'Third');
    await notices.told(shown);
    expect((await failure(read(server, hidden))).code).toBe(-32602);
    expect(notices.count(hidden)).toBe(0);
    await subscription.end();
  });
});
