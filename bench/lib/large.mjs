/** Large things to serve. Their content names its place, so that reads can be checked. */
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { prose, temporaryFolder } from './folders.mjs';
import { progress } from './report.mjs';

export const MIB = 1024 ** 2;

/**
 * The line that a large file has at the start of each mebibyte: a window out of place would be noticed.
 * @param {number} index of the mebibyte
 */
export const markOf = (index) => `mebibyte ${String(index).padStart(8, '0')}\n`;

/**
 * A folder with one large file: `large.txt` full of text, or `large.bin`, a sparse file of marks and holes.
 * @param {number} mebibytes
 * @param {boolean} dense
 */
export function folderWithLargeFile(mebibytes, dense) {
  const folder = temporaryFolder();
  const file = openSync(join(folder, dense ? 'large.txt' : 'large.bin'), 'w');
  const filler = dense ? prose(MIB - markOf(0).length) : '';
  for (let index = 0; index < mebibytes; index++) {
    progress(`writing ${index} MiB`);
    writeSync(file, markOf(index) + filler, index * MIB, 'latin1');
  }
  ftruncateSync(file, mebibytes * MIB);
  closeSync(file);
  return folder;
}

/**
 * A folder with one file of text, `whole.txt`.
 * @param {number} bytes
 */
export function folderWithText(bytes) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'whole.txt'), prose(bytes));
  return folder;
}

/**
 * The name of a file in a large folder; the names are listed in the order of their indexes.
 * @param {number} index
 */
export const nameOf = (index) => `entry-${String(index).padStart(8, '0')}.txt`;

/**
 * A folder with many empty files.
 * @param {number} entries
 */
export function folderWithFiles(entries) {
  const folder = join(temporaryFolder(), 'served');
  mkdirSync(folder);
  for (let index = 0; index < entries; index++) {
    if (index % 1_000 === 0) progress(`making ${index} files`);
    closeSync(openSync(join(folder, nameOf(index)), 'w'));
  }
  return folder;
}
