/** A repository with huge trees, messages and tag lists, and with commits that git itself would not write. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../lib/folders.mjs';

const MIB = 1024 * 1024;
const SIGNED = 'A <a@example.org> 1700000000 +0000';

export async function gitCases() {
  const folder = temporaryFolder();
  const git = (args, input) => {
    const { status, stdout, stderr } = spawnSync('git', ['-C', folder, ...args], { input, maxBuffer: 1024 * MIB });
    if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
    return stdout.toString('utf8').trim();
  };
  git(['init', '--quiet', '--bare', '--initial-branch=main']);
  const blob = git(['hash-object', '-w', '--stdin'], 'text\n');
  const treeOf = (lines) => git(['mktree', '--missing'], lines.join('\n'));
  const small = treeOf([`100644 blob ${blob}\ta.txt`]);
  const trees = {
    'a tree of 100,000 files': treeOf(Array.from({ length: 100_000 }, (_, at) => `100644 blob ${blob}\tfile-${at}`)),
    'a tree of 100,000 folders': treeOf(
      Array.from({ length: 100_000 }, (_, at) => `040000 tree ${small}\tfolder-${at}`),
    ),
    'a tree of 1,000,000 files': treeOf(
      Array.from({ length: 1_000_000 }, (_, at) => `100644 blob ${blob}\tfile-${at}`),
    ),
  };
  const commit = (lines, message) =>
    git(['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], `${lines.join('\n')}\n\n${message}\n`);
  const commits = {
    ...Object.fromEntries(
      Object.entries(trees).map(([name, tree]) => [
        name,
        commit([`tree ${tree}`, `author ${SIGNED}`, `committer ${SIGNED}`], name),
      ]),
    ),
    'a message of 900 kB': commit(
      [`tree ${small}`, `author ${SIGNED}`, `committer ${SIGNED}`],
      '<&`*_ '.repeat(150_000),
    ),
    'a message of empty lines': commit(
      [`tree ${small}`, `author ${SIGNED}`, `committer ${SIGNED}`],
      `a${'\n'.repeat(900_000)}b`,
    ),
    'a name of 400 kB': commit([`tree ${small}`, `author ${'<'.repeat(400_000)}`, `committer ${SIGNED}`], 'x'),
    'an author line with 130,000 empty addresses': commit(
      [`tree ${small}`, `author ${'<> '.repeat(130_000)}`, `committer ${SIGNED}`],
      'x',
    ),
    '20,000 parents': commit(
      [
        `tree ${small}`,
        ...Array.from({ length: 20_000 }, () => `parent ${blob}`),
        `author ${SIGNED}`,
        `committer ${SIGNED}`,
      ],
      'x',
    ),
  };
  mkdirSync(join(folder, 'refs', 'heads'), { recursive: true });
  const [first] = Object.values(commits);
  const many = Array.from({ length: 100_000 }, (_, at) => `${first} refs/tags/tag-${String(at).padStart(6, '0')}`);
  const branches = Object.values(commits).map((oid, at) => `${oid} refs/heads/case-${at}`);
  writeFileSync(
    join(folder, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted\n${[...branches, ...many].join('\n')}\n`,
  );
  git(['symbolic-ref', 'HEAD', `refs/heads/case-${Object.keys(commits).indexOf('a message of 900 kB')}`]);
  const mounts = { repo: { git: folder, prefix: 'none' } };
  const list = (uri) => ['resources/list', { uri }];
  const read = (uri) => ['resources/read', { uri }];
  return [
    ...Object.entries(commits).map(([name, oid], at) => ({
      name: `git: ${name}`,
      mounts,
      ask: [
        list(`git:///branches/case-${at}`),
        read(`git:///commit/commits/${oid}`),
        list(`git:///log/branches/case-${at}`),
      ],
    })),
    { name: 'git: 100,000 tags', mounts, ask: [list('git:///tags'), list('git:///')] },
  ];
}
