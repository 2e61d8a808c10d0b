/** The kind `resources`: resources that are written into the configuration. */
import type { MemoryConfig } from '../../providers/memory/config.ts';
import type { MemoryResource } from '../../providers/memory/index.ts';
import type { MountKind } from './kind.ts';

export const memoryKind: MountKind<MemoryConfig> = {
  key: 'resources',
  async open(name, { resources }) {
    const { memoryProvider } = await import('../../providers/memory/index.ts');
    return memoryProvider({
      name,
      fixed: true,
      resources: Object.fromEntries(
        Object.entries(resources).map(([path, resource]) => [
          path,
          (typeof resource === 'string' ? { text: resource } : resource) as MemoryResource,
        ]),
      ),
    });
  },
};
