import { getEventListeners } from 'node:events';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuseStarts } from '../../../test/processes.ts';
import { createContext } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { NAMES } from '../../protocol/resources.ts';
import { codeOf, type Scene, scene, textOf } from '../../testing/git-scene.ts';
import { EVERYTHING, listAll, urisOf } from '../../testing/observe.ts';
import { gitProvider } from './index.ts';

const ctx = createContext();

describe.each(['trünk', '日本', 'a"b$c'])('a repository whose branch is %s', (branch) => {
  it.each(['as a file', 'as a link'])('shows HEAD, its history and its commits: HEAD %s', async (how) => {
    await using place = await scene();
    await place.write('a.txt', 'one\n');
    const oid = place.commit('First');
    place.git('branch', '-m', branch);
    if (how === 'as a link') {
      await rm(join(place.directory, '.git/HEAD'));
      await symlink(`refs/heads/${branch}`, join(place.directory, '.git/HEAD'));
    }
    const provider = await place.open();
    expect(await textOf(provider, 'git:///HEAD/a.txt')).toBe('one\n');
    expect(urisOf(await listAll(provider, 'git:///commits', 10))).toEqual([`git:///commits/${oid}`]);
  });
});

describe('a repository', () => {
  let place: Scene;
  let first = '';
  let second = '';
  let dropped = '';
  beforeAll(async () => {
    place = await scene();
    await place.write('a.txt', 'one\n');
    await place.write('b c.md', '# B\n');
    first = place.commit('First\n\nWhy it begins.');
    place.git('tag', '-a', '-m', 'Version 1', 'v1');
    await place.write('a.txt', 'one\ntwo\n');
    second = place.commit('Second `with` *marks*');
    place.git('branch', 'feature/x', first);
    place.git('tag', 'a-file', place.git('rev-parse', 'HEAD:a.txt'));
    dropped = place.git('commit-tree', '-m', 'Taken back', `${first}^{tree}`);
  });
  afterAll(() => place[Symbol.asyncDispose]());

  it('shows HEAD, branches, tags and commits, each with its tree [2093-4]', async () => {
    await using own = await opened();
    const { provider } = own;
    const root = await listAll(provider, 'git:///', 1);
    expect(urisOf(root)).toEqual(['git:///HEAD', 'git:///branches', 'git:///tags', 'git:///commits']);
    expect(urisOf(await listAll(provider, 'git:///branches', 1))).toEqual([
      'git:///branches/feature~2Fx',
      'git:///branches/main',
    ]);
    expect(urisOf(await listAll(provider, 'git:///tags', 1))).toEqual(['git:///tags/a-file', 'git:///tags/v1']);
    expect(urisOf(await listAll(provider, 'git:///commits', 1))).toEqual([
      `git:///commits/${second}`,
      `git:///commits/${first}`,
    ]);
    expect(urisOf(await listAll(provider, 'git:///HEAD', 1))).toEqual(['git:///HEAD/a.txt', 'git:///HEAD/b%20c.md']);
    expect(await textOf(provider, 'git:///HEAD/a.txt')).toBe('one\ntwo\n');
    for (const old of ['branches/feature~2Fx', 'tags/v1', `commits/${first}`])
      expect(await textOf(provider, `git:///${old}/a.txt`)).toBe('one\n');
    expect(await textOf(provider, 'git:///tags/a-file')).toBe('one\ntwo\n');
  });

  it('has only HEAD in a walk over everything', async () => {
    await using own = await opened();
    const page = await own.provider.list('git:///', { limit: 10, containersOnly: true }, ctx);
    expect(urisOf(page.resources)).toEqual(['git:///HEAD']);
  });

  it('gives size, type, time and hash of a file without reading it', async () => {
    await using own = await opened();
    expect(await own.provider.metadata('git:///tags/v1/b%20c.md', ctx)).toEqual({
      uri: 'git:///tags/v1/b%20c.md',
      name: 'b c.md',
      mimeType: 'text/markdown',
      size: 4,
      annotations: {
        lastModified: new Date(Number(place.git('show', '-s', '--format=%ct', first)) * 1_000).toISOString(),
      },
      capabilities: { list: false, subscribe: true },
      _meta: {
        'vitrine/etag': place.git('rev-parse', 'v1:b c.md'),
        'vitrine/git': { hash: place.git('rev-parse', 'v1:b c.md'), mode: '100644' },
      },
      [NAMES]: { paths: ['b c.md'] },
    });
  });

  it('has the history of a path, page by page, and refuses an altered cursor', async () => {
    await using own = await opened();
    const { provider } = own;
    const log = 'git:///log/HEAD/a.txt';
    expect(urisOf(await listAll(provider, 'git:///log/HEAD/b%20c.md'))).toEqual([`git:///commit/commits/${first}`]);
    const page = await provider.list(log, { limit: 1 }, ctx);
    expect(page.resources).toMatchObject([{ uri: `git:///commit/commits/${second}`, title: 'Second `with` *marks*' }]);
    const next = await provider.list(log, { limit: 1, cursor: page.nextCursor }, ctx);
    expect(urisOf(next.resources)).toEqual([`git:///commit/commits/${first}`]);
    expect(next.nextCursor).toBeUndefined();
    const altered = page.nextCursor?.replace(/:[^:]*$/, `:${first}`);
    expect(await codeOf(provider.list(log, { limit: 1, cursor: altered }, ctx))).toBe('invalid');
  });

  it('has each commit as Markdown and as JSON, with links to parents and files [2093-6]', async () => {
    await using own = await opened();
    const uri = `git:///commit/commits/${second}`;
    const markdown = await textOf(own.provider, uri);
    expect(markdown).toContain('# Second \\`with\\` \\*marks\\*');
    expect(markdown).toContain(`- Parent: [${first}](/commit/commits/${first})`);
    expect(markdown).toContain(`- changed: [a.txt](/commits/${second}/a.txt)`);
    const json = JSON.parse(await textOf(own.provider, uri, { accept: ['application/json'] }));
    expect(json).toMatchObject({
      commit: second,
      author: { name: 'Ada', email: 'ada@example.com' },
      parents: [{ commit: first }],
      files: [{ path: 'a.txt', change: 'changed', link: `/commits/${second}/a.txt` }],
    });
    const root = JSON.parse(await textOf(own.provider, 'git:///commit/tags/v1', { accept: ['application/json'] }));
    expect(root).toMatchObject({ commit: first, body: 'Why it begins.', parents: [] });
    expect(root.files.map((file: { path: string; change: string }) => [file.path, file.change])).toEqual([
      ['a.txt', 'added'],
      ['b c.md', 'added'],
    ]);
  });

  it('has the changes of a commit, the differences of two, and the author of each line', async () => {
    await using own = await opened();
    const { provider } = own;
    const diff = await textOf(provider, 'git:///diff/HEAD');
    expect(diff).toContain('+two');
    expect(diff).not.toContain(second);
    expect(await textOf(provider, 'git:///diff/tags/v1/a.txt')).toContain('new file mode 100644');
    expect(await textOf(provider, 'git:///compare/HEAD/tags/v1')).toContain('-two');
    expect(await textOf(provider, 'git:///compare/tags/v1/branches/feature~2Fx')).toBe('');
    const blame = await textOf(provider, 'git:///blame/HEAD/a.txt');
    expect(blame.split('\n').map((line) => line.slice(0, 10))).toEqual([first.slice(0, 10), second.slice(0, 10), '']);
    expect(blame).toMatch(/Ada +\d{4}-\d\d-\d\d 2\) two\n$/);
    const json = JSON.parse(await textOf(provider, 'git:///blame/HEAD/a.txt', { accept: ['application/json'] }));
    expect(json.lines).toEqual([
      { start: 1, count: 1, commit: first },
      { start: 2, count: 1, commit: second },
    ]);
    expect(json.commits[first]).toMatchObject({ author: 'Ada', summary: 'First' });
  });

  it('hides unreachable commits, and what its options hide', async () => {
    await using own = await opened({ branches: false, tags: false });
    const { provider } = own;
    for (const uri of [
      `git:///commits/${dropped}`,
      `git:///commit/commits/${dropped}`,
      'git:///tags',
      'git:///tags/v1',
    ])
      expect([uri, await codeOf(provider.metadata(uri, ctx))]).toEqual([uri, 'not-found']);
    expect(await textOf(provider, `git:///commits/${first}/a.txt`)).toBe('one\n');
    await using less = await opened({ commits: false });
    for (const uri of [
      'git:///commits',
      'git:///log/HEAD',
      'git:///diff/HEAD',
      'git:///blame/HEAD/a.txt',
      'git:///commit/HEAD',
    ])
      expect([uri, await codeOf(less.provider.metadata(uri, ctx))]).toEqual([uri, 'not-found']);
  });

  it('finds texts with git grep, expressions in linear time, and names', async () => {
    await using own = await opened();
    const found = async (query: object): Promise<unknown[]> => {
      const matches: unknown[] = [];
      for await (const match of own.provider.search?.({ literal: false, ...query }, ctx) ?? []) {
        const { uri, place } = match;
        matches.push({ uri, ...(place && { place }) });
      }
      return matches;
    };
    const two = [{ uri: 'git:///HEAD/a.txt', place: { line: 2, offset: 4 } }];
    expect(await found({ pattern: 'two', literal: true })).toEqual(two);
    expect(await found({ pattern: '^tw.$' })).toEqual(two);
    expect(await found({ pattern: 'two', literal: true, glob: '*.md' })).toEqual([]);
    expect(await found({ pattern: 'two', literal: true, uri: 'git:///tags/v1' })).toEqual([]);
    expect(await found({ glob: '*.md' })).toEqual([{ uri: 'git:///HEAD/b%20c.md' }]);
    expect(await found({ pattern: '--open-files-in-pager=id', literal: true })).toEqual([]);
  });

  it('finds a plain text at the paths at which it finds an expression', async () => {
    await using deep = await scene();
    await mkdir(join(deep.directory, 'one', 'two'), { recursive: true });
    await deep.write('one/two/a.txt', 'a brass clock\n');
    deep.commit('Deep');
    const provider = await gitProvider({ path: deep.directory });
    const paths = async (literal: boolean, uri: string): Promise<unknown[]> => {
      const found: unknown[] = [];
      for await (const { path } of provider.search?.({ pattern: 'clock', literal, uri }, ctx) ?? []) found.push(path);
      return found;
    };
    for (const literal of [true, false]) {
      expect(await paths(literal, 'git:///HEAD')).toEqual(['one/two/a.txt']);
      expect(await paths(literal, 'git:///HEAD/one')).toEqual(['two/a.txt']);
    }
    await provider.close?.();
  });

  it('runs the next command if the system refuses to start one', async () => {
    await using own = await opened({ maxProcesses: 1 });
    // Arguments that are too long make the start throw at once; a missing program would be reported as an event.
    expect(await codeOf(searched(own.provider, 'x'.repeat(3_000_000)))).toBe('too-large');
    expect(await searched(own.provider, 'two')).toEqual(['git:///HEAD/a.txt']);
  });

  it.each(['EMFILE', 'ENOMEM'] as const)(
    'is unavailable while git cannot be started, and works again: %s',
    async (reason) => {
      await using own = await opened();
      const { provider } = own;
      const aborted = new AbortController();
      const read = (signal = new AbortController().signal): Promise<unknown> =>
        provider.read('git:///HEAD/a.txt', EVERYTHING, createContext({ signal }));
      {
        using _refusing = refuseStarts(reason);
        const codes = Array.from({ length: 5 }, () => codeOf(read()));
        expect(await Promise.all(codes)).toEqual(Array(5).fill('unavailable'));
        expect(await codeOf(read(aborted.signal))).toBe('unavailable');
      }
      expect(getEventListeners(aborted.signal, 'abort')).toEqual([]);
      expect(await textOf(provider, 'git:///HEAD/a.txt')).toBe('one\ntwo\n');
    },
  );

  it('is unavailable when git is killed and cannot be started again, and works again', async () => {
    await using own = await openedWithProcesses();
    const { provider, started } = own;
    expect(await textOf(provider, 'git:///HEAD/a.txt')).toBe('one\ntwo\n');
    {
      using _refusing = refuseStarts('ENOMEM');
      const [pid = 0] = await started();
      process.kill(pid, 'SIGSTOP');
      const reads = Array.from({ length: 5 }, () => codeOf(textOf(provider, 'git:///HEAD/a.txt')));
      process.kill(pid, 'SIGKILL');
      expect(await Promise.all(reads)).toEqual(Array(5).fill('unavailable'));
    }
    expect(await textOf(provider, 'git:///HEAD/a.txt')).toBe('one\ntwo\n');
  });

  it('answers many requests at a time, goes on when git is killed, and refuses after it was closed', async () => {
    await using own = await openedWithProcesses();
    const { provider, started } = own;
    const uris = ['git:///HEAD/a.txt', 'git:///tags/v1/a.txt', 'git:///HEAD/b%20c.md'];
    const expected = ['one\ntwo\n', 'one\n', '# B\n'];
    expect(await textOf(provider, 'git:///HEAD/a.txt')).toBe('one\ntwo\n');
    const reads = Array.from({ length: 300 }, (_, index) => textOf(provider, uris[index % 3] ?? ''));
    const [pid = 0] = await started();
    process.kill(pid, 'SIGKILL');
    expect(await Promise.all(reads)).toEqual(reads.map((_, index) => expected[index % 3]));
    expect(await textOf(provider, 'git:///HEAD/a.txt')).toBe('one\ntwo\n');
    // One process answered until it was killed, and another one answered the rest.
    expect(await started()).toHaveLength(2);
    await provider.close?.();
    expect(await codeOf(provider.read('git:///HEAD/a.txt', { maxBytes: 10, maxChildren: 1 }, ctx))).toBe('unavailable');
  });

  async function searched({ search }: ResourceProvider, pattern: string): Promise<string[]> {
    const uris: string[] = [];
    for await (const { uri } of search?.({ pattern, literal: true }, ctx) ?? []) uris.push(uri);
    return uris;
  }

  interface Opened extends AsyncDisposable {
    readonly provider: Awaited<ReturnType<typeof gitProvider>>;
  }
  /** Opens the repository, and notes the processes that read objects. */
  async function openedWithProcesses(): Promise<Opened & { started(): Promise<number[]> }> {
    const scripts = await scene();
    const pids = join(scripts.directory, 'pids');
    const program = join(scripts.directory, 'git');
    await writeFile(program, `#!/bin/sh\ncase "$*" in *batch*) echo $$ >> ${pids} ;; esac\nexec git "$@"\n`, {
      mode: 0o755,
    });
    const own = await opened({ program });
    return {
      provider: own.provider,
      started: async () => (await readFile(pids, 'utf8')).trim().split('\n').map(Number),
      async [Symbol.asyncDispose]() {
        await own[Symbol.asyncDispose]();
        await scripts[Symbol.asyncDispose]();
      },
    };
  }
  async function opened(options: object = {}): Promise<Opened> {
    const provider = await gitProvider({ path: place.directory, ...options });
    return { provider, [Symbol.asyncDispose]: async () => provider.close?.() };
  }
});
