import { gzipSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { packTar } from '../../../test/fixtures/tar.ts';
import { treeUri } from '../../core/uri.ts';
import type { Leaves, ProviderFixture } from '../../testing/fixture.ts';
import { providerContract } from '../../testing/provider-contract.ts';
import { type ArchiveKind, archiveProvider, bytesSource } from './index.ts';

const PACKERS: Readonly<Record<ArchiveKind, (leaves: Leaves) => Uint8Array>> = {
  zip: (leaves) => zipSync(Object.fromEntries(leaves)),
  tar: packTar,
  tgz: (leaves) => gzipSync(packTar(leaves)),
};

for (const kind of ['zip', 'tar', 'tgz'] as const)
  providerContract(`archive, ${kind}`, async (seed): Promise<ProviderFixture> => {
    const provider = await archiveProvider({ source: bytesSource(PACKERS[kind](seed)), kind, name: 'contract' });
    return {
      provider,
      leaves: seed,
      uriOf: (path) => treeUri('archive', path === '' ? [] : path.split('/')),
      hierarchical: true,
      close: async () => provider.close?.(),
    };
  });
