/** Texts by their names. */
import type { ExampleConfig } from '../../providers/example/config.ts';
import type { MountKind } from './kind.ts';

export const exampleKind: MountKind<ExampleConfig> = {
  key: 'example',
  async open(name, block) {
    const { exampleProvider } = await import('../../providers/example/index.ts');
    return exampleProvider({ ...block, name });
  },
};
