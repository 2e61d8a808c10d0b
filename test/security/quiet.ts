/** Knows when the system has reported all changes of files so far. */
import { type FSWatcher, watch } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { until, within } from '../e2e/waiting.ts';

export interface Quiet extends AsyncDisposable {
  /**
   * Resolves when every earlier change has reached the watches of this process. The system reports changes in order, so this waits for a
   * change that it makes itself.
   */
  settled(): Promise<void>;
  /** Fails if changes keep being reported. A report that has just begun may end first. */
  silent(told: { readonly events: readonly unknown[] }, change: () => Promise<unknown>): Promise<void>;
}

export async function startQuiet(): Promise<Quiet> {
  const folder: Folder = await temporaryFolder();
  let tell: (name: string | null) => void = () => {};
  const watcher: FSWatcher = watch(folder.path, (_type, name) => tell(name));
  let last = 0;
  const quiet: Quiet = {
    async settled() {
      // Twice: the work that the first round of changes caused, such as moving a watch, has then begun and ended, too.
      for (let round = 0; round < 2; round++) {
        const wanted = `mark-${++last}`;
        const told = new Promise<void>((resolve) => {
          tell = (name) => name === wanted && resolve();
        });
        await writeFile(folder.at(wanted), '');
        await within(told, 'the mark that follows all changes');
        for (let turns = 0; turns < 20; turns++) await turn();
      }
    },
    async silent(told, change) {
      await until(async () => {
        await quiet.settled();
        const before = told.events.length;
        await change();
        await quiet.settled();
        return told.events.length === before;
      }, 'silence');
    },
    async [Symbol.asyncDispose]() {
      watcher.close();
      await folder[Symbol.asyncDispose]();
    },
  };
  return quiet;
}
