/** A server chooses names on which tools act. Its files are only files, and git runs nothing in them. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createResourceClient } from '../../../src/client/index.ts';
import { ACTING_NAMES } from '../../../src/client/node/get/acting-names.ts';
import { type GetOptions, getResources } from '../../../src/client/node/index.ts';
import { ERAS } from '../../e2e/harness.ts';
import { eraOf, type Scripted, scripted } from '../scripted.ts';

const run = promisify(execFile);

let place: string;
beforeEach(async () => {
  place = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-acting-')));
  await mkdir(join(place, 'home'));
});
afterEach(() => rm(place, { recursive: true, force: true }));

const target = (): string => join(place, 'target');

const serverOf = (texts: Readonly<Record<string, string>>): Promise<Scripted> =>
  scripted({
    'resources/list': () => ({ resources: Object.keys(texts).map((uri) => ({ uri, name: uri })) }),
    'resources/read': ({ uri }) => ({ contents: [{ uri, text: texts[String(uri)] ?? '' }] }),
  });

async function get(server: Scripted, start?: string, options: GetOptions = {}, era: (typeof ERAS)[number] = 'modern') {
  await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
  return await getResources(resources, start, target(), options);
}

/** Runs git in each folder below the target, with commands that prompts and editors run by themselves. */
async function askGit(): Promise<void> {
  const entries = await readdir(target(), { recursive: true, withFileTypes: true });
  const folders = new Set([target(), ...entries.map(({ parentPath }) => parentPath)]);
  const env = {
    PATH: process.env.PATH,
    HOME: join(place, 'home'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CEILING_DIRECTORIES: dirname(place),
  };
  for (const cwd of folders) {
    for (const args of [['status'], ['diff', 'HEAD'], ['log', '--oneline']]) {
      // Usually git says that there is no repository.
      await run('git', args, { cwd, env }).catch(() => {});
    }
  }
}

const ran = async (): Promise<boolean> => (await readdir(place)).includes('ran');

/** A repository whose configuration runs a program. */
function repository(at: string, more = ''): Readonly<Record<string, string>> {
  const ran = `touch '${join(place, 'ran')}'`;
  const config = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n${more}\tfsmonitor = "${ran};:"\n\tpager = "${ran}"\n`;
  return {
    [`${at}/HEAD`]: 'ref: refs/heads/main\n',
    [`${at}/config`]: config,
    [`${at}/objects/info/x`]: 'x',
    [`${at}/refs/heads/x`]: 'x',
    [`${at}/hooks/post-checkout`]: `#!/bin/sh\n${ran}\n`,
  };
}

describe.each(ERAS)('git in a folder that was downloaded in the %s era', (era) => {
  it.each([
    ['.git', 'x:///.git'],
    ['.git further below', 'x:///a/b/.git'],
    ['.git by an escape', 'x:///%2egit'],
    ['.git of all that there is', 'x:///.git', undefined],
  ])('runs nothing of a %s', async (_, at, start: string | undefined = 'x:///') => {
    await using server = await serverOf(repository(at));
    expect(await get(server, start, {}, era)).toMatchObject({ failed: 0, complete: true });
    await askGit();
    expect(await ran()).toBe(false);
  });

  it('runs nothing of a file that points to a repository', async () => {
    await using server = await serverOf({ ...repository('x:///data'), 'x:///.git': 'gitdir: data\n' });
    await get(server, 'x:///', {}, era);
    await askGit();
    expect(await ran()).toBe(false);
  });

  it.each(['x://', 'x:///library'])('runs nothing in a bare repository in %s', async (at) => {
    await using server = await serverOf(repository(at, '\tworktree = .\n'));
    await get(server, 'x:///', {}, era);
    await askGit();
    expect(await ran()).toBe(false);
  });
});

describe('a resource that is requested by name', () => {
  it.each([
    ['.git', 'x:///.git'],
    ['HEAD', 'x:///library'],
  ])("is written unchanged: with %s git runs the server's program", async (name, at) => {
    await using server = await serverOf(repository(at, '\tworktree = .\n'));
    // This shows that the tests above would notice if git ran something.
    await get(server, 'x:///', { keepNames: ['.GIT', 'head'] });
    await askGit();
    expect(await ran()).toBe(true);
    const files = await readdir(target(), { recursive: true });
    expect(files.some((path) => path.endsWith(name))).toBe(true);
  });

  it('needs a name on which a tool acts', async () => {
    await using server = await serverOf({ 'x:///a': 'a' });
    await expect(get(server, 'x:///', { keepNames: ['readme.md'] })).rejects.toMatchObject({
      code: 'invalid',
      message: 'No tool acts on the name "readme.md": get keeps it anyway',
    });
    expect(await readdir(place)).not.toContain('target');
  });

  it('has its own name in runs that request this: another run writes it under another name', async () => {
    await using server = await serverOf({ 'x:///.vscode/tasks.json': '{}' });
    await get(server, 'x:///', { keepNames: ['.vscode'] });
    expect(await readFile(join(target(), '.vscode/tasks.json'), 'utf8')).toBe('{}');
    expect(await get(server, 'x:///')).toMatchObject({ written: 1 });
    expect(await get(server, 'x:///')).toMatchObject({ written: 0, failed: 0 });
    expect(await readdir(target())).toEqual(expect.arrayContaining(['.vscode', '_.vscode']));
    await rm(join(target(), '.vscode'), { recursive: true });
    expect(await get(server, 'x:///', { keepNames: ['.vscode'] })).toMatchObject({ written: 1 });
    expect(await readFile(join(target(), '.vscode/tasks.json'), 'utf8')).toBe('{}');
  });
});

describe('every name of the table', () => {
  const names = ACTING_NAMES.flatMap((each) => each.names).map((name) => name.replace('*', 'x'));

  it('is the name of no written file or folder, in upper and lower case', async () => {
    const wanted = names.flatMap((name, at) => [at % 2 === 0 ? name : name.toUpperCase(), `below/${name}`]);
    await using server = await serverOf(Object.fromEntries(wanted.map((name) => [`x:///${name}`, name])));
    const report = await get(server, 'x:///');
    expect(report).toMatchObject({ failed: 0, complete: true });
    const folded = new Set(names.map((name) => name.toLowerCase()));
    const top = new Set(ACTING_NAMES.filter(({ where }) => where === 'top').flatMap((each) => each.names));
    for (const path of await readdir(target(), { recursive: true })) {
      const name = path.split('/').at(-1) ?? '';
      if (path.startsWith('below/') && [...top].some((each) => name === each.replace('*', 'x'))) continue;
      expect(folded).not.toContain(name.toLowerCase());
    }
    expect(await get(server, 'x:///')).toMatchObject({ written: 0, failed: 0 });
  });

  it('is in the guide with its reason', async () => {
    const guide = await readFile('docs/guide/get.md', 'utf8');
    for (const { why, names: of } of ACTING_NAMES) {
      const row = guide.split('\n').find((line) => line.includes(why));
      expect(row, why).toBeDefined();
      expect([...(row ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name)).toEqual(expect.arrayContaining([...of]));
    }
  });
});
