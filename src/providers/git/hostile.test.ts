/** Repositories that were made to harm their server: nothing in them is executed, nothing outside is shown. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createContext } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { bytesOf, codeOf, type Scene, scene, textOf } from '../../testing/git-scene.ts';
import { EVERYTHING, listAll } from '../../testing/observe.ts';
import { gitProvider } from './index.ts';

const ctx = createContext();
const SECRET = 'nobody may see this';

/** Sends every kind of request to a repository, and gives all the text in the answers. */
async function everything(provider: ResourceProvider): Promise<string> {
  const said: string[] = [];
  const ask = async (work: () => Promise<unknown>): Promise<void> => {
    const outcome = await work().catch((error: unknown) => [String(error), (error as { details?: object }).details]);
    said.push(typeof outcome === 'string' ? outcome : JSON.stringify(outcome));
  };
  for (const uri of ['git:///', 'git:///HEAD', 'git:///branches', 'git:///tags', 'git:///commits', 'git:///log/HEAD'])
    await ask(() => listAll(provider, uri));
  for (const uri of ['git:///HEAD/a.txt', 'git:///HEAD/.gitattributes', 'git:///blame/HEAD/a.txt', 'git:///diff/HEAD'])
    await ask(() => textOf(provider, uri));
  for (const uri of ['git:///commit/HEAD', 'git:///compare/HEAD/branches/main', 'git:///log/HEAD/a.txt'])
    await ask(() => textOf(provider, uri));
  await ask(async () => {
    const found: unknown[] = [];
    for await (const match of provider.search?.({ pattern: 'o', literal: true }, ctx) ?? []) found.push(match);
    return found;
  });
  await ask(async () => {
    const watch = await provider.watch?.('git:///HEAD', () => {}, ctx);
    await watch?.[Symbol.asyncDispose]();
  });
  return said.join('\n');
}

/** A repository with two commits, and a folder outside: with a secret file, and a place where a program would leave a mark. */
async function prepared(): Promise<{ place: Scene; outside: Scene; canary: string; secret: string; run: string }> {
  const [place, outside] = [await scene(), await scene()];
  const canary = join(outside.directory, 'canary');
  const secret = join(outside.directory, 'secret');
  const run = join(outside.directory, 'run');
  await writeFile(secret, `${SECRET} <ada@example.com>\n`);
  await writeFile(run, `#!/bin/sh\ntouch ${canary}\ncat ${secret}\n`, { mode: 0o755 });
  await place.write('.gitattributes', '* diff=evil filter=evil merge=evil\n');
  await place.write('a.txt', 'one\n');
  place.commit('First');
  await place.write('a.txt', 'one\ntwo\n');
  place.commit('Second');
  return { place, outside, canary, secret, run };
}

const config = (run: string, secret: string): string => `
[core]
\tfsmonitor = ${run}
\thooksPath = ${run}
\tpager = ${run}
\teditor = ${run}
\taskPass = ${run}
\tsshCommand = ${run}
\tgitProxy = ${run}
\talternateRefsCommand = ${run}
\tattributesFile = ${secret}
\texcludesFile = ${secret}
\tworktree = /
[alias]
\tcat-file = !${run}
\trev-list = !${run}
\tfor-each-ref = !${run}
\tblame = !${run}
[pager]
\tblame = ${run}
\tgrep = ${run}
[diff]
\texternal = ${run}
[diff "evil"]
\tcommand = ${run}
\ttextconv = ${run}
[filter "evil"]
\tsmudge = ${run}
\tclean = ${run}
\tprocess = ${run}
\trequired = true
[merge "evil"]
\tdriver = ${run}
[gpg]
\tprogram = ${run}
[log]
\tshowSignature = true
[credential]
\thelper = !${run}
[uploadpack]
\tpackObjectsHook = ${run}
[mailmap]
\tfile = ${secret}
[blame]
\tignoreRevsFile = ${secret}
[include]
\tpath = ${secret}
[protocol "ext"]
\tallow = always
[remote "origin"]
\turl = ext::${run}
\tpromisor = true
\tpartialCloneFilter = blob:none
[extensions]
\tpartialClone = origin
`;

it('a configuration that names programs and files: none is run, none is read', async () => {
  const { place, outside, canary, secret, run } = await prepared();
  await using _place = place;
  await using _outside = outside;
  await appendFile(join(place.directory, '.git', 'config'), config(run, secret));
  await mkdir(join(place.directory, '.git', 'hooks'));
  for (const hook of ['post-checkout', 'reference-transaction', 'fsmonitor-watchman'])
    await symlink(run, join(place.directory, '.git', 'hooks', hook));
  const provider = await place.open();
  const said = await everything(provider);
  expect(said).toContain('two');
  expect(said).not.toContain(SECRET);
  expect(existsSync(canary)).toBe(false);
});

it('variables of this process for git do not reach git', async () => {
  const { place, outside, canary, run } = await prepared();
  await using _place = place;
  await using _outside = outside;
  const said = {
    GIT_EXTERNAL_DIFF: run,
    GIT_PAGER: run,
    GIT_DIR: outside.directory,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'diff.external',
    GIT_CONFIG_VALUE_0: run,
    GIT_TRACE: canary,
  };
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const [name, value] of Object.entries(said)) vi.stubEnv(name, value);
  expect(await everything(await place.open())).toContain('two');
  expect(existsSync(canary)).toBe(false);
});

it('a missing object of a partial clone is not fetched', async () => {
  const { place, outside, canary, secret, run } = await prepared();
  await using _place = place;
  await using _outside = outside;
  const hash = place.git('rev-parse', 'HEAD:a.txt');
  await rm(join(place.directory, '.git', 'objects', hash.slice(0, 2), hash.slice(2)), { force: true });
  await appendFile(join(place.directory, '.git', 'config'), config(run, secret));
  const provider = await place.open();
  expect(await codeOf(bytesOf(provider, 'git:///HEAD/a.txt'))).toBe('unavailable');
  await everything(provider);
  expect(existsSync(canary)).toBe(false);
});

/** Another repository on the machine, and the hash of its secret. */
async function neighbour(): Promise<{ other: Scene; commit: string }> {
  const other = await scene();
  await other.write('a.txt', `${SECRET}\n`);
  return { other, commit: other.commit(SECRET) };
}

const OBJECTS_ELSEWHERE: readonly { name: string; make: (git: string, other: string) => Promise<void> }[] = [
  {
    name: 'alternates',
    make: async (git, other) => {
      await mkdir(join(git, 'objects', 'info'), { recursive: true });
      await writeFile(join(git, 'objects', 'info', 'alternates'), `${join(other, 'objects')}\n`);
    },
  },
  {
    name: 'a link instead of the objects',
    make: async (git, other) => {
      await rename(join(git, 'objects'), join(git, 'own'));
      await symlink(join(other, 'objects'), join(git, 'objects'));
    },
  },
  {
    name: 'a link to a pack folder',
    make: async (git, other) => {
      await rm(join(git, 'objects', 'pack'), { recursive: true });
      await symlink(join(other, 'objects', 'pack'), join(git, 'objects', 'pack'));
    },
  },
  {
    name: 'links to objects',
    make: async (git, other) => {
      for (const folder of (await readdir(join(other, 'objects'))).filter((name) => name.length === 2)) {
        await mkdir(join(git, 'objects', folder), { recursive: true });
        for (const name of await readdir(join(other, 'objects', folder)))
          await symlink(join(other, 'objects', folder, name), join(git, 'objects', folder, name)).catch(() => {});
      }
    },
  },
  { name: 'a common folder', make: (git, other) => writeFile(join(git, 'commondir'), `${other}\n`) },
];

it.each(OBJECTS_ELSEWHERE)('$name: objects of another repository are not served by default', async ({ make }) => {
  const { other, commit } = await neighbour();
  await using _other = other;
  await using place = await scene();
  await place.write('b.txt', 'own\n');
  place.commit('Own');
  await make(join(place.directory, '.git'), join(other.directory, '.git'));
  await writeFile(join(place.directory, '.git', 'refs', 'heads', 'main'), `${commit}\n`);
  expect(await codeOf(gitProvider({ path: place.directory }))).toBe('invalid');
});

it('objects of other repositories are served if configured', async () => {
  const { other, commit } = await neighbour();
  await using _other = other;
  await using place = await scene();
  place.git('clone', '--quiet', '--shared', other.directory, 'shared');
  const provider = await gitProvider({ path: join(place.directory, 'shared'), alternates: true });
  try {
    expect(await textOf(provider, `git:///commits/${commit}/a.txt`)).toBe(`${SECRET}\n`);
  } finally {
    await provider.close?.();
  }
});

it('a .git that is a file is not followed to a folder that does not point back', async () => {
  const { other } = await neighbour();
  await using _other = other;
  await using place = await scene();
  await mkdir(join(place.directory, 'trap'));
  await place.write('trap/.git', `gitdir: ${join(other.directory, '.git')}\n`);
  expect(await codeOf(gitProvider({ path: join(place.directory, 'trap') }))).toBe('invalid');
  // Nor to a worktree of another folder.
  other.git('worktree', 'add', '--quiet', '-b', 'x', 'linked');
  await place.write('trap/.git', `gitdir: ${join(other.directory, '.git', 'worktrees', 'linked')}\n`);
  expect(await codeOf(gitProvider({ path: join(place.directory, 'trap') }))).toBe('invalid');
});

it('references and HEAD that are links to files reveal nothing of these', async () => {
  const { place, outside, secret } = await prepared();
  await using _place = place;
  await using _outside = outside;
  await symlink(secret, join(place.directory, '.git', 'refs', 'heads', 'leak'));
  await symlink(outside.directory, join(place.directory, '.git', 'refs', 'heads', 'folder'));
  const provider = await place.open();
  const said = await everything(provider);
  expect(said).not.toContain(SECRET);
  for (const uri of ['git:///branches/leak', 'git:///branches/folder~2Fsecret'])
    expect([uri, await codeOf(provider.metadata(uri, ctx))]).toEqual([uri, 'not-found']);
  await rm(join(place.directory, '.git', 'HEAD'));
  await symlink(secret, join(place.directory, '.git', 'HEAD'));
  expect(await codeOf(provider.metadata('git:///HEAD', ctx))).toBe('not-found');
});

it('replacements and grafts do not change commits', async () => {
  await using place = await scene();
  await place.write('a.txt', 'true\n');
  const first = place.commit('First');
  await place.write('a.txt', 'false\n');
  const second = place.commit('Second');
  place.git('replace', place.git('rev-parse', `${second}:a.txt`), place.git('rev-parse', `${first}:a.txt`));
  place.git('replace', '--graft', second);
  await mkdir(join(place.directory, '.git', 'info'), { recursive: true });
  await place.write('.git/info/grafts', `${second}\n`);
  const provider = await place.open();
  expect(await textOf(provider, 'git:///HEAD/a.txt')).toBe('false\n');
  expect(await listAll(provider, 'git:///commits')).toHaveLength(2);
});

it('trees that git would not write: each name once, in one order, and none too large', async () => {
  await using place = await scene();
  const blob = (text: string): string => place.gitWith(text, 'hash-object', '-w', '--stdin');
  const entry = (mode: string, name: string, hash: string): Buffer =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(hash, 'hex')]);
  const rows = [entry('100644', 'z', blob('1')), entry('100644', 'a', blob('2')), entry('100644', 'z', blob('3'))];
  const tree = place.gitWith(Buffer.concat(rows), 'hash-object', '-w', '-t', 'tree', '--literally', '--stdin');
  const odd = [entry('40000', 'a', tree), entry('100644', 'a', blob('4')), entry('100644', 'x/y', blob('5'))];
  const top = place.gitWith(Buffer.concat(odd), 'hash-object', '-w', '-t', 'tree', '--literally', '--stdin');
  place.git('update-ref', 'refs/heads/main', place.git('commit-tree', '-m', 'Odd', top));
  const provider = await place.open();
  const listed = await listAll(provider, 'git:///HEAD', 1);
  expect(listed.map(({ uri }) => uri)).toEqual(['git:///HEAD/a', 'git:///HEAD/x~2Fy']);
  expect(await textOf(provider, 'git:///HEAD/x~2Fy')).toBe('5');
  expect((await listAll(provider, 'git:///HEAD/a', 1)).map(({ uri }) => uri)).toEqual([
    'git:///HEAD/a/a',
    'git:///HEAD/a/z',
  ]);
  expect(await textOf(provider, 'git:///HEAD/a/z')).toBe('1');
  const small = await place.open({ maxTreeBytes: 64 });
  expect(await codeOf(small.list('git:///HEAD', { limit: 1 }, ctx))).toBe('too-large');
});

it('both parts of a long message are shown up to a limit', async () => {
  await using place = await scene();
  place.commit('First');
  const message = `${'*s'.repeat(50_000)}\n\n${'b'.repeat(100_000)}\n`;
  place.git('update-ref', 'HEAD', place.gitWith(message, 'commit-tree', '-F', '-', 'HEAD^{tree}'));
  const provider = await place.open();
  const { subject, body } = JSON.parse(await textOf(provider, 'git:///commit/HEAD', { accept: ['application/json'] }));
  expect([subject, body]).toEqual(['*s'.repeat(32_768), 'b'.repeat(65_536)]);
  const lines = (await textOf(provider, 'git:///commit/HEAD', { accept: ['text/markdown'] })).split('\n');
  expect(lines[0]).toBe(`# ${'\\*s'.repeat(32_768)}`);
  expect(lines).toContain('b'.repeat(65_536));
});

it.each([199, 65_536])('a message is never cut inside a character, here after %i characters', async (cut) => {
  await using place = await scene();
  place.commit('First');
  const line = `${'s'.repeat(cut - 1)}😀 and so on`;
  place.git('update-ref', 'HEAD', place.gitWith(`${line}\n\n${line}`, 'commit-tree', '-F', '-', 'HEAD^{tree}'));
  const provider = await place.open();
  const { title = '' } = await provider.metadata('git:///commit/HEAD', ctx);
  const { subject, body } = JSON.parse(await textOf(provider, 'git:///commit/HEAD', { accept: ['application/json'] }));
  expect([title, subject, body].map((text: string) => text.isWellFormed())).toEqual([true, true, true]);
});

it.each([
  ['a name that ends there', 'a'.repeat(20), 'a'.repeat(20)],
  ['a character after the cut', `${'a'.repeat(20)}😀`, 'a'.repeat(20)],
  ['a character on both sides of the cut', `${'a'.repeat(19)}😀 b`, `${'a'.repeat(19)} `],
  ['a character before the cut', `${'a'.repeat(18)}😀 b`, `${'a'.repeat(18)}😀`],
  ['a name of such characters', '😀'.repeat(11), '😀'.repeat(10)],
  ['a name of them, one unit off', `é${'😀'.repeat(11)}`, `é${'😀'.repeat(9)} `],
])('a blame never cuts the name of an author inside a character: %s', async (_, author, shown) => {
  await using place = await scene();
  await place.write('a.txt', 'line\n');
  place.git('add', '--all');
  place.git('commit', '--quiet', `--author=${author} <a@example.org>`, '-m', 'First');
  const blame = await textOf(await place.open(), 'git:///blame/HEAD/a.txt');
  expect(blame).toMatch(new RegExp(`^[0-9a-f]{10} ${shown} \\d{4}-\\d\\d-\\d\\d 1\\) line\\n$`));
});

it('a diff or blame over the limit of bytes is refused, as is a damaged object, and later requests are answered', async () => {
  await using place = await scene();
  await place.write('a.txt', 'x\n'.repeat(10_000));
  place.commit('Long');
  const provider = await place.open({ maxOutputBytes: 10_000 });
  expect(await codeOf(bytesOf(provider, 'git:///diff/HEAD'))).toBe('too-large');
  expect(await codeOf(bytesOf(provider, 'git:///blame/HEAD/a.txt'))).toBe('too-large');
  const hash = place.git('rev-parse', 'HEAD:a.txt');
  const file = join(place.directory, '.git', 'objects', hash.slice(0, 2), hash.slice(2));
  await rm(file, { force: true });
  await writeFile(file, 'no object');
  const again = await place.open();
  expect(await codeOf(bytesOf(again, 'git:///HEAD/a.txt'))).toBe('unavailable');
  expect(await codeOf(again.read('git:///HEAD', EVERYTHING, ctx))).toBe('unavailable');
  // The next request is answered all the same.
  expect(await codeOf(again.list('git:///branches', { limit: 1 }, ctx))).toBe('nothing was refused');
});
