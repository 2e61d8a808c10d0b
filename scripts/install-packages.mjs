/**
 * Installs packages that `npm ci` leaves out, since they are large and not everybody who builds needs them: `tests`, what the
 * tests and the types of optional packages need, and `checks`, what lints and looks through code and package. Both when none is
 * named; `site`, what makes the site, only when it is named. They are in scripts/packages, each with its own lock, and linked into node_modules, where they are looked for.
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
  // Only what checks is started by its name.
  if (group === 'checks' && !WINDOWS) for (const name of packages) linkPrograms(folder, name);
}

function linkPrograms(folder, name) {
  const { bin = {} } = readJson(join(folder, 'node_modules', name, 'package.json'));
  for (const program of typeof bin === 'string' ? [basename(name)] : Object.keys(bin)) {
    link(join(folder, 'node_modules/.bin', program), join(MODULES, '.bin', program));
  }
}

/** A link that leads nowhere is made anew; what npm put there stays. */
function link(target, path) {
  if (existsSync(path)) return;
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) rmSync(path);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(WINDOWS ? target : relative(dirname(path), target), path, 'junction');
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
