/** A hidden or denied resource is in no other view and under no other path: not in revisions of git, and not behind links (SEC-RES-2). */
import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccessRule } from '../../src/layers/access/index.ts';
import { filesProvider } from '../../src/providers/files/index.ts';
import { gitProvider } from '../../src/providers/git/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { ERAS } from '../e2e/harness.ts';
import { type Ask, askerOf } from './access/asking.ts';

let folder: Folder;
let first: string;
let second: string;
beforeAll(async () => {
  folder = await temporaryFolder({
    'tree/public/a.md': 'open',
    'tree/drafts/x.md': 'HIDDEN text',
    'tree/drafts/deep/y.md': 'HIDDEN',
  });
  await symlink('../drafts', join(folder.path, 'tree/public/link'));
  await symlink('../drafts/x.md', join(folder.path, 'tree/public/x.md'));
  await symlink('a.md', join(folder.path, 'tree/public/same.md'));
  const repository = join(folder.path, 'repository');
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@x', ...args], { cwd: repository, encoding: 'utf8' });
  await mkdir(join(repository, 'secrets'), { recursive: true });
  git('init', '--quiet', '--initial-branch=main');
  await writeFile(join(repository, 'open.txt'), 'one\n');
  await writeFile(join(repository, 'secrets/HIDDEN.txt'), 'HIDDEN one\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  first = git('rev-parse', 'HEAD').trim();
  git('tag', 'v1');
  await writeFile(join(repository, 'open.txt'), 'two\n');
  await writeFile(join(repository, 'secrets/HIDDEN.txt'), 'HIDDEN two\n');
  git('commit', '--quiet', '--all', '-m', 'second');
  git('rm', '--quiet', 'secrets/HIDDEN.txt');
  git('commit', '--quiet', '-m', 'third');
  second = git('rev-parse', 'HEAD~1').trim();
});
afterAll(() => folder[Symbol.asyncDispose]());

async function serve(rules: readonly AccessRule[], era: (typeof ERAS)[number]) {
  const mounts = [
    { name: 'repo', provider: await gitProvider({ path: join(folder.path, 'repository') }) },
    { name: 'docs', provider: await filesProvider({ path: join(folder.path, 'tree') }) },
  ];
  const vitrine = createVitrine({ mounts, access: { rules } });
  const http = await serveHttp(vitrine, { port: 0 });
  return {
    ask: await askerOf(http.url, era, undefined),
    async [Symbol.asyncDispose]() {
      await http.close();
      await vitrine.close();
    },
  };
}

const readsOf = async (ask: Ask, uri: string): Promise<string> => {
  const answers = await Promise.all([
    ...['resources/read', 'resources/list', 'resources/metadata'].map((method) => ask(method, { uri })),
    ask('resources/read', { uri, _meta: { 'vitrine/accept': ['application/json'] } }),
    ask('tools/call', { name: 'read', arguments: { uri } }),
    ask('tools/call', { name: 'list', arguments: { uri } }),
  ]);
  // The error for a missing resource repeats the requested name.
  return answers.map(({ text }) => text.replaceAll(uri, '')).join('\n');
};

describe.each(ERAS)('to a client of the %s era', (era) => {
  it.each<[AccessRule['effect'], AccessRule]>([
    ['hide', { effect: 'hide', paths: ['secrets/**'] }],
    ['deny', { effect: 'deny', mounts: ['repo'], paths: ['secrets/*'] }],
  ])('%s: a path of a repository is hidden or denied at every revision and in every view', async (_effect, rule) => {
    await using served = await serve([{ effect: 'allow' }, rule], era);
    const { ask } = served;
    const path = 'secrets/HIDDEN.txt';
    for (const at of [
      `HEAD/${path}`,
      `tags/v1/${path}`,
      `commits/${first}/${path}`,
      `log/tags/v1/${path}`,
      `blame/tags/v1/${path}`,
      `diff/commits/${second}/${path}`,
      `diff/commits/${second}`,
      `diff/commits/${first}`,
      'diff/HEAD',
      'compare/tags/v1/branches/main',
      `compare/tags/v1/branches/main/${path}`,
      `commit/commits/${first}`,
      `commit/commits/${second}`,
      'commit/HEAD',
      'tags/v1',
      'tags/v1/secrets',
      `commits/${second}/secrets`,
    ])
      expect.soft(await readsOf(ask, `repo+git:///${at}`), at).not.toContain('HIDDEN');
    const found = await ask('tools/call', {
      name: 'search',
      arguments: { pattern: 'HIDDEN', uri: 'repo+git:///tags/v1' },
    });
    expect(found.text).not.toContain('HIDDEN one');
    expect(await readsOf(ask, `repo+git:///diff/commits/${second}`)).toContain('open.txt');
    expect(await readsOf(ask, `repo+git:///commit/commits/${second}`)).toContain('open.txt');
    expect(await readsOf(ask, 'repo+git:///tags/v1/open.txt')).toContain('one');
    expect(await readsOf(ask, 'docs+file:///drafts/x.md')).toContain('HIDDEN text');
  });

  it('a path that is allowed is allowed at every revision, and no other path is', async () => {
    await using served = await serve([{ effect: 'allow', mounts: ['repo'], paths: ['open.txt'] }], era);
    expect(await readsOf(served.ask, 'repo+git:///tags/v1/open.txt')).toContain('one');
    expect(await readsOf(served.ask, 'repo+git:///HEAD/open.txt')).toContain('two');
    expect(await readsOf(served.ask, 'repo+git:///tags/v1/secrets/HIDDEN.txt')).not.toContain('HIDDEN');
    expect(await readsOf(served.ask, 'docs+file:///public/a.md')).not.toContain('open');
  });

  it.each<[string, readonly AccessRule[]]>([
    ['hidden', [{ effect: 'allow' }, { effect: 'hide', uris: ['docs+file:///drafts/**'] }]],
    ['denied', [{ effect: 'allow' }, { effect: 'deny', uris: ['docs+file:///drafts/**'] }]],
    ['not allowed', [{ effect: 'allow', uris: ['docs+file:///public/**'] }]],
  ])('a resource that is %s cannot be reached through a link', async (_name, rules) => {
    await using served = await serve(rules, era);
    const { ask } = served;
    for (const path of ['public/link', 'public/link/x.md', 'public/link/deep', 'public/link/deep/y.md', 'public/x.md'])
      expect.soft(await readsOf(ask, `docs+file:///${path}`), path).not.toContain('HIDDEN');
    expect((await ask('resources/list', { uri: 'docs+file:///public' })).text).not.toMatch(/link|x\.md/);
    expect(await readsOf(ask, 'docs+file:///public/same.md')).toContain('open');
    expect(
      (
        await ask('completion/complete', {
          ref: { type: 'ref/resource', uri: 'docs+file:///{+path}' },
          argument: { name: 'path', value: 'public/' },
        })
      ).text,
    ).not.toMatch(/link|x\.md/);
  });
});
