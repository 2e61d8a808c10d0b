/** Git beside git: a folder with its sizes beside `git ls-tree -l`, blobs beside one bare `git cat-file --batch`. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../lib/folders.mjs';
import { startProgram, stop } from '../lib/processes.mjs';
import { missingProgram } from '../lib/services.mjs';
import { asking, nameOf, names, TEXT } from '../lib/turns.mjs';

export const client = 'git';

export const missing = () => missingProgram(['git']);

const run = promisify(execFile);

/** @param {import('../lib/turns.mjs').Load} load */
export async function open(load) {
  const repository = temporaryFolder();
  mkdirSync(join(repository, 'items'));
  // Each has a blob of its own.
  for (const name of names()) writeFileSync(join(repository, 'items', name), `${name}${TEXT}`.slice(0, TEXT.length));
  // Settings of the user and of the machine do not apply.
  const env = { ...process.env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args) => execFileSync('git', ['-C', repository, ...args], { env });
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=Curator', '-c', 'user.email=curator@museum.invalid', 'commit', '--quiet', '-m', 'Items');
  git('gc', '--quiet');
  const { page, bytes } = await asking(load);
  const { gitProvider } = await load('providers/git.js');
  const provider = await gitProvider({ path: repository });
  const blobs = catFile(repository);
  return {
    turns: {
      list: {
        ours: () => page(provider, 'git:///HEAD/items'),
        async native() {
          const { stdout } = await run('git', ['-C', repository, 'ls-tree', '-l', '-z', 'HEAD:items']);
          return stdout.split('\0').length - 1;
        },
      },
      read: {
        ours: (index) => bytes(provider, `git:///HEAD/items/${nameOf(index)}`),
        native: (index) => blobs.size(`HEAD:items/${nameOf(index)}`),
      },
    },
    async close() {
      await provider.close();
      await blobs.close();
    },
  };
}

/** One process that answers in the order in which it is asked. */
function catFile(repository) {
  const child = startProgram(['git', '-C', repository, 'cat-file', '--batch'], { stdin: 'pipe' });
  /** @type {((bytes: number) => void)[]} */
  const waiting = [];
  let rest = Buffer.alloc(0);
  child.stdout.on('data', (chunk) => {
    rest = rest.byteLength === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      // `<hash> blob <size>`, the content, and a line break.
      const said = rest.toString('latin1', 0, end);
      const size = Number(said.split(' ')[2]);
      if (Number.isNaN(size)) throw new Error(`git cat-file: ${said}`);
      const next = end + 1 + size + 1;
      if (rest.byteLength < next) return;
      waiting.shift()?.(size);
      rest = rest.subarray(next);
    }
  });
  return {
    size: (object) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        child.stdin.write(`${object}\n`);
      }),
    close: () => stop(child),
  };
}
