/**
 * Links in a served folder. Those to shown files and folders inside of it work. Those that lead outside, nowhere, to hidden files or
 * back up the tree do not exist.
 */
import { link, symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../e2e/folders.ts';
import { connectHttp, startHttp } from '../e2e/harness.ts';
import { MARKER } from './scene.ts';
import { refused, serve } from './served.ts';

/** Targets of a link at `root/x/link`. `ROOT` is the served folder, `PARENT` the folder that contains it. */
const INSIDE: Readonly<Record<string, 'file' | 'folder'>> = {
  'b.txt': 'file',
  './b.txt': 'file',
  '../a.txt': 'file',
  '../x/b.txt': 'file',
  '../../root/a.txt': 'file',
  'ROOT/a.txt': 'file',
  'ROOT/x/../a.txt': 'file',
  '../y': 'folder',
  '../y/': 'folder',
  'ROOT/y': 'folder',
  '../to-y': 'folder',
  '../to-a': 'file',
  '../to-y/c.txt': 'file',
};

const OUTSIDE: readonly string[] = [
  '../../secret.txt',
  '../../../../../../../../../../../../etc/passwd',
  'PARENT/secret.txt',
  'PARENT/root-secret/secret.txt',
  '../../root-secret',
  'PARENT/root-secret',
  '../../root-secret/',
  'PARENT/root/../secret.txt',
  '../out',
  '../out-folder',
  '../out-folder/secret.txt',
  '/etc/passwd',
  '/etc',
  '/',
  '/proc/self/environ',
  '/proc/self/cwd',
  '/proc/self/root',
  '/proc/self/fd/0',
  '/dev/null',
  '/dev/zero',
  '/dev/stdin',
];

const NOWHERE: readonly string[] = [
  'missing',
  '../missing/x',
  'b.txt/x',
  'link',
  '../x/link',
  '../circle',
  ' ',
  'a'.repeat(300),
];

const HIDDEN: readonly string[] = [
  '../.env',
  '../.git',
  '../.git/config',
  '../server.pem',
  'ROOT/.env',
  '../to-hidden',
];

/** Folders that contain the link, which would make the tree endless. */
const BACK: readonly string[] = ['.', '..', '../', '../x', 'ROOT', 'ROOT/', '../y/to-root'];

async function scene(target: string): Promise<{ root: string } & AsyncDisposable> {
  const parent = await temporaryFolder({
    'root/a.txt': 'inside',
    'root/x/b.txt': 'inside',
    'root/y/c.txt': 'inside',
    'root/.env': MARKER,
    'root/.git/config': MARKER,
    'root/server.pem': MARKER,
    'secret.txt': MARKER,
    'root-secret/secret.txt': MARKER,
  });
  const links: Readonly<Record<string, string>> = {
    'to-a': 'a.txt',
    'to-y': 'y',
    'y/to-root': '..',
    'to-hidden': '.env',
    out: '../secret.txt',
    'out-folder': '../root-secret',
    circle: 'circle',
    'x/link': target.replace('PARENT', parent.path).replace('ROOT', parent.at('root')),
  };
  for (const [name, to] of Object.entries(links)) await symlink(to, parent.at('root', name));
  return { root: parent.at('root'), [Symbol.asyncDispose]: () => parent[Symbol.asyncDispose]() };
}

describe('a link that stays inside works [SEC-RES-1]', () => {
  it.each(Object.entries(INSIDE))('%s', async (target, kind) => {
    await using place = await scene(target);
    await using served = await serve({ path: place.root });
    expect(await served.names('file:///x')).toContain('link');
    expect(await served.complete('x/li')).toEqual([kind === 'folder' ? 'x/link/' : 'x/link']);
    const { uri, capabilities } = await served.metadata('file:///x/link');
    expect({ uri, list: capabilities?.list }).toEqual({ uri: 'file:///x/link', list: kind === 'folder' });
    if (kind === 'file') expect(await served.text('file:///x/link')).toBe('inside');
    else {
      expect(await served.names('file:///x/link')).toEqual(['c.txt']);
      expect(await served.text('file:///x/link/c.txt')).toBe('inside');
    }
  });
});

describe('a link that stays inside is left out if links are not followed [SEC-RES-1]', () => {
  it.each(Object.keys(INSIDE))('%s', async (target) => {
    await using place = await scene(target);
    await using served = await serve({ path: place.root, symlinks: false });
    expect(await served.names('file:///x')).toEqual(['b.txt']);
    expect(await served.complete('x/')).toEqual(['x/b.txt']);
    for (const path of ['x/link', 'x/link/c.txt', 'to-y', 'to-y/c.txt', 'to-a']) {
      expect(await refused(served.metadata(`file:///${path}`)), path).toBe('not-found');
      expect(await refused(served.text(`file:///${path}`)), path).toBe('not-found');
      expect(await refused(served.list(`file:///${path}`)), path).toBe('not-found');
    }
  });
});

describe.each([
  ['leads out', OUTSIDE],
  ['leads nowhere', NOWHERE],
  ['leads to what is hidden', HIDDEN],
  ['leads back', BACK],
] as const)('a link that %s does not exist [SEC-RES-1] (CVE-2025-53109)', (_how, targets) => {
  it.each(targets)('%s', async (target) => {
    await using place = await scene(target);
    await using served = await serve({ path: place.root });
    expect(await served.names('file:///x')).toEqual(['b.txt']);
    expect(await served.text('file:///x')).toBe('inside');
    expect(await served.complete('x/')).toEqual(['x/b.txt']);
    for (const path of [
      'x/link',
      'x/link/',
      'x/link/secret.txt',
      'x/link/passwd',
      'x/link/config',
      'x/link/a.txt',
      'x/link/x/b.txt',
    ]) {
      expect(await refused(served.metadata(`file:///${path}`)), path).toBe('not-found');
      expect(await refused(served.text(`file:///${path}`)), path).toBe('not-found');
      expect(await refused(served.list(`file:///${path}`)), path).toBe('not-found');
      expect(await served.complete(path), path).toEqual([]);
    }
  });
});

describe('links in a served tree', () => {
  it('appear in the default list like all entries: each resource once for each path, and no endless path', async () => {
    await using place = await scene('../y');
    await using server = await startHttp([place.root]);
    await using client = await connectHttp('modern', server);
    const { resources } = await client.request<{ resources: { uri: string }[] }>('resources/list');
    expect(resources.map(({ uri }) => uri.slice('file:///'.length)).sort()).toEqual(
      ['', 'a.txt', 'to-a', 'to-y', 'to-y/c.txt', 'x', 'x/b.txt', 'x/link', 'x/link/c.txt', 'y', 'y/c.txt'].sort(),
    );
  });

  it('that are hard links are files like any other: whoever may create one may also copy the file', async () => {
    await using folder = await temporaryFolder({ 'root/a.txt': 'a', 'outside.txt': 'linked' });
    await link(folder.at('outside.txt'), folder.at('root/b.txt'));
    await using served = await serve({ path: folder.at('root') });
    expect(await served.text('file:///b.txt')).toBe('linked');
  });
});
