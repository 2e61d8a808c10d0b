/** Tests of the parts of a repository that the mirror takes over, and of its limits. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeMirror } from './mirror.ts';
import type { Source } from './source.ts';

const OID = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);
const SHA1 = { objectFormat: 'sha1', reftable: false } as const;

/** A repository of texts, by their paths. A number stands for a file of that size without content. */
function sourceOf(files: Map<string, string | number>): Source & { opened: number } {
  const source = {
    opened: 0,
    async entries(path: readonly string[]) {
      const prefix = `${path.join('/')}/`;
      const kinds = new Map<string, 'file' | 'folder'>();
      for (const file of files.keys()) {
        if (!file.startsWith(prefix)) continue;
        const [name = '', ...more] = file.slice(prefix.length).split('/');
        kinds.set(name, more.length > 0 ? 'folder' : 'file');
      }
      return kinds.size === 0 ? undefined : [...kinds].map(([name, kind]) => ({ name, kind }));
    },
    async open(path: readonly string[]) {
      const content = files.get(path.join('/'));
      if (content === undefined) return undefined;
      source.opened++;
      const bytes = Buffer.from(typeof content === 'number' ? '' : content);
      return {
        size: typeof content === 'number' ? content : bytes.byteLength,
        path: `/elsewhere/${path.join('/')}`,
        read: async (buffer: Buffer, offset: number, length: number, position: number) =>
          bytes.copy(buffer, offset, position, position + length),
        close: async () => void source.opened--,
      };
    },
  };
  return source;
}

const minimal = (): Map<string, string | number> =>
  new Map([
    ['HEAD', 'ref: refs/heads/main\n'],
    [
      'packed-refs',
      `# pack-refs with: peeled fully-peeled sorted \n${OID} refs/heads/main\n^${OTHER}\n${OID} refs/notes/x\n`,
    ],
    ['refs/heads/deep/er', `${OTHER}\n`],
    ['refs/tags/v1', 'ref: refs/heads/main\n'],
    ['refs/heads/broken', 'no hash\n'],
    [`objects/aa/${'a'.repeat(38)}`, 'an object'],
  ]);

it('a mirror has the branches and tags in one file, small objects, and links to large objects that stay open', async () => {
  const files = minimal();
  const pack = `pack-${OID}`;
  files.set(`objects/pack/${pack}.pack`, 1_000_000).set(`objects/pack/${pack}.idx`, 'an index');
  files.set('objects/pack/pack-x.keep', '').set('objects/aa/tmp_obj_1', 'half').set('hooks/post-checkout', 'run');
  const source = sourceOf(files);
  const mirror = await makeMirror(source, SHA1);
  const at = (...names: string[]): string => join(mirror.directory, ...names);
  expect(await readFile(at('packed-refs'), 'utf8')).toBe(
    `${OTHER} refs/heads/deep/er\n${OID} refs/heads/main\n${OID} refs/tags/v1\n`,
  );
  expect(await readFile(at('HEAD'), 'utf8')).toBe('ref: refs/heads/.none\n');
  expect((await readdir(at('objects', 'pack'))).sort()).toEqual([`${pack}.idx`, `${pack}.pack`]);
  expect(await readdir(at('objects', 'aa'))).toEqual(['a'.repeat(38)]);
  expect(existsSync(at('hooks'))).toBe(false);
  expect(source.opened).toBe(1);

  // After a repack, the old pack is closed.
  files.delete(`objects/pack/${pack}.pack`);
  files.delete(`objects/pack/${pack}.idx`);
  files.set('refs/heads/main', `${OTHER}\n`).set('shallow', `${OTHER}\n`);
  await Promise.all([mirror.refresh(), mirror.refresh()]);
  expect(await readFile(at('packed-refs'), 'utf8')).toContain(`${OTHER} refs/heads/main\n`);
  expect(await readFile(at('shallow'), 'utf8')).toBe(`${OTHER}\n`);
  expect(await readdir(at('objects', 'pack'))).toEqual([]);
  expect(source.opened).toBe(0);

  await Promise.all([mirror.close(), mirror.refresh().catch(() => undefined)]);
  expect(existsSync(mirror.directory)).toBe(false);
  await expect(mirror.refresh()).rejects.toMatchObject({ code: 'unavailable' });
});

it('a mirror looks again for a pack that was listed and could not be opened', async () => {
  const files = minimal();
  const source = sourceOf(files);
  const pack = `pack-${OID}.pack`;
  const entries: Source['entries'] = async (path) => {
    const found = await source.entries(path);
    return path.at(-1) === 'pack' && !files.has(`objects/pack/${pack}`) ? [{ name: pack, kind: 'file' }] : found;
  };
  const mirror = await makeMirror({ ...source, entries, open: source.open }, SHA1);
  files.set(`objects/pack/${pack}`, 'a pack');
  await mirror.refresh();
  expect(await readdir(join(mirror.directory, 'objects', 'pack'))).toEqual([pack]);
  await mirror.close();
});

it.each<[string, string, (files: Map<string, string | number>) => unknown]>([
  ['is a worktree of another', 'invalid', (files) => files.set('commondir', '..')],
  ['borrows objects', 'invalid', (files) => files.set('objects/info/alternates', '/elsewhere\n')],
  ['has too large a file of references', 'too-large', (files) => files.set('packed-refs', 64 * 1024 ** 2)],
  [
    'has more large objects than are held open, and too large ones',
    'too-large',
    (files) => {
      for (let n = 0; n <= 256; n++) files.set(`objects/cc/${n.toString(16).padStart(38, '0')}`, 300 * 1024 ** 2);
    },
  ],
  [
    'has too many references',
    'too-large',
    (files) => {
      for (let n = 0; n <= 10_000; n++) files.set(`refs/heads/b${n}`, OID);
    },
  ],
])('refuses a repository that %s, and leaves nothing open', async (_, code, change) => {
  const files = minimal();
  change(files);
  const source = sourceOf(files);
  await expect(makeMirror(source, SHA1)).rejects.toMatchObject({ code });
  expect(source.opened).toBe(0);
});

it('a mirror of references in tables is refused', async () => {
  await expect(makeMirror(sourceOf(minimal()), { ...SHA1, reftable: true })).rejects.toMatchObject({ code: 'invalid' });
});
