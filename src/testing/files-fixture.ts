/** The files provider over a real folder, made for one test, as a fixture. */
import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join as joinPath } from 'node:path';
import type { ResourceProvider } from '../core/provider.ts';
import { treeUri } from '../core/uri.ts';
import { filesProvider } from '../providers/files/index.ts';
import type { Leaves, ProviderFixture } from './fixture.ts';

/** Names that every system allows in paths. Linux allows all names of the seed. */
const PORTABLE = /^[\w./ -]*[\w]$/;

/** A files provider over a new temporary folder that has the leaves as files. @param wrap wraps the provider, for example in a layer */
export async function filesFixture(
  wanted: Leaves,
  wrap: (inner: ResourceProvider) => ResourceProvider = (inner) => inner,
): Promise<ProviderFixture> {
  const seed = new Map([...wanted].filter(([path]) => process.platform === 'linux' || PORTABLE.test(path)));
  const folder = await realpath(await mkdtemp(joinPath(tmpdir(), 'vitrine-contract-')));
  const place = (path: string): string => joinPath(folder, ...path.split('/'));
  for (const [path, bytes] of seed) {
    await mkdir(dirname(place(path)), { recursive: true });
    await writeFile(place(path), bytes);
  }
  const provider = wrap(await filesProvider({ path: folder, name: 'contract', hidden: true }));
  return {
    provider,
    leaves: seed,
    uriOf: (path) => treeUri('file', path === '' ? [] : path.split('/')),
    hierarchical: true,
    mutate: {
      create: (path, text) => writeFile(place(path), text),
      // Editors do the same: they write the new content to another file, and then rename that file.
      async replace(path, text) {
        const beside = joinPath(folder, '.replacement');
        await writeFile(beside, text);
        await rename(beside, place(path));
      },
      remove: (path) => rm(place(path)),
    },
    async close() {
      await provider.close?.();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
