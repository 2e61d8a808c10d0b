/**
 * Tries the package in an empty folder, from the tarball, with Node.js 20, 22 and 24, or the named versions. Checks that npm prints no
 * warning, that no package has an installation script, and that the installation is not too large. Then one command serves a folder,
 * and the command line of the MCP Inspector reads its documents and a database as text; then the same with `npx`. The programs of
 * `examples/programs` are checked and run with the package, too. Fetches packages from the npm registry.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The most megabytes that an installation may take. */
const MAX_MEGABYTES = 110;
const MAX_PACKAGES = 120;
/** Packages that the example programs use in addition to Vitrine and its dependencies. */
const BESIDE = ['express@5.3.0', '@types/express@5.0.6', '@types/node@22', 'typescript@6', 'vitest@4'];
/** The most milliseconds for one command, and until a server answers. */
const TIME_LIMIT = 300_000;
/** The Inspector needs a newer Node.js than Vitrine. */
const INSPECTOR = ['-p', 'node@22', '-p', '@modelcontextprotocol/inspector@2.12.0'];

/** The files of the served folder, each with the path that it is copied from. */
const FILES = {
  'report.pdf': 'museum/office/conservation-report.pdf',
  'loan.docx': 'museum/office/loan-agreement.docx',
  'visitors.xlsx': 'museum/office/visitors.xlsx',
  // A plug-in that is loaded by its name reads this file.
  'card.rtf': 'museum/office/condition-card.rtf',
  'shop.sqlite': 'registrar.sqlite',
};
/** A text in an encoding from before UTF-8. */
const LATIN_1 = Buffer.from('Der Schl\u00fcssel f\u00fcr die Uhr\n', 'latin1');
const SERVED = ['./docs', '--nested'];
const TEXTS = {
  'file:///report.pdf': 'It was stabilised with wheat-starch paste in March.',
  'file:///loan.docx': 'The museum lends the **brass carriage clock**',
  'file:///note.txt': 'Der Schl\u00fcssel f\u00fcr die Uhr',
  'file:///card.rtf': 'Music box by J. M\u00fcller, 1790',
  'file:///visitors.xlsx': '| December | 1204 | 611 | 14448.25 |',
  'file:///shop.sqlite/inspections/VM.1931.001,2025-01-01': '"VM.1931.001"',
};

const versions = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'vitrine-package-'));
try {
  const tarball = join(ROOT, execFileSync('node', ['scripts/pack.mjs'], { cwd: ROOT, encoding: 'utf8' }).trim());
  mkdirSync(join(folder, 'docs'));
  for (const [name, from] of Object.entries(FILES)) cpSync(join(ROOT, 'examples', from), join(folder, 'docs', name));
  writeFileSync(join(folder, 'docs/note.txt'), LATIN_1);
  const inspector = fetched(INSPECTOR, 'mcp-inspector');
  for (const version of versions.length > 0 ? versions : ['20', '22', '24']) {
    const env = pathFirst(fetched(['-p', `node@${version}`], 'node').folder);
    console.log(`Node.js ${version}: ${run('node', ['--version'], env).trim()}`);
    await tryInstalled(tarball, env, inspector);
  }
  tryPrograms();
  await tryNpx(tarball, inspector);
  console.log('The package works where nothing else is.');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function tryInstalled(tarball, env, inspector) {
  for (const name of ['node_modules', 'package.json', 'package-lock.json']) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  const installed = spawnSync('npm', ['install', '--no-audit', '--no-fund', tarball], { ...how(env), stdio: 'pipe' });
  const printed = `${installed.stdout}${installed.stderr}`;
  if (installed.status !== 0 || /warn|deprecated/i.test(printed)) throw new Error(`npm install said:\n${printed}`);
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'));
  const scripted = Object.keys(packages).filter((path) => packages[path].hasInstallScript);
  if (scripted.length > 0) throw new Error(`These have scripts for installing: ${scripted.join(', ')}`);
  const megabytes = (Number.parseInt(run('du', ['-sk', 'node_modules'], env), 10) * 1024) / 1e6;
  const count = Object.keys(packages).length;
  console.log(`  installed ${count} packages, ${Math.ceil(megabytes)} MB, no warning`);
  if (count > MAX_PACKAGES || megabytes > MAX_MEGABYTES) throw new Error('That is too much.');
  const vitrine = join(folder, 'node_modules/.bin/vitrine');
  await served(vitrine, SERVED, env, inspector, TEXTS);
  const [[uri, text]] = Object.entries(TEXTS);
  // The Inspector would take options for its own.
  read(inspector, [vitrine, SERVED[0]], uri, text, env);
}

/** Checks the example programs against the types of the installed package, and runs them with the newest Node.js, which runs TypeScript. */
function tryPrograms() {
  const env = pathFirst(fetched(['-p', 'node@24'], 'node').folder);
  cpSync(join(ROOT, 'examples/programs'), join(folder, 'programs'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest(), type: 'module' }));
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...BESIDE], env);
  const strict = [
    '--strict',
    '--noEmit',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--skipLibCheck',
  ];
  const lib = ['--lib', 'es2023,esnext.disposable,dom,dom.iterable'];
  const programs = readdirSync(join(folder, 'programs')).map((name) => `programs/${name}`);
  run('node_modules/.bin/tsc', [...strict, ...lib, '--allowImportingTsExtensions', ...programs], env);
  for (const program of programs) {
    if (program.endsWith('.test.ts')) run('node_modules/.bin/vitest', ['run', program], env);
    else run('node', [program], env);
    console.log(`  ${program} holds what it asserts`);
  }
}

function manifest() {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Uses a separate cache, because npx keeps an installation from a file of the same name. */
async function tryNpx(tarball, inspector) {
  const env = { ...process.env, npm_config_cache: join(folder, 'cache') };
  await served('npx', ['-y', `file:${tarball}`, ...SERVED], env, inspector, TEXTS);
}

/** Starts a server over HTTP with a command, and reads texts from it. */
async function served(command, args, env, inspector, texts) {
  const stdio = ['ignore', 'pipe', 'inherit'];
  const server = spawn(command, [...args, '--port', '0'], { cwd: folder, env, stdio, detached: true });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  try {
    const endpoint = await endpointOf(server);
    for (const [uri, text] of Object.entries(texts)) read(inspector, [endpoint], uri, text, env);
  } finally {
    if (server.exitCode === null) process.kill(-server.pid, 'SIGINT');
    await ended;
  }
}

/** Reads a resource with the Inspector, and checks that one of its contents is text that contains `text`. */
function read(inspector, target, uri, text, env) {
  const args = ['--cli', ...target, '--method', 'resources/read', '--uri', uri];
  const path = pathFirst(inspector.folder, env);
  const { contents } = JSON.parse(run(join(inspector.folder, inspector.program), args, path));
  if (!contents.some((each) => each.text?.includes(text))) throw new Error(`${uri} was not read as text with: ${text}`);
  console.log(`  ${target[0].startsWith('http:') ? 'HTTP' : 'stdio'}: ${uri} is read as text`);
}

async function endpointOf(server) {
  const lines = createInterface({ input: server.stdout });
  const late = AbortSignal.timeout(TIME_LIMIT);
  late.addEventListener('abort', () => lines.close());
  for await (const line of lines) {
    const [, endpoint] = /^Endpoint: (\S+)$/.exec(line) ?? [];
    if (endpoint !== undefined) return endpoint;
  }
  throw new Error('The server printed no endpoint.');
}

/** Lets npx fetch packages. @returns the folder of a program of theirs, and its name */
function fetched(packages, program) {
  const out = run('npx', ['-y', ...packages, '-c', `command -v ${program}`], process.env, 'ignore');
  return { folder: dirname(out.trim()), program };
}

function pathFirst(first, env = process.env) {
  return { ...env, PATH: `${first}${delimiter}${env.PATH}` };
}

function how(env, stderr = 'inherit') {
  return { cwd: folder, env, encoding: 'utf8', timeout: TIME_LIMIT, stdio: ['ignore', 'pipe', stderr] };
}

function run(command, args, env, stderr) {
  return execFileSync(command, args, how(env, stderr));
}
