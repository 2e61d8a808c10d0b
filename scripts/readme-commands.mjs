/**
 * Runs the commands of the documentation unchanged in a clean clone of this repository.
 *
 * Fenced blocks of README.md, docs/guide/*.md and docs/providers/*.md take part when their info string says `ci`:
 *
 *   sh ci             runs as one bash script, which must succeed
 *   sh ci background  starts a server, which must answer, and end with status 0 on SIGINT after the page's last block
 *   json ci           must parse
 *   yaml ci           must pass `vitrine check`; paths start from the root of the clone
 *   yaml ci file      is written to vitrine.yaml, for the blocks that follow
 *   js ci             runs as a module of the package, and must end by itself
 *
 * A block of `text` right behind commands is their output: they have to print its lines. A line of three dots leaves lines out.
 *
 * Needs Linux, git, npm, openssl and curl. A page's blocks run in order, README.md first.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Milliseconds that a server may take until it answers, including the installation before it, and until it has ended. */
const START_MS = 300_000;
const STOP_MS = 10_000;
/** Milliseconds for one block. */
const BLOCK_MS = 300_000;

const source = fileURLToPath(new URL('..', import.meta.url));
const clone = await mkdtemp(join(tmpdir(), 'vitrine-readme-'));
let failed = false;
try {
  run('git', ['clone', '--quiet', '--no-local', source, clone]);
  let count = 0;
  for (const page of ['README.md', ...(await pagesIn('docs/guide')), ...(await pagesIn('docs/providers'))]) {
    count += await runPage(page);
    // The README has built the clone by now. The other pages also need the packages of the tests.
    if (page === 'README.md') run('node', ['scripts/install-packages.mjs', 'tests']);
  }
  if (count === 0) throw new Error('No block is marked ci');
  console.log(`\n${count} blocks did what the documentation says.`);
} catch (error) {
  failed = true;
  console.error(`\n${error instanceof Error ? error.message : error}`);
} finally {
  await rm(clone, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

async function pagesIn(folder) {
  const names = (await readdir(join(clone, folder))).filter((name) => name.endsWith('.md')).sort();
  return names.map((name) => `${folder}/${name}`);
}

/** Runs the blocks of one page. @returns their number */
async function runPage(page) {
  const blocks = blocksOf(await readFile(join(clone, page), 'utf8'));
  const servers = [];
  const failures = [];
  for (const block of blocks) {
    console.log(`\n--- ${page}:${block.line} (${block.kind})\n${block.text.trimEnd()}\n---`);
    try {
      if (block.kind === 'sh background') servers.push({ block, stop: await startServer(block) });
      else await runBlock(block);
    } catch (error) {
      failures.push({ block, error });
      break;
    }
  }
  for (const { block, stop } of servers.reverse()) await stop().catch((error) => failures.push({ block, error }));
  const messages = failures.map(
    ({ block, error }) => `FAILED ${page}:${block.line}: ${error.message}\n\n${block.text}`,
  );
  if (messages.length > 0) throw new Error(messages.join('\n'));
  return blocks.length;
}

/** Fenced blocks whose info string says `ci`, with the line that they start at. */
function blocksOf(markdown) {
  const fence =
    /^(?<indent> *)```(?<info>[^\n`]+)\n(?<text>[\s\S]*?)^ *```$(?:\n+```text\n(?<output>[\s\S]*?)^```$)?/gm;
  return [...markdown.matchAll(fence)].flatMap(({ index, groups: { indent, info, text, output } }) => {
    const [language, ...words] = info.trim().split(/\s+/);
    if (!words.includes('ci')) return [];
    const kind = [language, ...words.filter((word) => word !== 'ci')].join(' ');
    const line = markdown.slice(0, index).split('\n').length;
    return [{ kind, line, text: text.replace(new RegExp(`^${indent}`, 'gm'), ''), output }];
  });
}

async function runBlock({ kind, text, output }) {
  switch (kind) {
    case 'sh':
      return expectOutput(run('bash', ['-c', `set -euo pipefail\n${text}`], output !== undefined), output);
    case 'json':
      return void JSON.parse(text);
    case 'yaml':
      await writeFile(join(clone, 'vitrine.yaml'), text);
      return run('node', ['dist/cli/main.js', 'check', 'vitrine.yaml']);
    case 'yaml file':
      return writeFile(join(clone, 'vitrine.yaml'), text);
    case 'js':
      await writeFile(join(clone, 'block.mjs'), text);
      return run('node', ['block.mjs']);
    default:
      throw new Error(`there is no kind of block called "${kind}"`);
  }
}

/** Runs a program; returns what it printed to standard output if `captures`. */
function run(command, args, captures = false) {
  const stdio = ['ignore', captures ? 'pipe' : 'inherit', 'inherit'];
  const { status, signal, error, stdout } = spawnSync(command, args, { cwd: clone, stdio, timeout: BLOCK_MS });
  if (captures) process.stdout.write(stdout ?? '');
  if (status !== 0) throw new Error(error?.message ?? `it ended with ${signal ?? `status ${status}`}`);
  return `${stdout ?? ''}`;
}

/** Throws if a program did not print the lines that a page shows as its output, in this order and next to each other but for `...`. */
function expectOutput(printed, output) {
  if (output === undefined) return;
  const real = printed
    .replaceAll(clone, '/path/to/vitrine')
    .split('\n')
    .map((line) => line.trimEnd());
  let from = 0;
  for (const part of output.split(/^\.\.\.\n/m)) {
    const lines = part.trimEnd().split('\n');
    const at = real.findIndex((_, index) => index >= from && lines.every((line, next) => real[index + next] === line));
    if (at === -1) throw new Error(`it did not print this, which the page shows:\n${lines.join('\n')}`);
    from = at + lines.length;
  }
}

/** Starts a server, and waits until the endpoint that it prints answers. @returns a function that stops it */
async function startServer({ text, output: expected }) {
  const script = `set -euo pipefail\n${text}`;
  const shell = spawn('bash', ['-c', script], { cwd: clone, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const ended = new Promise((resolve) => shell.once('exit', (status, signal) => resolve({ status, signal })));
  let output = '';
  const printed = new Promise((resolve) => {
    shell.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      output += chunk;
      const endpoint = /^Endpoint: (\S+)$/m.exec(output)?.[1];
      if (endpoint !== undefined) resolve(endpoint);
    });
  });
  const kill = () => process.kill(-shell.pid, 'SIGKILL');
  try {
    const endpoint = await Promise.race([printed, ended.then(() => undefined), after(START_MS)]);
    if (endpoint === undefined) throw new Error('it printed no endpoint');
    const status = await statusOf(new URL('/healthz', endpoint));
    if (status !== 200) throw new Error(`${endpoint} answered ${status}`);
  } catch (error) {
    if (shell.exitCode === null && shell.signalCode === null) kill();
    throw error;
  }
  return async () => {
    process.kill(await innermost(shell.pid), 'SIGINT');
    const end = await Promise.race([ended, after(STOP_MS)]);
    if (end === undefined) kill();
    if (end?.status === 0) return expectOutput(output, expected);
    throw new Error(`after SIGINT it ${end === undefined ? 'did not end' : `ended with ${end.signal ?? end.status}`}`);
  };
}

/** Requests an address, and accepts self-signed certificates. @returns the HTTP status */
function statusOf(url) {
  const get = url.protocol === 'https:' ? https.get : http.get;
  return new Promise((resolve, reject) => {
    const request = get(url, { rejectUnauthorized: false, signal: AbortSignal.timeout(STOP_MS) }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode));
    });
    request.once('error', reject);
  });
}

function after(ms) {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}

/**
 * Finds the process of the server below bash and npm, which both report an interruption as a failure even if the server ended well.
 * Processes that the server itself starts do not count.
 */
async function innermost(pid) {
  const [, script = ''] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  if (script.endsWith('dist/cli/main.js')) return pid;
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean);
  return children[0] === undefined ? pid : innermost(Number(children[0]));
}
