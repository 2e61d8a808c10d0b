/** Tests that `.gitignore` files leave out the same as in git, and have limits where git has none. */
import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../../test/e2e/folders.ts';
import { within } from '../../../test/e2e/waiting.ts';
import { refused, serve } from '../../../test/security/served.ts';
import { createVisibility } from './visibility.ts';

const run = promisify(execFile);

const RULES = { hidden: true, vcs: false, credentials: true, gitignore: true, exclude: [] };

/** The names and folders of a tree, and the paths of the files in it: in the root, in each folder, and in `sub` below each. */
const NAMES = ['a', 'b', 'A', 'a.log', 'b.log', 'build', 'x y', 'été', '#c', '!d', 'a[1]', 'tr '];
const FOLDERS = ['build', 'a', 'deep'];
const FILES = [
  ...NAMES.filter((name) => !FOLDERS.includes(name)),
  ...FOLDERS.flatMap((folder) => NAMES.filter((name) => name !== 'build').map((name) => `${folder}/${name}`)),
  ...FOLDERS.flatMap((folder) => ['a.log', 'keep.log', 'b'].map((name) => `${folder}/sub/${name}`)),
];

/** Asks git which of `FILES` it leaves out. */
async function ignoredByGit(folder: Folder): Promise<string[]> {
  const shown = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: folder.path,
    env: { PATH: process.env.PATH, HOME: folder.at('.git'), GIT_CONFIG_NOSYSTEM: '1' },
  });
  const names = new Set(shown.stdout.split('\0'));
  return FILES.filter((path) => !names.has(path));
}

async function ignoredByUs(folder: Folder): Promise<string[]> {
  const visibility = createVisibility(folder.path, RULES);
  const shown = await Promise.all(FILES.map((path) => visibility.shows(path.split('/'), false)));
  return FILES.filter((_, index) => !shown[index]);
}

describe('git and this provider leave out the same', () => {
  let folder: Folder;

  beforeAll(async () => {
    folder = await temporaryFolder(Object.fromEntries(FILES.map((path) => [path, ''])));
    await run('git', ['init', '--quiet'], { cwd: folder.path });
  });

  afterAll(() => folder[Symbol.asyncDispose]());

  async function compare(rules: Readonly<Record<string, string>>): Promise<void> {
    for (const place of ['', ...FOLDERS.map((name) => `${name}/`), ...FOLDERS.map((name) => `${name}/sub/`)]) {
      await folder.write(`${place}.gitignore`, rules[place] ?? '');
    }
    expect(await ignoredByUs(folder), JSON.stringify(rules)).toEqual(await ignoredByGit(folder));
  }

  it.each<Readonly<Record<string, string>>>([
    { '': '*.log\n' },
    { '': '*.log\n!keep.log\n' },
    { '': 'build/\n' },
    { '': 'build\n!build/keep.log\n' },
    { '': '/build/*\n!/build/sub\n' },
    { '': '/a\n' },
    { '': 'a\n' },
    { '': 'A\n' },
    { '': '**/sub\n' },
    { '': 'deep/**\n!deep/sub/\n' },
    { '': '*\n!*/\n!*.log\n' },
    { '': '# comment\n\n\\#c\n\\!d\n' },
    { '': 'x\\ y\ntr\\ \n' },
    { '': 'tr \n' },
    { '': 'a\\[1\\]\n' },
    { '': 'a[1]\n' },
    { '': '[ab].log\n' },
    { '': '[!a].log\n' },
    { '': '?\n' },
    { '': 'été\n' },
    { '': '\ufeff*.log\n' },
    { '': '*.log\r\nbuild\r\n' },
    { '': '*.log', 'deep/': '!a.log\n' },
    { '': '*.log', 'deep/': '!*.log\n', 'deep/sub/': 'keep.log\n' },
    { '': 'deep/\n', 'deep/': '!*\n' },
    { 'deep/': '/sub/a.log\n/b\n' },
    { 'deep/': 'deep/a\n' },
    { 'deep/sub/': '*\n' },
    { '': 'deep/sub/*.log\n', 'deep/': '!sub/a.log\n' },
    { '': '/\n' },
    { '': '//\n!\n' },
  ])('%j', async (rules) => {
    await compare(rules);
  });

  it('whatever the patterns are', async () => {
    const word = fc.constantFrom('a', 'b', '*', '?', '*.log', 'a*', 'build', 'deep', 'sub', '**', 'A', 'keep.log');
    const pattern = fc
      .tuple(
        fc.boolean(),
        fc.boolean(),
        fc.array(word, { minLength: 1, maxLength: 3 }).filter((words) => !/\*\*,\*\*/.test(words.join())),
        fc.boolean(),
      )
      .map(
        ([not, rooted, words, folder]) => `${not ? '!' : ''}${rooted ? '/' : ''}${words.join('/')}${folder ? '/' : ''}`,
      );
    const file = fc.array(pattern, { maxLength: 4 }).map((lines) => lines.join('\n'));
    await fc.assert(
      fc.asyncProperty(file, file, file, async (root, deep, sub) => {
        await compare({ '': root, 'deep/': deep, 'deep/sub/': sub });
      }),
      { numRuns: 60 },
    );
  });
});

describe('rules', () => {
  it('count characters, and not bytes as git does', async () => {
    await using folder = await temporaryFolder({ é: '', aa: '', '.gitignore': '?\n' });
    await using served = await serve({ path: folder.path, gitignore: true });
    expect(await served.names('file:///')).toEqual(['aa']);
  });

  it('apply from the moment they are written', async () => {
    await using folder = await temporaryFolder({ 'a.log': 'a', 'b.txt': 'b' });
    await using served = await serve({ path: folder.path, gitignore: true });
    expect(await served.names('file:///')).toEqual(['a.log', 'b.txt']);
    await folder.write('.gitignore', '*.log\n');
    expect(await served.names('file:///')).toEqual(['b.txt']);
    expect(await refused(served.text('file:///a.log'))).toBe('not-found');
    // As long as the first text, and possibly written within the same millisecond.
    await folder.write('.gitignore', '*.txt\n');
    expect(await served.names('file:///')).toEqual(['a.log']);
    await folder.write('.gitignore', '');
    expect(await served.names('file:///')).toEqual(['a.log', 'b.txt']);
  });

  it('do not apply without the option', async () => {
    await using folder = await temporaryFolder({ 'a.log': 'a', '.gitignore': '*\n' });
    await using served = await serve({ path: folder.path });
    expect(await served.names('file:///')).toEqual(['a.log']);
  });

  it('are not read through links, as in git, so nothing outside is read', async () => {
    await using outside = await temporaryFolder({ rules: '*\n' });
    await using folder = await temporaryFolder({ 'a.log': 'a', 'sub/b.log': 'b', others: '*\n' });
    await symlink(outside.at('rules'), folder.at('.gitignore'));
    await symlink('../others', folder.at('sub/.gitignore'));
    await using served = await serve({ path: folder.path, gitignore: true });
    expect(await served.names('file:///')).toEqual(['sub', 'a.log', 'others']);
    expect(await served.names('file:///sub')).toEqual(['b.log']);
  });

  it('are not read from folders, pipes and devices, and nobody waits for those', async () => {
    await using folder = await temporaryFolder({ 'x/a.log': 'a', 'y/b.log': 'b', 'z/c.log': 'c' });
    await mkdir(folder.at('x/.gitignore'));
    await run('mkfifo', [folder.at('y/.gitignore')]);
    await symlink('/dev/zero', folder.at('z/.gitignore'));
    await using served = await serve({ path: folder.path, gitignore: true });
    for (const [place, name] of [
      ['x', 'a.log'],
      ['y', 'b.log'],
      ['z', 'c.log'],
    ]) {
      expect(await within(served.names(`file:///${place}`), `the list of ${place}`)).toEqual([name]);
    }
  });

  it('that are too long leave out everything', async () => {
    await using folder = await temporaryFolder({ 'x/a.log': 'a', 'y.txt': '' });
    await folder.write('x/.gitignore', `#${'x'.repeat(1024 * 1024)}\n`);
    await using served = await serve({ path: folder.path, gitignore: true });
    expect(await served.names('file:///')).toEqual(['x', 'y.txt']);
    expect(await served.names('file:///x')).toEqual([]);
    expect(await refused(served.text('file:///x/a.log'))).toBe('not-found');
  });

  it('that would take too long to match are cut short, and leave out more', async () => {
    const deep = 'a/'.repeat(300);
    await using folder = await temporaryFolder({ [`${deep}c.txt`]: '', 'b/c.txt': '', '.gitignore': '' });
    await folder.write('.gitignore', `${'a/**/'.repeat(8)}b\nb/**/b/**/b/**/b/c\n!b/**/b/**/b/**/b/c\n`);
    await using served = await serve({ path: folder.path, gitignore: true });
    expect(await within(served.metadata('file:///b/c.txt'), 'an answer')).toMatchObject({ name: 'c.txt' });
    expect(await within(refused(served.text(`file:///${deep}c.txt`)), 'an answer')).toBe('not-found');
  });

  it('match very many names without keeping them all in memory', async () => {
    await using folder = await temporaryFolder({ '.gitignore': '*.log\n' });
    const visibility = createVisibility(folder.path, RULES);
    const filter = await visibility.filterIn([]);
    setFlagsFromString('--expose_gc');
    const collect = runInNewContext('gc') as () => void;
    const heap = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    for (let index = 0; index < 60_000; index++) filter(`warm-${index}`, false);
    const before = heap();
    for (let index = 0; index < 1_000_000; index++) filter(`name-${index}-${'x'.repeat(20)}`, false);
    expect(heap() - before).toBeLessThan(50 * 1024 * 1024);
    expect(filter('a.log', false)).toBe(false);
    expect(filter('a.txt', false)).toBe(true);
  });
});
