/** An engine over a folder of one test. Its provider has doors that the test opens. */

import type { ChangeHubOptions } from '../../src/core/change-hub.ts';
import { wrapProvider } from '../../src/core/layer.ts';
import { filesProvider } from '../../src/providers/files/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';

export interface Engine extends AsyncDisposable {
  readonly vitrine: Vitrine;
  readonly folder: Folder;
  /** Makes every watch from now on wait until the door is opened. */
  shutDoor(): Door;
}

export interface Door {
  open(): void;
  /** How many watches are waiting at the door. */
  readonly waiting: number;
}

export async function startEngine(
  files: Readonly<Record<string, string>> = { 'a.txt': 'a', 'b.txt': 'b', 'sub/c.txt': 'c' },
  changes: ChangeHubOptions = {},
): Promise<Engine> {
  const folder = await temporaryFolder(files);
  const inner = await filesProvider({ path: folder.path });
  let passed: Promise<void> = Promise.resolve();
  let waiting = 0;
  const provider = wrapProvider(inner, {
    async watch(uri, onChange, ctx) {
      waiting++;
      await passed;
      waiting--;
      const handle = await inner.watch?.(uri, onChange, ctx);
      if (handle === undefined) throw new Error('a folder can be watched');
      return handle;
    },
  });
  const vitrine = createVitrine({ mounts: [{ name: 'files', provider, prefix: 'none' }], changes });
  return {
    vitrine,
    folder,
    shutDoor() {
      let open = (): void => {};
      passed = new Promise((resolve) => {
        open = resolve;
      });
      return {
        open: () => open(),
        get waiting() {
          return waiting;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await vitrine.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
