/** The kind `run`: programs whose output is served. */
import { resolve } from 'node:path';
import type { CommandConfig } from '../../providers/command/config.ts';
import type { MountKind } from './kind.ts';

export const commandKind: MountKind<CommandConfig> = {
  key: 'run',
  async open(name, block, { base }) {
    const { commandProvider } = await import('../../providers/command/index.ts');
    return await commandProvider({ ...block, cwd: resolve(base, block.cwd ?? '.'), name });
  },
};
