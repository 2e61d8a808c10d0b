/** One process at a time writes an audit file, across containers and machines. A process that has died does not keep others out (RES-9). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LEASE_MS } from '../../src/layers/audit/lock.ts';
import { thisProcess } from '../../src/layers/audit/owner.ts';
import { verifyAudit } from '../../src/layers/audit/verify.ts';
import { type Outcome, vitrine } from '../cli/run.ts';
import { read } from '../e2e/answers.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { CLI, connectHttp, ROOT } from '../e2e/harness.ts';
import { startProgram } from '../e2e/programs.ts';
import { PATIENCE_MS, until, within } from '../e2e/waiting.ts';
import { linesOf } from './audit-lines.ts';

const RACER = fileURLToPath(new URL('audit-racer.mjs', import.meta.url));
const LIBRARY = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

let folder: Folder;
let config: string;
let file: string;
let lock: string;

beforeEach(async () => {
  folder = await temporaryFolder({ 'docs/a.txt': 'a', 'docs/b.txt': 'b' });
  config = await writeConfig(folder, { mounts: { docs: './docs' }, audit: { file: 'audit.jsonl' } });
  file = folder.at('audit.jsonl');
  lock = `${file}.lock`;
});

afterEach(() => folder[Symbol.asyncDispose]());

const here = thisProcess('0');
/** A process of another container, under the same kernel. */
const elsewhere = { ...here, pid: 1, namespace: 'pid:[1]' };
const onAnotherMachine = { ...here, boot: '00000000-0000-4000-8000-000000000000', host: 'other' };
/** A process whose id no process has. */
const dead = { ...here, pid: 4_194_304 };
/** A process whose id was given to another one: to this process. */
const reused = { ...here, started: '1' };

async function leave(content: object | string, age = 0): Promise<void> {
  await writeFile(lock, typeof content === 'string' ? content : JSON.stringify(content));
  const time = (Date.now() - age) / 1_000;
  await utimes(lock, time, time);
}

const refused = async (): Promise<Outcome> => vitrine(['serve', config]);

describe('an audit file with a lock', () => {
  it.each<[string, object | string, number]>([
    ['of a process that is gone', dead, 0],
    ['of a process whose number another one has by now', reused, 0],
    ['of another container that gave no sign for long', elsewhere, LEASE_MS * 3],
    ['of another machine that gave no sign for long', onAnotherMachine, LEASE_MS * 3],
    ['that says nothing, for long', '', LEASE_MS * 3],
    ['that says something else, for long', 'mine!', LEASE_MS * 3],
    ['of another kind, for long', '1234', LEASE_MS * 3],
  ])('%s is taken over', async (_name, content, age) => {
    await leave(content, age);
    await using server = await startProgram([config]);
    expect(JSON.parse(await readFile(lock, 'utf8'))).toMatchObject({ pid: server.process.pid });
    await server.stop();
    expect((await linesOf(file)).at(-1)?.event).toBe('end');
    await expect(readFile(lock)).rejects.toThrow('ENOENT');
  });

  it.each<[string, object | string, RegExp]>([
    ['of a process that runs', here, /is being written by process \d+; give each server/],
    [
      'of another container',
      elsewhere,
      /may be written by process 1 of .*, which is not visible from here.* start again in \d+ s, or remove \S+\.lock/,
    ],
    [
      'of another machine',
      onAnotherMachine,
      /may be written by process \d+ of other, .*remove \S+\.lock to take the file over at once/,
    ],
    ['that says nothing yet', '', /may be written by another process/],
    ['that says something else', '{"pid":"1"}', /may be written by another process/],
  ])('%s is respected: %s', async (_name, content, said) => {
    await leave(content);
    const { status, stderr } = await refused();
    expect([status, stderr]).toEqual([2, expect.stringMatching(said)]);
    expect(await readFile(lock, 'utf8')).toBe(typeof content === 'string' ? content : JSON.stringify(content));
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });

  it('of a running process is not taken over, however old it is', async () => {
    await leave(here, LEASE_MS * 10);
    expect((await refused()).stderr).toContain('is being written by process');
  });

  it('is the same for all names of the file', async () => {
    await using _server = await startProgram([config]);
    await symlink(file, folder.at('alias.jsonl'));
    await symlink(folder.path, `${folder.path}-alias`);
    try {
      for (const name of [folder.at('alias.jsonl'), `${folder.path}-alias/audit.jsonl`]) {
        const other = await writeConfig(folder, { mounts: { docs: './docs' }, audit: { file: name } }, 'other.yaml');
        expect(await vitrine(['serve', '--config', other])).toMatchObject({
          status: 2,
          stderr: expect.stringContaining('is being written by'),
        });
      }
    } finally {
      await rm(`${folder.path}-alias`);
    }
  });
});

/** Starts a server in its own process id namespace, as in a container. */
async function startApart(): Promise<ChildProcess> {
  const child = spawn('unshare', [...APART, process.execPath, CLI, 'serve', config, '--http', '0'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await until(() => output.includes('Endpoint: '), 'a server in a namespace of its own');
  return child;
}

const APART = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child'];
/** Not every system allows namespaces of process ids. On other systems, only the tests of locks above cover this case. */
const apart = spawnSync('unshare', [...APART, 'true']).status === 0 ? ['a namespace of its own'] : [];

describe.each(apart)('a server in %s', () => {
  it('keeps out a server outside and is kept out by it; the server outside takes over after the other was killed and its lock is stale', async () => {
    const inside = await startApart();
    expect(await refused()).toMatchObject({ status: 2, stderr: expect.stringContaining('may be written by process') });
    const ended = once(inside, 'close');
    inside.kill('SIGKILL');
    await within(ended, 'the end of a server in a namespace');
    const time = (Date.now() - LEASE_MS * 2) / 1_000;
    await utimes(lock, time, time);
    await using _outside = await startProgram([config]);
    const { stderr, status } = spawnSync('unshare', [...APART, process.execPath, CLI, 'serve', config], {
      cwd: ROOT,
      timeout: PATIENCE_MS,
    });
    expect([status, stderr.toString()]).toEqual([2, expect.stringContaining('may be written by process')]);
    expect((await verifyAudit(file)).findings).toEqual([]);
  });
});

describe('a server whose lock', () => {
  const uris = async (): Promise<readonly unknown[]> => (await linesOf(file)).flatMap(({ uri }) => uri ?? []);

  it('was removed creates it again, and keeps others out', async () => {
    await using server = await startProgram([config]);
    await using on = await connectHttp('modern', server);
    await rm(lock);
    await read(on, 'docs+file:///a.txt');
    await until(async () => (await uris()).length > 0, 'a line');
    expect((await refused()).stderr).toContain(`is being written by process ${server.process.pid}`);
  });

  it('was taken while it was suspended, as can happen, writes nothing more until the other server ends', async () => {
    await using first = await startProgram([config]);
    await using on = await connectHttp('modern', first);
    await read(on, 'docs+file:///a.txt');
    await until(async () => (await uris()).length === 1, 'a line of the first server');
    first.process.kill('SIGSTOP');
    // The lock is written in place, so it stays the same file, as if a server on another machine had written it.
    await leave(onAnotherMachine, LEASE_MS * 2);
    const second = await startProgram([config]);
    first.process.kill('SIGCONT');
    await read(on, 'docs+file:///b.txt');
    await until(
      () => first.output().includes(`is being written by process ${second.process.pid}`),
      'the log of the first',
    );
    expect(await uris()).toEqual(['docs+file:///a.txt']);
    expect((await verifyAudit(file)).findings).toEqual([]);
    await second.stop();
    await until(async () => (await uris()).length === 2, 'the line that waited');
    // The first server cannot know what the second one was allowed to do, so a reader of the audit is told.
    expect((await linesOf(file)).map(({ why }) => why).filter(Boolean)).toEqual(['appended']);
  });
});

describe('servers that start at the same instant', () => {
  interface Racer {
    readonly child: ChildProcess;
    say(line: string): Promise<string>;
  }

  async function racer(): Promise<Racer> {
    const child = spawn(process.execPath, [RACER, LIBRARY], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<string> => (await within(lines.next(), 'a line of a racer')).value as string;
    await next();
    return {
      child,
      say(line) {
        child.stdin.write(`${line}\n`);
        return next();
      },
    };
  }

  it.each<[string, ((path: string) => Promise<void>) | undefined]>([
    ['no lock', undefined],
    ['a lock of a process that is gone', (path) => writeFile(path, JSON.stringify(dead))],
    [
      'a lock of a machine that gave no sign for long',
      async (path) => {
        await writeFile(path, JSON.stringify(onAnotherMachine));
        await utimes(path, 1_000, 1_000);
      },
    ],
  ])('become one that writes and others that are refused, 20 times: %s', async (_name, prepare) => {
    const racers = await Promise.all(Array.from({ length: 4 }, racer));
    try {
      for (let round = 0; round < 20; round++) {
        const path = folder.at(`race-${round}.jsonl`);
        await prepare?.(`${path}.lock`);
        const said = await Promise.all(racers.map(({ say }) => say(path)));
        expect(said.filter((each) => each === 'writes')).toHaveLength(1);
        for (const each of said)
          expect(each).toMatch(/^writes$|^refused: The audit file .* (?:is being|may be) (?:written|taken) by/);
        await Promise.all(racers.map(({ say }) => say('close')));
        expect((await verifyAudit(path)).findings).toEqual([]);
        expect((await linesOf(path)).map(({ event }) => event)).toEqual(['start', 'end']);
      }
    } finally {
      for (const { child } of racers) child.kill();
    }
  });
});
