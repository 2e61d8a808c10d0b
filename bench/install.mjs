/**
 * Measures what it takes to have a server installed: seconds, packages and bytes on the disk, of Vitrine's tarball beside
 * `@modelcontextprotocol/server-filesystem` (npm) and `markitdown-mcp` (PyPI, in an environment of its own). Each installation
 * starts with an empty cache.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './lib/folders.mjs';
import { options } from './lib/options.mjs';
import { progress, report, table, whole } from './lib/report.mjs';
import { median } from './lib/stats.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The most milliseconds of one installation. */
const TIME_LIMIT = 600_000;

const how = options('install', 'What an installation takes: seconds, packages, bytes on the disk.', {
  rounds: { type: 'number', default: 3, quick: 1, help: 'installations of each; the median of their seconds is shown' },
});

const tarball = join(ROOT, execFileSync('node', ['scripts/pack.mjs'], { cwd: ROOT, encoding: 'utf8' }).trim());
const RIVALS = [
  { name: 'vitrine (this tarball)', install: () => npm(tarball) },
  { name: '@modelcontextprotocol/server-filesystem', install: () => npm('@modelcontextprotocol/server-filesystem') },
  { name: 'markitdown-mcp', install: () => pip('markitdown-mcp') },
];

/** @type {Map<string, { seconds: number[], packages: number, mebibytes: number } | undefined>} */
const results = new Map();
for (let round = 0; round < how.rounds; round += 1) {
  for (const { name, install } of RIVALS) {
    progress(`${name}, ${round + 1} of ${how.rounds}`);
    const done = install();
    const before = results.get(name)?.seconds ?? [];
    results.set(name, done && { ...done, seconds: [...before, done.seconds] });
  }
}
progress('');
const rows = [...results].map(([name, done]) =>
  done === undefined
    ? [name, 'n/a', 'n/a', 'n/a']
    : [name, `${whole(done.mebibytes)} MiB`, whole(done.packages), `${median(done.seconds).toFixed(1)} s`],
);
report(how, Object.fromEntries(results), table(['installed', 'on the disk', 'packages', 'time'], rows));

/** @param {string} what */
function npm(what) {
  const folder = temporaryFolder();
  const flags = ['--no-audit', '--no-fund', '--cache', temporaryFolder(), '--prefix', folder];
  const seconds = timed('npm', ['install', ...flags, what], folder);
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'));
  return { seconds, packages: Object.keys(packages).length, mebibytes: mebibytesOf(join(folder, 'node_modules')) };
}

/**
 * Makes the environment before the time is taken. Returns undefined if there is no Python that can make one.
 * @param {string} what
 */
function pip(what) {
  const venv = join(temporaryFolder(), 'venv');
  if (spawnSync('python3', ['-m', 'venv', venv]).status !== 0) return undefined;
  const python = join(venv, 'bin/python');
  if (!existsSync(python)) return undefined;
  const pipCommand = ['-m', 'pip', '--disable-pip-version-check'];
  const listed = () =>
    JSON.parse(execFileSync(python, [...pipCommand, 'list', '--format=json'], { encoding: 'utf8' })).length;
  const [packages, mebibytes] = [listed(), mebibytesOf(venv)];
  const seconds = timed(python, [...pipCommand, 'install', '--quiet', '--no-cache-dir', what], venv);
  return { seconds, packages: listed() - packages, mebibytes: mebibytesOf(venv) - mebibytes };
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function timed(command, args, cwd) {
  const start = performance.now();
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'], timeout: TIME_LIMIT });
  return (performance.now() - start) / 1_000;
}

/** @param {string} folder */
function mebibytesOf(folder) {
  return Number.parseInt(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }), 10) / 1024;
}
