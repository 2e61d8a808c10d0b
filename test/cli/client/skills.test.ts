/** `vitrine skills`: its output, its files and its exit status. */
import { lstat, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Scripted, scripted } from '../../client/scripted.ts';
import { type Catalogue, DRAW, FILES, PROGRAM, serveCatalogue } from '../../client/skills/catalogue.ts';
import { fileEntry } from '../../client/skills/entries.ts';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { UNSAFE } from './odd.ts';
import { run } from './run.ts';

const HOSTILE = '\u001b]0;owned\u0007evil\u001b[31m\u202e';
const TEXTS: Readonly<Record<string, string>> = {
  'x:///good/SKILL.md': '---\nname: good\ndescription: Is as it says\n---\nGood\n',
  'x:///bad/SKILL.md': '---\nname: bad\ndescription: Is not\n---\nBad\n',
  'x:///bad/more.txt': 'more',
  'x:///live/SKILL.md': '---\nname: live\ndescription: Made anew\n---\nLive\n',
  'x:///evil/SKILL.md': `---\nname: evil\ndescription: "${HOSTILE.replaceAll('\u001b', '\\e').replaceAll('\u0007', '\\a')}"\n---\n${HOSTILE}\n`,
  'x:///names/SKILL.md': '---\nname: names\ndescription: Has odd names\n---\n',
  'x:///names/CON': 'device',
  'x:///names/.git/config': '[core]\n',
  'x:///names/Read.md': 'one',
  'x:///names/read.md': 'two',
  'x:///names/C%3A/x': 'colon',
  'x:///a/twin/SKILL.md': '---\nname: twin\ndescription: One\n---\n',
  'x:///b/twin/SKILL.md': '---\nname: twin\ndescription: Other\n---\n',
};
const file = (uri: string): object => fileEntry(uri, TEXTS[uri] ?? '');
const skill = (path: string, description: string, more: readonly string[] | 'dynamic' = []): object => {
  const uri = `x:///${path}/SKILL.md`;
  const resources = typeof more === 'string' ? more : [file(uri), ...more.map((name) => file(`x:///${path}/${name}`))];
  return { uri, frontmatter: { name: path.split('/').at(-1), description }, resources };
};
const SKILLS = [
  skill('good', 'Is as it says'),
  { ...skill('bad', 'Is not'), resources: [file('x:///bad/SKILL.md'), fileEntry('x:///bad/more.txt', 'less')] },
  skill('live', 'Made anew', 'dynamic'),
  skill('evil', HOSTILE),
  skill('names', 'Has odd names', ['CON', '.git/config', 'Read.md', 'read.md', 'C%3A/x']),
  skill('a/twin', 'One'),
  skill('b/twin', 'Other'),
] as const;

let catalogue: Catalogue;
let odd: Scripted;
let plain: Scripted;
let root: Folder;
let to: string;
let count = 0;
beforeAll(async () => {
  catalogue = await serveCatalogue();
  odd = await scripted(
    {
      'skills/list': () => ({ skills: [...SKILLS, { uri: 'x:///none/SKILL.md' }], ttlMs: 0, cacheScope: 'private' }),
      'skills/get': ({ uri }) => ({ skill: SKILLS.find((each) => (each as { uri?: string }).uri === uri) }),
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: TEXTS[String(uri)] ?? '' }] }),
    },
    { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
  );
  plain = await scripted({ 'skills/list': () => ({ skills: [] }), 'resources/list': () => ({ resources: [] }) });
  root = await temporaryFolder();
});
afterAll(async () => {
  for (const server of [catalogue, odd, plain]) await server[Symbol.asyncDispose]();
  await root[Symbol.asyncDispose]();
});
beforeEach(() => {
  to = root.at(String(++count));
});

const filesIn = async (folder: string): Promise<readonly string[]> => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((each) => !each.isDirectory())
    .map((each) => join(each.parentPath, each.name).slice(folder.length + 1))
    .sort();
};

describe('skills ls', () => {
  it('prints name, files, bytes, URI and description, and reads no file', async () => {
    const { status, stdout, stderr } = await run(['skills', 'ls', catalogue.url]);
    expect(stdout.split('\n').map((line) => line.trimEnd())).toEqual([
      'draw                        5    178  skill://draw/SKILL.md  Draws rooms',
      'inner                       1     56  skill://draw/inner/SKILL.md  In another skill',
      'label                       1     60  skill://label/SKILL.md  Writes labels',
      '',
    ]);
    expect([status, stderr]).toEqual([0, '']);
    expect(catalogue.count('resources/read')).toBe(0);
  });

  it('prints entries as JSON, and takes a program', async () => {
    await using folder = await temporaryFolder(FILES);
    const command = `"${process.execPath}" "${PROGRAM}" "${folder.path}"`;
    const { status, stdout } = await run(['skills', 'ls', command, '--json', '--max-resources', '1']);
    expect(JSON.parse(stdout)).toMatchObject([{ uri: 'skill://draw/SKILL.md', frontmatter: { name: 'draw' } }]);
    expect(status).toBe(0);
  });

  it('names the entries that it leaves out, and prints nothing that a terminal acts on', async () => {
    const { status, stdout, stderr } = await run(['skills', 'ls', odd.url]);
    expect(stdout.split('\n')).toHaveLength(SKILLS.length + 1);
    expect(stderr).toMatch(
      /^vitrine: x:\/\/\/none\/SKILL\.md is left out: The entry of the skill is wrong at frontmatter: /,
    );
    expect(stdout).not.toMatch(UNSAFE);
    expect(status).toBe(7);
  });

  it.each(['ls', 'show', 'get', 'verify'])('%s asks no server that does not declare skills', async (command) => {
    const more = command === 'ls' ? [] : command === 'get' ? ['x', '--to', to] : ['x'];
    const { status, stdout, stderr } = await run(['skills', command, plain.url, ...more]);
    expect(stderr).toMatch(/does not declare skills, so it is not asked for them; vitrine ls lists its resources\n$/);
    expect([status, stdout, plain.asked.length]).toEqual([8, '', 0]);
  });
});

describe('skills show', () => {
  it('prints frontmatter and text', async () => {
    const { status, stdout } = await run(['skills', 'show', catalogue.url, 'draw']);
    expect(stdout).toBe(
      'draw  skill://draw/SKILL.md\ndescription: Draws rooms\nmetadata: {"version":"2"}\nfloors: [1,2]\n5 files, 178 bytes\n\n# Draw\n',
    );
    expect(status).toBe(0);
    const { stdout: json } = await run(['skills', 'show', catalogue.url, 'skill://draw', '--json']);
    expect(JSON.parse(json)).toMatchObject({ uri: 'skill://draw/SKILL.md', text: DRAW, verified: true });
  });

  it('prints nothing that a terminal acts on', async () => {
    const { status, stdout } = await run(['skills', 'show', odd.url, 'evil']);
    expect([status, stdout]).toEqual([0, expect.stringContaining('evil')]);
    expect(stdout).not.toMatch(UNSAFE);
  });

  it.each([
    ['paint', 7, 'No skill "paint" is listed; one that is not listed is named by its URI'],
    ['twin', 2, '"twin" may be x:///a/twin/SKILL.md, x:///b/twin/SKILL.md; say which one'],
  ])('of "%s" fails with %i', async (name, status, why) => {
    const outcome = await run(['skills', 'show', odd.url, name]);
    expect([outcome.status, outcome.stdout]).toEqual([status, '']);
    expect(outcome.stderr).toContain(why);
  });

  it('accepts the end of a path as a name', async () => {
    const { stdout } = await run(['skills', 'show', odd.url, 'b/twin']);
    expect(stdout).toContain('description: Other');
    expect((await run(['skills', 'show', catalogue.url, 'paint'])).status).toBe(3);
    expect((await run(['skills', 'show', catalogue.url, 'skill://paint'])).status).toBe(3);
  });
});

describe('skills verify', () => {
  it('of all skills names the file that differs from its entry', async () => {
    const { status, stdout } = await run(['skills', 'verify', odd.url, '--json']);
    const found = JSON.parse(stdout);
    expect(found.map(({ name, status: each }: Record<string, unknown>) => `${name} ${each}`)).toEqual([
      'good verified',
      'bad failed',
      'live dynamic',
      'evil verified',
      'names verified',
      'twin verified',
      'twin verified',
    ]);
    expect(found[1].problem).toMatchObject({
      uri: 'x:///bad/more.txt',
      what: 'digest',
      expected: expect.stringMatching(/^sha256:/),
      got: expect.stringMatching(/^sha256:/),
    });
    expect(status).toBe(1);
  });

  it('of some skills prints a line for each', async () => {
    const { status, stdout } = await run(['skills', 'verify', odd.url, 'good', 'live']);
    expect(stdout).toBe(
      'verified  x:///good/SKILL.md  1 file, 51 bytes\ndynamic   x:///live/SKILL.md  1 file, 47 bytes\n',
    );
    expect(status).toBe(0);
    const bad = await run(['skills', 'verify', odd.url, 'bad']);
    expect(bad.stdout).toMatch(
      /^failed {4}x:\/\/\/bad\/SKILL\.md {2}x:\/\/\/bad\/more\.txt: .* expected sha256:\w+, got sha256:\w+\n$/,
    );
    expect(bad.status).toBe(1);
  });

  it('says that its output is incomplete if entries are left out and no file differs', async () => {
    await using broken = await scripted(
      {
        'skills/list': () => ({ skills: [SKILLS[0], { uri: 'x:///none/SKILL.md' }], ttlMs: 0, cacheScope: 'private' }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: TEXTS[String(uri)] ?? '' }] }),
      },
      { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
    );
    const { status, stdout, stderr } = await run(['skills', 'verify', broken.url]);
    expect(stdout).toBe('verified  x:///good/SKILL.md  1 file, 51 bytes\n');
    expect(stderr).toMatch(/x:\/\/\/none\/SKILL\.md is left out/);
    expect(status).toBe(7);
  });
});

describe('skills get', () => {
  it('writes a skill to a folder of its name, byte for byte', async () => {
    const { status, stdout } = await run(['skills', 'get', catalogue.url, 'draw', '-o', to]);
    expect([status, stdout]).toEqual([0, `5 files, 178 bytes: ${join(to, 'draw')}\n`]);
    expect(await filesIn(to)).toEqual(
      Object.keys(FILES)
        .filter((name) => name.startsWith('draw/'))
        .sort(),
    );
    for (const name of await filesIn(to))
      expect(await readFile(join(to, name))).toEqual(Buffer.from(FILES[name] ?? 'none'));
    expect((await lstat(join(to, 'draw/scripts/draw it.py'))).mode & 0o111).toBe(0);
  });

  it('writes nothing of a skill that differs from its entry', async () => {
    const { status, stdout, stderr } = await run(['skills', 'get', odd.url, 'bad', 'good', '-o', to, '--jsonl']);
    expect(JSON.parse(stdout)).toMatchObject({ uri: 'x:///good/SKILL.md', folder: join(to, 'good'), verified: true });
    expect(stderr).toMatch(/The digest of the file .* got sha256:\w+: x:\/\/\/bad\/more\.txt\n$/);
    expect(status).toBe(1);
    expect(await readdir(to)).toEqual(['good']);
  });

  it('makes names safe, and prints each changed name', async () => {
    const { status, stderr } = await run(['skills', 'get', odd.url, 'names', '-o', to]);
    expect(status).toBe(0);
    const files = await filesIn(join(to, 'names'));
    expect(files).toEqual(
      expect.arrayContaining([
        'C%3A/x',
        'Read.md',
        'SKILL.md',
        '_.git/config',
        '_CON',
        expect.stringMatching(/^read~\w{8}\.md$/),
      ]),
    );
    expect(stderr).toContain('x:///names/.git/config is written as _.git/config\n');
    expect(stderr.match(/is written as/g)).toHaveLength(4);
  });

  it('replaces a skill only with --force, and no other folder', async () => {
    await run(['skills', 'get', odd.url, 'good', '-o', to]);
    const again = await run(['skills', 'get', odd.url, 'good', '-o', to]);
    expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('exists already')]);
    expect((await run(['skills', 'get', odd.url, 'good', '-o', to, '--force'])).status).toBe(0);
    await mkdir(join(to, 'live'));
    await mkdir(join(to, 'aim'));
    await symlink(join(to, 'aim'), join(to, 'evil'));
    for (const name of ['live', 'evil']) {
      const refused = await run(['skills', 'get', odd.url, name, '-o', to, '--force']);
      expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('is not a skill')]);
    }
    expect((await readdir(to)).sort()).toEqual(['aim', 'evil', 'good', 'live']);
    expect(await readdir(join(to, 'aim'))).toEqual([]);
  });

  it('says of a dynamic skill that it is not verified', async () => {
    const { status, stdout } = await run(['skills', 'get', odd.url, 'live', '-o', to]);
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining('1 file, 47 bytes, not verified: the skill is dynamic: '),
    ]);
  });
});

it('words are completed with names of skills, or with URIs', async () => {
  const { stdout } = await run(['complete', '--', 'skills', 'show', catalogue.url, 'd']);
  expect(stdout).toBe('draw\n:4\n');
  const { stdout: uris } = await run(['complete', '--', 'skills', 'get', catalogue.url, 'skill:']);
  expect(uris.split('\n')).toContain('skill://label/SKILL.md');
  expect((await run(['complete', '--', 'skills', ''])).stdout).toMatch(/^ls\t.*\nshow\t.*\nget\t.*\nverify\t/);
});
