/** Functions for scripts that install packages: they skip finished work, and try failed downloads again. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const WINDOWS = process.platform === 'win32';
/** The name of the file in an installed folder that has the digest of the files that the installation follows. */
const STAMP = '.installed';
/** The most milliseconds that one command may run. */
const TIME_LIMIT = 600_000;
/** How often a download is tried, and the milliseconds between two tries. */
const TRIES = 3;
const PAUSE_MS = 5_000;

/**
 * @param {string} name
 * @param {string} folder with a package.json and its lock
 * @param {boolean} [quiet] prints nothing if everything is installed
 */
export function installNode(name, folder, quiet = false) {
  const files = ['package.json', 'package-lock.json'].map((file) => join(folder, file));
  const install = () => {
    // On Windows, npm is a shell script.
    const done = download(
      'npm',
      ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
      folder,
      WINDOWS,
    );
    if (done.status !== 0) fail(`${name}: npm ci failed.\n${done.output}`);
  };
  once(`${name}: Node.js packages`, join(folder, 'node_modules'), files, install, quiet);
}

/**
 * Does the work unless it was done already for the same content of the files, and prints one line about it.
 * @param {string} what
 * @param {string} target the folder that the work fills
 * @param {readonly string[]} files
 * @param {() => string | undefined | void} work returns why it is left out
 * @param {boolean} [quiet] prints nothing if the work was done already
 */
export function once(what, target, files, work, quiet = false) {
  const digest = createHash('sha256');
  for (const file of files) digest.update(readFileSync(file)).update('\0');
  const wanted = digest.digest('hex');
  const stamp = join(target, STAMP);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) {
    if (!quiet) console.log(`${what}: in place`);
    return;
  }
  const leftOut = work();
  if (leftOut) return console.log(`${what}: left out, because ${leftOut}`);
  writeFileSync(stamp, wanted);
  console.log(`${what}: installed`);
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {boolean} [shell]
 */
export function run(command, args, cwd, shell = false) {
  const done = spawnSync(command, args, { cwd, shell, encoding: 'utf8', timeout: TIME_LIMIT });
  const missing = done.error !== undefined && 'code' in done.error && done.error.code === 'ENOENT';
  return {
    status: done.status,
    missing,
    output: `${done.stdout ?? ''}${done.stderr ?? ''}${done.error?.message ?? ''}`,
  };
}

/**
 * Runs a command that downloads something. If it fails, it runs again after a pause.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {boolean} [shell]
 */
export function download(command, args, cwd, shell = false) {
  let done = run(command, args, cwd, shell);
  for (let tries = 1; done.status !== 0 && tries < TRIES && !done.missing; tries += 1) {
    console.log(`${command} failed, and is tried again: ${done.output.trim().split('\n').at(-1)}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    done = run(command, args, cwd, shell);
  }
  return done;
}

/**
 * @param {string} why
 * @returns {never}
 */
export function fail(why) {
  console.error(why);
  process.exit(1);
}
