/** A folder beside `node:fs`: names read and sorted, each with its `stat`, and files read by their path. */

import { writeFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../lib/folders.mjs';
import { asking, nameOf, names, TEXT } from '../lib/turns.mjs';

export const client = 'node:fs';

/** @param {import('../lib/turns.mjs').Load} load */
export async function open(load) {
  const folder = temporaryFolder();
  for (const name of names()) writeFileSync(join(folder, name), TEXT);
  const { page, bytes } = await asking(load);
  const { filesProvider } = await load('providers/files.js');
  const provider = await filesProvider({ path: folder });
  return {
    turns: {
      list: {
        ours: () => page(provider, 'file:///'),
        async native() {
          const sorted = (await readdir(folder)).sort();
          return (await Promise.all(sorted.map((name) => stat(join(folder, name))))).length;
        },
      },
      read: {
        ours: (index) => bytes(provider, `file:///${nameOf(index)}`),
        native: async (index) => (await readFile(join(folder, nameOf(index)))).byteLength,
      },
    },
    close: () => provider.close(),
  };
}
