import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { filesFixture } from '../../testing/files-fixture.ts';
import { readLeaf } from '../../testing/observe.ts';
import { providerContract } from '../../testing/provider-contract.ts';
import { createVitrine } from '../../vitrine.ts';
import { filesProvider } from './index.ts';

providerContract('files', (seed) => filesFixture(seed));
providerContract('files in a mount, under all layers', async (seed) => {
  const wrap = (provider: ResourceProvider) => createVitrine({ mounts: [{ name: 'docs', provider }] }).provider;
  const fixture = await filesFixture(seed, wrap);
  return { ...fixture, uriOf: (path) => `docs+${fixture.uriOf(path)}` };
});

const KERNEL_FOLDER = '/proc/sys/kernel';

// Files of /proc have bytes although the system says that their size is 0. They exist on Linux only.
describe.runIf(existsSync(`${KERNEL_FOLDER}/ostype`))('a file that does not say its size', () => {
  it('is read whole and in windows, without a size or a total that would be false', async () => {
    const provider = await filesProvider({ path: KERNEL_FOLDER });
    const content = await readFile(`${KERNEL_FOLDER}/ostype`);
    try {
      const whole = await readLeaf(provider, 'file:///ostype');
      expect(Buffer.from(whole.bytes)).toEqual(content);
      expect(whole.bodies[0]?.resource).not.toHaveProperty('size');

      const window = await readLeaf(provider, 'file:///ostype', { offset: 1, length: 2 }, createContext());
      expect(Buffer.from(window.bytes)).toEqual(content.subarray(1, 3));
      expect(window.window?.total).toBeUndefined();
    } finally {
      await provider.close?.();
    }
  });
});
