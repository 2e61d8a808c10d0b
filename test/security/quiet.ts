/** Knows when the system has told everything about files that it had to tell so far. */
import { type FSWatcher, watch } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { until, within } from '../e2e/waiting.ts';

export interface Quiet extends AsyncDisposable {
  /**
   * Resolves when every change that was made before has reached the watches of this process: the system tells of changes
   * in their order, so it waits for one that it makes itself.
   */
  settled(): Promise<void>;
  /** Fails when a change goes on being told; one that was told of just before may come to an end first. */
  silent(told: { readonly events: readonly unknown[] }, change: () => Promise<unknown>): Promise<void>;
}

export async function startQuiet(): Promise<Quiet> {
  const folder: Folder = await temporaryFolder();
  let tell: (name: string | null) => void = () => {};
  const watcher: FSWatcher = watch(folder.path, (_type, name) => tell(name));
  let last = 0;
  const quiet: Quiet = {
    async settled() {
      // Twice: what the first round of changes made others do (a watch put elsewhere) has then begun and ended, too.
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
