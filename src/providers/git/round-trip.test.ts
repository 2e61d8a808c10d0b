/** Every blob of a real repository reads back with its hash: one with names of any bytes, and this project's own. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { takeWrong } from '../../../test/errors/setup.ts';
import { createContext } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { bytesOf, scene } from '../../testing/git-scene.ts';
import { listAll } from '../../testing/observe.ts';
import { gitProvider } from './index.ts';

const hashOf = (bytes: Uint8Array): string =>
  createHash('sha1').update(`blob ${bytes.byteLength}\0`).update(bytes).digest('hex');

interface File {
  readonly uri: string;
  readonly hash: string;
}

async function filesBelow(provider: ResourceProvider, uri: string): Promise<File[]> {
  const files: File[] = [];
  for (const resource of await listAll(provider, uri)) {
    if (resource.capabilities?.list) files.push(...(await filesBelow(provider, resource.uri)));
    else files.push({ uri: resource.uri, hash: String(resource._meta?.['vitrine/etag']) });
  }
  return files;
}

const ODD = [
  ' ',
  ' a b ',
  '"quoted"',
  "it's",
  'line\nbreak',
  '\ttab',
  '%',
  '%41',
  '~',
  '~41',
  '...',
  '-',
  '--output=x',
  ':(glob)*',
  'HEAD',
  'branches',
  'log',
  'blame',
  'back\\slash',
  '\x01\x7f',
  'caf\xe9',
  '\xff\xfe',
  '\xc3\xa9',
  '\xed\xa0\x80',
  '\xef\xbf\xbd',
  '\xc2\x85',
  'x'.repeat(1_000),
];

it('names of any bytes: each has one URI, which gives its own bytes [RES-1]', async () => {
  await using place = await scene();
  const names = [...ODD, ...Array.from({ length: 255 }, (_, index) => String.fromCharCode(index + 1))].filter(
    (name) => name !== '/' && name !== '.',
  );
  const unique = [...new Set(names)];
  const contents = unique.map((name) => Buffer.from(`content of ${name}`, 'latin1'));
  const blobs = contents.map((bytes) => Buffer.concat([Buffer.from(`blob\ndata ${bytes.byteLength}\n`), bytes]));
  place.gitWith(Buffer.concat(blobs), 'fast-import', '--quiet');
  const hashes = contents.map(hashOf);
  const rows = unique.map((name, index) => Buffer.from(`100644 blob ${hashes[index]}\t${name}\0`, 'latin1'));
  const inner = place.gitWith(Buffer.concat(rows), 'mktree', '-z');
  const folders = ['..', '.', '.git', 'dir\n'].map((name) => treeEntry('40000', name, inner));
  const outer = place.gitWith(Buffer.concat(folders), 'hash-object', '-w', '-t', 'tree', '--literally', '--stdin');
  place.git('update-ref', 'refs/heads/main', place.git('commit-tree', '-m', 'Odd', outer));
  const provider = await place.open();
  const files = await filesBelow(provider, 'git:///HEAD');
  expect(files).toHaveLength(unique.length * folders.length);
  expect(new Set(files.map(({ uri }) => uri)).size).toBe(files.length);
  const expected = [...hashes].sort();
  expect(
    files
      .slice(0, unique.length)
      .map(({ hash }) => hash)
      .sort(),
  ).toEqual(expected);
  for (const { uri, hash } of files) expect([uri, hashOf(await bytesOf(provider, uri))]).toEqual([uri, hash]);
});

/** A raw entry of a tree, because `mktree` refuses the names of hostile repositories. */
const treeEntry = (mode: string, name: string, hash: string): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(hash, 'hex')]);

const OWN = fileURLToPath(new URL('../../../.git', import.meta.url));

// A copy of the source without git has no history.
it.runIf(existsSync(`${OWN}/objects`))(
  'this project: every file of its newest commits reads back with its hash',
  async () => {
    const provider = await gitProvider({ path: OWN, alternates: true });
    try {
      const seen = new Set<string>();
      const commits = await provider.list('git:///commits', { limit: 3 }, createContext());
      for (const { uri: commit } of commits.resources) {
        const fresh = (await filesBelow(provider, commit)).filter(({ hash }) => !seen.has(hash));
        for (const { hash } of fresh) seen.add(hash);
        const read = await Promise.all(fresh.map(async ({ uri }) => hashOf(await bytesOf(provider, uri))));
        expect(read).toEqual(fresh.map(({ hash }) => hash));
      }
      expect(seen.size).toBeGreaterThan(100);
      // Errors that the tests of this project have recorded are contents here, and no server has sent them.
      takeWrong();
    } finally {
      await provider.close?.();
    }
  },
);
