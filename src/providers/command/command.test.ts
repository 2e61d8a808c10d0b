/** Running programs: they are shared and bounded, have their own environment, and end when nobody reads them. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../../test/e2e/folders.ts';
import { until } from '../../../test/e2e/waiting.ts';
import { longSleep, refuseStarts, running, runningCount } from '../../../test/processes.ts';
import { chunksOf, closeBodies } from '../../core/body.ts';
import { createContext, type Log, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { CommandBlock, CommandOptions } from './config.ts';
import { commandProvider } from './index.ts';

let folder: Folder;
let providers: ResourceProvider[];
beforeEach(async () => {
  folder = await temporaryFolder();
  providers = [];
});
afterEach(async () => {
  await Promise.all(providers.map((each) => each.close?.()));
  await folder[Symbol.asyncDispose]();
});

async function serve(run: CommandOptions['run'], options: Partial<CommandOptions> = {}): Promise<ResourceProvider> {
  const provider = await commandProvider({ run, cwd: folder.path, ...options });
  providers.push(provider);
  return provider;
}

/** A configured program that runs a script in the shell, with these arguments. */
const sh = (script: string, ...args: string[]): string[] => ['sh', '-c', script, 'sh', ...args];

const WANT = { maxBytes: 64 * 1024 * 1024, maxChildren: 10 };

async function read(provider: ResourceProvider, uri: string, ctx = createContext()): Promise<string> {
  const bodies = await provider.read(uri, WANT, ctx);
  try {
    const chunks: Uint8Array[] = [];
    for (const body of bodies) for await (const chunk of chunksOf(body.content)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } finally {
    await closeBodies(bodies);
  }
}

async function refusal(work: Promise<unknown>): Promise<ResourceError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ResourceError) return error;
  throw new Error(`Expected a ResourceError, got ${error}`);
}

/** A pipe at which a program waits until it is opened. */
function gate(name: string): { readonly path: string; open(): Promise<void> } {
  const path = folder.at(name);
  execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', path]);
  return { path, open: () => writeFile(path, 'go on\n') };
}

const lines = async (name: string): Promise<readonly string[]> =>
  existsSync(folder.at(name)) ? (await readFile(folder.at(name), 'utf8')).split('\n').slice(0, -1) : [];

describe('a program with several readers', () => {
  it('runs once, and every reader gets the whole output', async () => {
    const door = gate('door');
    const provider = await serve({ a: sh('echo run >> runs; read _ < door; echo output') });
    const reads = Array.from({ length: 5 }, () => read(provider, 'command:///a'));
    await until(async () => (await lines('runs')).length > 0, 'the program to run');
    await door.open();
    expect(await Promise.all(reads)).toEqual(Array(5).fill('output\n'));
    expect(await lines('runs')).toEqual(['run']);
    const again = read(provider, 'command:///a');
    await door.open();
    await again;
    expect(await lines('runs')).toEqual(['run', 'run']);
  });

  it('goes on for the others when one reader leaves', async () => {
    const door = gate('door');
    const provider = await serve({ a: sh('echo run >> runs; read _ < door; echo output') });
    const leaving = new AbortController();
    const left = refusalOrReason(read(provider, 'command:///a', createContext({ signal: leaving.signal })));
    const stays = read(provider, 'command:///a');
    await until(async () => (await lines('runs')).length > 0, 'the program to run');
    leaving.abort(new Error('gone'));
    expect(await left).toBe('gone');
    await door.open();
    expect(await stays).toBe('output\n');
  });

  it('has its output used again for a while if that is configured', async () => {
    const argv = sh('echo run >> runs; wc -l < runs');
    const provider = await serve({ kept: { argv, ttlSeconds: 3_600 } });
    expect([await read(provider, 'command:///kept'), await read(provider, 'command:///kept')]).toEqual(['1\n', '1\n']);
  });

  it('waits if too many programs run', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `p${index}`);
    const script = 'echo start >> log; echo end >> log; echo $1';
    const provider = await serve(Object.fromEntries(names.map((name) => [name, sh(script, name)])), {
      maxConcurrent: 1,
    });
    const outputs = await Promise.all(names.map((name) => read(provider, `command:///${name}`)));
    expect(outputs).toEqual(names.map((name) => `${name}\n`));
    expect(await lines('log')).toEqual(names.flatMap(() => ['start', 'end']));
  });
});

const refusalOrReason = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error as Error).message,
  );

describe('output', () => {
  it('is read on demand: a slow reader slows the program down', async () => {
    const provider = await serve({ long: sh('head -c 4000000 /dev/zero; echo over > over') });
    const [body] = await provider.read('command:///long', WANT, createContext());
    if (body === undefined) throw new Error('there is no body');
    let bytes = 0;
    let early: boolean | undefined;
    for await (const chunk of chunksOf(body.content)) {
      // The program cannot have ended, because its output is larger than all buffers on the way.
      early ??= existsSync(folder.at('over'));
      bytes += chunk.byteLength;
    }
    expect({ early, bytes }).toEqual({ early: false, bytes: 4_000_000 });
    await until(() => existsSync(folder.at('over')), 'the end of the program');
  });

  it('has a limit, after which the program is ended', async () => {
    const seconds = longSleep();
    const provider = await serve({ endless: { argv: sh(`sleep ${seconds} & yes`), maxBytes: 1_000_000 } });
    expect(await refusal(read(provider, 'command:///endless'))).toMatchObject({
      code: 'too-large',
      uri: 'command:///endless',
      details: { limit: 1_000_000 },
    });
    await runningCount(seconds, 0);
  });

  it('of a program that fails ends in an error, however long it was, and only the log has the reason', async () => {
    const said: unknown[] = [];
    const log: Log = { ...SILENT, warn: (message, facts) => void said.push({ message, ...facts }) };
    const argv = sh('yes | head -c 900000; echo "password is hunter2" >&2; exit 3');
    const provider = await serve({ fails: argv, soon: sh('echo half; exit 1'), absent: ['no-such-program'] });
    const failed = await refusal(read(provider, 'command:///fails', createContext({ log })));
    expect(failed).toMatchObject({ code: 'unavailable', message: 'The program failed', details: {} });
    expect(said).toMatchObject([{ message: 'a program failed', code: 3, stderr: 'password is hunter2\n' }]);
    expect(await refusal(read(provider, 'command:///soon'))).toMatchObject({ code: 'unavailable' });
    const absent = await refusal(read(provider, 'command:///absent'));
    expect(absent).toMatchObject({ code: 'unavailable', message: 'The program cannot be started' });
  });
});

describe('a program that cannot be started because too many files are open', () => {
  const run = { a: { argv: ['echo', 'output'], follow: sh(`echo now; exec sleep ${longSleep()}`) } };

  it('is unavailable, and takes no place from later ones', async () => {
    const provider = await serve(run, { maxConcurrent: 1 });
    {
      using _refusing = refuseStarts();
      for (let round = 0; round < 2; round++)
        expect(await refusal(read(provider, 'command:///a'))).toMatchObject({
          code: 'unavailable',
          message: 'The program cannot be started',
        });
    }
    expect(await read(provider, 'command:///a')).toBe('output\n');
  });

  it('is not followed', async () => {
    const provider = await serve(run, { maxFollowed: 1 });
    const watch = (): Promise<AsyncDisposable | undefined> =>
      Promise.resolve(provider.watch?.('command:///a', () => {}, createContext()));
    {
      using _refusing = refuseStarts();
      expect(await refusal(watch())).toMatchObject({ code: 'unavailable' });
    }
    await using _watch = await watch();
  });
});

describe('nothing is left running', () => {
  /** A program that starts two others and waits; each has the seconds in its command line. */
  const family = (seconds: string): string[] => sh(`sleep ${seconds} & (sleep ${seconds} & wait) & wait`);

  it('when the caller leaves', async () => {
    const seconds = longSleep();
    const provider = await serve({ a: family(seconds) });
    const caller = new AbortController();
    const asked = refusalOrReason(read(provider, 'command:///a', createContext({ signal: caller.signal })));
    await until(async () => (await running(`sleep ${seconds}`)).length >= 2, 'the programs');
    caller.abort(new Error('gone'));
    expect(await asked).toBe('gone');
    await runningCount(seconds, 0);
  });

  it('when a stream is left in the middle', async () => {
    const seconds = longSleep();
    const provider = await serve({ a: sh(`sleep ${seconds} & yes`) });
    const bodies = await provider.read('command:///a', WANT, createContext());
    for (const body of bodies) for await (const _chunk of chunksOf(body.content)) break;
    await closeBodies(bodies);
    await runningCount(seconds, 0);
  });

  it('when the time of a program is up, even if the program ignores SIGTERM', async () => {
    const seconds = longSleep();
    const stubborn = sh(`trap '' TERM; sleep ${seconds} & while :; do sleep ${seconds}; done`);
    const provider = await serve({ a: { argv: stubborn, timeoutSeconds: 0.2 } });
    expect(await refusal(read(provider, 'command:///a'))).toMatchObject({ code: 'timeout', retryable: true });
    await runningCount(seconds, 0);
  });

  it('when a program ends and leaves other processes behind', async () => {
    const seconds = longSleep();
    const provider = await serve({ a: sh(`sleep ${seconds} & echo done`) });
    expect(await read(provider, 'command:///a')).toBe('done\n');
    await runningCount(seconds, 0);
  });

  it('when the provider has been closed, which waits for the end of all programs', async () => {
    const seconds = longSleep();
    const follow = sh(`echo now; sleep ${seconds}`);
    const provider = await serve(
      {
        ...Object.fromEntries(['a', 'b', 'c'].map((name) => [name, [...family(seconds), name]])),
        f: { argv: ['true'], follow },
      },
      { maxConcurrent: 2 },
    );
    const reads = ['a', 'b', 'c'].map((name) => refusal(read(provider, `command:///${name}`)));
    await provider.watch?.('command:///f', () => {}, createContext());
    await until(async () => (await running(`sleep ${seconds}`)).length >= 5, 'the programs');
    await provider.close?.();
    expect(await running(seconds)).toEqual([]);
    expect((await Promise.all(reads)).map(({ code }) => code)).toEqual(Array(3).fill('unavailable'));
    expect(await refusal(read(provider, 'command:///a'))).toMatchObject({ code: 'unavailable' });
    const late = Promise.resolve(provider.watch?.('command:///f', () => {}, createContext()));
    expect(await refusal(late)).toMatchObject({ code: 'unavailable' });
    expect(await running(seconds)).toEqual([]);
  });

  it('when the caller of a watch leaves before the watch has begun', async () => {
    const seconds = longSleep();
    const provider = await serve({ f: { argv: ['true'], follow: ['sleep', seconds] } });
    const caller = new AbortController();
    const asked = Promise.resolve(provider.watch?.('command:///f', () => {}, createContext({ signal: caller.signal })));
    await runningCount(seconds, 1);
    caller.abort(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
    await runningCount(seconds, 0);
  });
});

describe('the place of a program', () => {
  it('has the variables that the program may see, and no others', async () => {
    const environment = { PATH: process.env.PATH, SECRET: 'hunter2', TZ: 'UTC', LANG: 'C' };
    const provider = await serve(
      { some: ['env'], own: { argv: ['env'], env: { B: 'own', C: '3' } } },
      { environment, passEnv: ['PATH', 'TZ'], env: { A: '1', B: '2' } },
    );
    const seen = async (name: string): Promise<readonly string[]> =>
      (await read(provider, `command:///${name}`)).trim().split('\n').sort();
    expect(await seen('some')).toEqual(['A=1', 'B=2', `PATH=${process.env.PATH}`, 'TZ=UTC']);
    expect(await seen('own')).toEqual(['A=1', 'B=own', 'C=3', `PATH=${process.env.PATH}`, 'TZ=UTC']);
    const usual = await serve({ all: ['env'] }, { environment });
    expect(await read(usual, 'command:///all')).not.toContain('hunter2');
  });

  it('has a folder, and no standard input', async () => {
    await folder.write('below/here.txt', 'here');
    const provider = await serve({ a: { argv: ['cat', 'here.txt', '-'], cwd: 'below' } });
    expect(await read(provider, 'command:///a')).toBe('here');
  });
});

describe('a change [RES-4]', () => {
  it('is reported when the output differs, and not when it is the same', async () => {
    await folder.write('state', 'one');
    const provider = await serve({ a: { argv: sh('echo run >> runs; cat state'), watch: { everySeconds: 0.02 } } });
    const told: string[] = [];
    const watch = await provider.watch?.('command:///a', (event) => told.push(JSON.stringify(event)), createContext());
    const looked = (await lines('runs')).length;
    await until(async () => (await lines('runs')).length > looked + 2, 'further looks');
    expect(told).toEqual([]);
    await folder.write('state', 'two');
    await until(() => told.length > 0, 'the change');
    expect(told[0]).toBe('{"kind":"updated","uri":"command:///a"}');
    await watch?.[Symbol.asyncDispose]();
    const after = (await lines('runs')).length;
    await until(async () => (await read(provider, 'command:///a')) === 'two', 'another read');
    expect((await lines('runs')).length).toBe(after + 1);
  });

  it('of a growing log is reported by a program that follows it, and then the log is read again', async () => {
    await folder.write('app.log', 'first\n');
    const follow = ['tail', '-n', '1', '-F', folder.at('app.log')];
    const provider = await serve({ 'app.log': { argv: ['tail', '-n', '2', 'app.log'], follow } });
    let told = 0;
    const change = (): void => void told++;
    const one = await provider.watch?.('command:///app.log', change, createContext());
    const other = await provider.watch?.('command:///app.log', change, createContext());
    expect((await running(folder.at('app.log'))).length).toBe(1);
    const append = (text: string): Promise<void> => writeFile(folder.at('app.log'), text, { flag: 'a' });
    await append('second\n');
    await until(() => told >= 2, 'both to be told');
    expect(await read(provider, 'command:///app.log')).toBe('first\nsecond\n');
    await one?.[Symbol.asyncDispose]();
    const before = told;
    await append('third\n');
    await until(() => told > before, 'the one that is left to be told');
    await other?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
    expect(await running(folder.at('app.log'))).toEqual([]);
  });

  it('that may have been missed while the following program was not running is reported when it runs again', async () => {
    const provider = await serve({ a: { argv: ['true'], follow: sh('echo run >> runs; echo now; exec sleep 0.1') } });
    let told = 0;
    await using _watch = await provider.watch?.('command:///a', () => void told++, createContext());
    await until(() => told >= 2, 'the change to be told');
    expect((await lines('runs')).length).toBeGreaterThanOrEqual(3);
  });

  it('is watched for by a limited number of following programs, and not by a program that cannot be started', async () => {
    const block = (program: string): CommandBlock => ({ argv: ['true'], follow: [program, longSleep()] });
    const run = { a: block('sleep'), b: block('sleep'), c: block('no-such-program') };
    const provider = await serve(run, { maxFollowed: 1 });
    const watch = (name: string): Promise<AsyncDisposable | undefined> =>
      Promise.resolve(provider.watch?.(`command:///${name}`, () => {}, createContext()));
    expect(await refusal(watch('c'))).toMatchObject({ code: 'unavailable' });
    await using _one = await watch('a');
    expect(await refusal(watch('b'))).toMatchObject({ code: 'limited', details: { limit: 1 } });
  });
});
