/** `get` of a part of a tree, and `--dry-run`: nothing else is requested, read, written, or reported as removed. */
import { access, mkdir, mkdtemp, readdir, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createResourceClient } from '../../../src/client/index.ts';
import { type GetEntry, type GetOptions, type GetReport, getResources } from '../../../src/client/node/index.ts';
import { createVitrine, serveHttp } from '../../../src/index.ts';
import { filesProvider } from '../../../src/providers/files/index.ts';
import { ERAS } from '../../e2e/harness.ts';
import { eraOf, scripted } from '../scripted.ts';

const TREE = [
  'a.md',
  'b.txt',
  'guide/c.md',
  'guide/deep/d.md',
  'guide/deep/e e.txt',
  'drafts/f.md',
  'node_modules/g/h.md',
];

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-get-')));
  for (const path of TREE) {
    const file = join(folder, 'source', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, path);
    // Long ago, because a recent time may stay the same after a change.
    await utimes(file, 1_000_000_000, 1_000_000_000);
  }
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const target = (): string => join(folder, 'target');

async function written(): Promise<readonly string[]> {
  const found = await readdir(target(), { recursive: true, withFileTypes: true }).catch(() => []);
  return found
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('.vitrine-get'))
    .map((entry) => join(entry.parentPath, entry.name).slice(target().length + 1))
    .sort();
}

interface Got {
  readonly report: GetReport;
  readonly entries: readonly GetEntry[];
}

describe.each(ERAS)('get of a folder, in the %s era', (era) => {
  async function get(options: GetOptions, start?: string): Promise<Got> {
    const provider = await filesProvider({ path: join(folder, 'source') });
    const vitrine = createVitrine({ mounts: [{ name: 'docs', provider, prefix: 'none' }] });
    const serving = await serveHttp(vitrine, { port: 0 });
    try {
      await using resources = createResourceClient({ url: serving.url, ...eraOf[era] });
      const entries: GetEntry[] = [];
      const onEntry = (entry: GetEntry): void => void entries.push(entry);
      return { report: await getResources(resources, start, target(), { ...options, onEntry }), entries };
    } finally {
      await serving.close();
      await vitrine.close();
    }
  }

  it.each<[GetOptions, readonly string[]]>([
    [{ include: ['*.md'], exclude: ['node_modules'] }, ['a.md', 'drafts/f.md', 'guide/c.md', 'guide/deep/d.md']],
    [{ include: ['guide'] }, ['guide/c.md', 'guide/deep/d.md', 'guide/deep/e e.txt']],
    [{ include: ['guide/'], exclude: ['*.txt'] }, ['guide/c.md', 'guide/deep/d.md']],
    [{ include: ['guide/*.md', 'b.*'] }, ['b.txt', 'guide/c.md']],
    [{ include: ['**/e e.txt'] }, ['guide/deep/e e.txt']],
    [{ exclude: ['guide/deep/**', '{drafts,node_modules}'] }, ['a.md', 'b.txt', 'guide/c.md']],
    [{ exclude: ['*'] }, []],
  ])('%j selects the matching files, below the folder', async (options, paths) => {
    const { report } = await get(options, 'file:///');
    expect(await written()).toEqual(paths);
    expect(report).toMatchObject({ written: paths.length, failed: 0, complete: true, foundAll: true });
  });

  it('does not enter an excluded folder, whose entries would count for the limit', async () => {
    const { report } = await get({ exclude: ['node_modules', 'drafts', 'guide'], maxResources: 6 }, 'file:///');
    expect(report).toMatchObject({ written: 2, complete: true });
  });

  it('keeps files of an earlier run that this one excludes, and does not report them as removed', async () => {
    await get({}, 'file:///');
    await rm(join(folder, 'source/drafts/f.md'));
    await rm(join(folder, 'source/guide/c.md'));
    const { report } = await get({ exclude: ['drafts'] }, 'file:///');
    expect(report.gone).toEqual(['guide/c.md']);
    expect(await written()).toHaveLength(TREE.length);
    expect((await get({}, 'file:///')).report.gone.toSorted()).toEqual(['drafts/f.md', 'guide/c.md']);
  });

  it('reports what a run would do, and does nothing', async () => {
    const first = await get({ dryRun: true }, 'file:///');
    expect(first.report).toMatchObject({
      planned: TREE.length,
      written: 0,
      bytes: 0,
      complete: true,
      folder: target(),
    });
    expect(first.entries.find(({ path }) => path === 'guide/c.md')).toEqual({
      uri: 'file:///guide/c.md',
      path: 'guide/c.md',
      status: 'planned',
      size: 10,
    });
    await expect(access(target())).rejects.toThrow('ENOENT');
    await get({ include: ['a.md', 'b.txt'] }, 'file:///');
    await writeFile(join(folder, 'source/a.md'), 'changed');
    const before = await written();
    const second = await get({ dryRun: true }, 'file:///');
    expect(second.report).toMatchObject({ planned: TREE.length - 1, unchanged: 1, written: 0, bytes: 0 });
    expect(await written()).toEqual(before);
    await writeFile(join(target(), 'guide'), 'mine');
    const third = await get({ dryRun: true }, 'file:///');
    expect(third.report.failed).toBe(3);
  });

  it('with a dry run refuses the folders that a run refuses', async () => {
    await mkdir(target());
    await writeFile(join(target(), 'mine'), '');
    await expect(get({ dryRun: true })).rejects.toMatchObject({ code: 'invalid' });
    expect((await get({ dryRun: true, force: true })).report.planned).toBe(TREE.length);
    expect(await written()).toEqual(['mine']);
  });

  it.each(['!*.md', '[', ''])('the glob %j is refused before anything is written', async (glob) => {
    await expect(get({ include: [glob] })).rejects.toMatchObject({ code: 'invalid' });
    await expect(access(target())).rejects.toThrow('ENOENT');
  });
});

describe('progress', () => {
  it('has the total before everything is read', async () => {
    const uris = Array.from({ length: 200 }, (_, index) => `x:///${index}`);
    let held = (): void => {};
    const listed = new Promise<void>((resolve) => {
      held = resolve;
    });
    await using server = await scripted({
      'resources/list': () => ({ resources: uris.map((uri) => ({ uri, name: uri })) }),
      'resources/read': async ({ uri }) => {
        // All other reads wait until the first file is written.
        if (uri !== 'x:///0') await listed;
        return { contents: [{ uri, text: 'x' }] };
      },
    });
    await using resources = createResourceClient({ url: server.url });
    const told: boolean[] = [];
    await getResources(resources, undefined, target(), {
      onProgress({ written: count, found, foundAll }) {
        told.push(foundAll && found === 200);
        if (count === 1) held();
      },
    });
    expect(told.length).toBe(200);
    expect(told.slice(1).every(Boolean)).toBe(true);
  });
});
