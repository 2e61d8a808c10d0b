/** Folders that are made to be served, and removed afterwards. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @type {string[]} */
const temporary = [];
process.once('exit', () => {
  for (const folder of temporary) rmSync(folder, { recursive: true, force: true });
});

/** A temporary folder that is removed when the process ends. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'vitrine-bench-'));
  temporary.push(folder);
  return folder;
}

/**
 * Writes a configuration that serves one folder under its native URIs.
 * @param {string} folder
 * @param {object} limits as in `vitrine.yaml`
 * @returns its path, in a folder of its own
 */
export function configuration(folder, limits) {
  const file = join(temporaryFolder(), 'vitrine.json');
  writeFileSync(file, JSON.stringify({ limits, mounts: { bench: { path: folder, prefix: 'none' } } }));
  return file;
}

/**
 * ASCII prose of a size, the same every time.
 * @param {number} bytes
 */
export function prose(bytes) {
  const words = 'the clerk wound the long case clock on Sundays and noted how far it had strayed from noon\n';
  return words.repeat(Math.ceil(bytes / words.length)).slice(0, bytes);
}
