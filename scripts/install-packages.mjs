/**
 * Installs packages that `npm ci` leaves out, because they are large and building does not need them:
 *
 *   tests   packages that the tests and the types of optional packages need
 *   checks  linters, and programs that check the code and the package
 *   site    packages that build the site
 *
 * Without arguments it installs `tests` and `checks`. Each has its own lock file in scripts/packages, and is linked into node_modules.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail, installNode, WINDOWS } from './installing.mjs';

const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url));
const USUAL = ['tests', 'checks'];
const GROUPS = [...USUAL, 'site'];

const named = process.argv.slice(2);
const unknown = named.find((name) => !GROUPS.includes(name));
if (unknown !== undefined) fail(`There is no "${unknown}" to install. Try one of: ${GROUPS.join(', ')}.`);

for (const group of named.length > 0 ? named : USUAL) {
  const folder = fileURLToPath(new URL(`packages/${group}`, import.meta.url));
  installNode(group, folder, true);
  const packages = Object.keys(readJson(join(folder, 'package.json')).dependencies);
  for (const name of packages) link(join(folder, 'node_modules', name), join(MODULES, name));
  // Only the programs of `checks` are started by their names.
  if (group === 'checks' && !WINDOWS) for (const name of packages) linkPrograms(folder, name);
}

function linkPrograms(folder, name) {
  const { bin = {} } = readJson(join(folder, 'node_modules', name, 'package.json'));
  for (const program of typeof bin === 'string' ? [basename(name)] : Object.keys(bin)) {
    link(join(folder, 'node_modules/.bin', program), join(MODULES, '.bin', program));
  }
}

/** Makes a link. A broken link is replaced; a folder that npm put there stays. */
function link(target, path) {
  if (existsSync(path)) return;
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) rmSync(path);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(WINDOWS ? target : relative(dirname(path), target), path, 'junction');
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
