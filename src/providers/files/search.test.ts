/** Search in folders by ripgrep: finds only shown files, takes arguments as data, and leaves no process behind. */
import { readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../../test/e2e/folders.ts';
import { until } from '../../../test/e2e/waiting.ts';
import { refuseStarts } from '../../../test/processes.ts';
import { refusal, refused, serve } from '../../../test/security/served.ts';
import { createContext } from '../../core/context.ts';
import { MAX_MATCHES_PER_RESOURCE } from '../../core/first-matches.ts';
import type { ResourceProvider, SearchMatch, SearchQuery } from '../../core/provider.ts';
import { searchProvider } from '../../core/search.ts';
import { memoryProvider } from '../memory/index.ts';
import type { FilesOptions } from './config.ts';

async function find(provider: ResourceProvider, query: Partial<SearchQuery>): Promise<SearchMatch[]> {
  const found: SearchMatch[] = [];
  for await (const match of searchProvider(provider, { literal: false, ...query }, createContext())) found.push(match);
  return found;
}

/** The decoded paths of all matches in a folder. */
async function pathsIn(folder: Folder, query: Partial<SearchQuery>, options: Partial<FilesOptions> = {}) {
  await using served = await serve({ path: folder.path, watch: false, ...options });
  return (await find(served.provider, query)).map(({ uri }) => decodeURIComponent(uri.slice('file:///'.length))).sort();
}

/** The processes of ripgrep that this process has started. */
async function ripgreps(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  return stats.filter((stat) => {
    const [, command, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(stat) ?? [];
    return command === 'rg' && Number(parent) === process.pid;
  });
}

describe('search in a folder [CB-7]', () => {
  it('finds files whatever their names are, and leaves out those that no URI names', async () => {
    const names = ['plain.md', 'two  words.md', '100% #1?.md', 'naïve №7 日本.md', 'a+b&c;d=e.md', '-e', '--pre=cat'];
    const odd = ['x\ny.md', 'd\n./plain.md', 'x\n\ny\n'];
    const all = [...names, ...odd].map((name) => [name, 'line\nclock']);
    await using folder = await temporaryFolder(Object.fromEntries(all));
    const expected = [...names].sort();
    expect(await pathsIn(folder, { pattern: 'clock' })).toEqual(expected);
    expect(await pathsIn(folder, { glob: '*' })).toEqual(expected);
  });

  it('finds no file by the part of another name after a line end', async () => {
    await using folder = await temporaryFolder({ 'x\nb.txt': 'clock', 'b.txt': 'other' });
    expect(await pathsIn(folder, { pattern: 'clock' })).toEqual([]);
  });

  it('never finds what is not shown', async () => {
    await using folder = await temporaryFolder({
      'a.txt': 'clock',
      '.hidden': 'clock',
      '.dir/a.txt': 'clock',
      '.git/config': 'clock',
      'CVS/Root': 'clock',
      'server.key': 'clock',
      'server.key.bak': 'clock',
      'ignored/a.txt': 'clock',
      '.gitignore': 'ignored/\n# clock',
      'out/a.txt': 'clock',
    });
    const options = { gitignore: true, exclude: ['out/**'] };
    for (const query of [{ pattern: 'clock' }, { glob: '*' }, { glob: '.*' }, { pattern: 'clock', glob: '**/*' }])
      expect(await pathsIn(folder, query, options)).toEqual('glob' in query && query.glob === '.*' ? [] : ['a.txt']);
    expect(await pathsIn(folder, { pattern: 'clock' }, { ...options, hidden: true })).toEqual(
      ['.dir/a.txt', '.gitignore', '.hidden', 'a.txt'].sort(),
    );
    await using served = await serve({ path: folder.path, watch: false, ...options });
    for (const name of ['.hidden', '.git', 'server.key', 'ignored', 'out/a.txt'])
      expect(await refused(find(served.provider, { pattern: 'clock', uri: `file:///${name}` }))).toBe('not-found');
  });

  it('follows no link, but can start at one', async () => {
    await using outside = await temporaryFolder({ 'secret.txt': 'clock' });
    await using folder = await temporaryFolder({ 'd/a.txt': 'clock' });
    await symlink('d', folder.at('linked'));
    await symlink('d/a.txt', folder.at('linked.txt'));
    await symlink(outside.path, folder.at('outside'));
    expect(await pathsIn(folder, { pattern: 'clock' })).toEqual(['d/a.txt']);
    expect(await pathsIn(folder, { pattern: 'clock', uri: 'file:///linked' })).toEqual(['d/a.txt']);
    expect(await pathsIn(folder, { pattern: 'clock', uri: 'file:///linked.txt' })).toEqual(['d/a.txt']);
    expect(await pathsIn(folder, { glob: 'secret.txt' })).toEqual([]);
    await using served = await serve({ path: folder.path, watch: false });
    expect(await refused(find(served.provider, { pattern: 'clock', uri: 'file:///outside' }))).not.toBe('internal');
  });

  it('searches only the file of a single-file mount', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'clock', 'b.txt': 'clock' });
    const path = folder.at('a.txt');
    for (const uri of [undefined, 'file:///', 'file:///a.txt'])
      expect(await pathsIn(folder, { pattern: 'clock', uri }, { path })).toEqual(['a.txt']);
    expect(await pathsIn(folder, { glob: '*.txt' }, { path })).toEqual(['a.txt']);
    expect(await pathsIn(folder, { pattern: 'clock', glob: 'b*' }, { path })).toEqual([]);
    await using served = await serve({ path, watch: false });
    expect(await refused(find(served.provider, { pattern: 'clock', uri: 'file:///b.txt' }))).toBe('not-found');
  });

  it.each(['--help', '-e', '--files', '--pre=cat', '$(x)', '`x`', '; ls', '-', '--', './', '%s'])(
    'takes %s for text',
    async (text) => {
      await using folder = await temporaryFolder({ 'a.txt': `some ${text} text`, 'b.txt': 'nothing' });
      expect(await pathsIn(folder, { pattern: text, literal: true })).toEqual(['a.txt']);
      if (text !== './') expect(await pathsIn(folder, { pattern: 'some', glob: text })).toEqual([]);
      else await expect(pathsIn(folder, { pattern: 'some', glob: text })).rejects.toMatchObject({ code: 'invalid' });
    },
  );

  it('runs no program that a glob names', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'clock' });
    for (const glob of ['--pre=touch', '--pre touch', '-f/etc/passwd'])
      expect(await pathsIn(folder, { pattern: 'clock', glob })).toEqual([]);
    expect(await readdir(folder.path)).toEqual(['a.txt']);
  });

  it.each(['(', 'a{2,1}', '[z-a]', '(?=a)', '(a)\\1', '\\p{Foo}', 'a\\nb', '(?:a{1000}){1000}{1000}'])(
    'refuses the pattern %s, and says why without saying where',
    async (pattern) => {
      await using folder = await temporaryFolder({ 'a.txt': 'a' });
      await using served = await serve({ path: folder.path, watch: false });
      const error = await refusal(find(served.provider, { pattern }));
      expect(error.code).toBe('invalid');
      expect(error.message).toMatch(/pattern/i);
      expect(error.message).not.toContain(folder.path);
      expect(error.message).not.toMatch(/--\w/);
    },
  );

  it('gives the bytes of the file, in any encoding, and leaves out what is binary', async () => {
    await using folder = await temporaryFolder({
      'bom.txt': '\ufeffone\nclock',
      'crlf.txt': 'one\r\nclock\r\n',
      'latin1.txt': Buffer.from('été clock', 'latin1'),
      'long.txt': `${'x'.repeat(3_000_000)} clock`,
      'utf16.txt': Buffer.from('\ufeffclock\n', 'utf16le'),
      'binary.txt': 'a\0clock',
      'z.txt': 'clock',
    });
    await using served = await serve({ path: folder.path, watch: false });
    const found = await find(served.provider, { pattern: 'clock$' });
    const places = Object.fromEntries(found.map(({ uri, place }) => [uri.slice(8), `${place?.line}:${place?.offset}`]));
    const expected = {
      'bom.txt': '2:7',
      'crlf.txt': '2:5',
      'latin1.txt': '1:4',
      'long.txt': '1:3000001',
      'z.txt': '1:0',
    };
    expect(places).toEqual(expected);
    for (const name of ['binary.txt', 'utf16.txt'])
      expect(await find(served.provider, { pattern: 'clock', uri: `file:///${name}` })).toEqual([]);
  });

  it('ends at a NUL far into a file, and finds matches long before it', async () => {
    await using folder = await temporaryFolder({ 'late.txt': `clock\n${'x'.repeat(300_000)}\0\nclock` });
    await using served = await serve({ path: folder.path, watch: false });
    expect(await find(served.provider, { pattern: 'clock$' })).toEqual([
      { uri: 'file:///late.txt', place: { line: 1, offset: 0 } },
    ]);
  });

  it.each([-1, 0, 1, 5])('says of a file with %i matching lines over the limit whether it has more', async (over) => {
    const text = 'x x\n'.repeat(MAX_MATCHES_PER_RESOURCE + over);
    await using folder = await temporaryFolder({ 'a.txt': text, 'b.txt': 'x', '.c.txt': text });
    await using served = await serve({ path: folder.path, watch: false });
    const found = await find(served.provider, { pattern: 'x' });
    const marked = found.filter(({ more }) => more).map(({ uri, place }) => [uri, place?.line]);
    expect(marked).toEqual(over > 0 ? [['file:///a.txt', MAX_MATCHES_PER_RESOURCE]] : []);
    expect(found).toHaveLength(MAX_MATCHES_PER_RESOURCE + Math.min(0, over) + 1);
  });

  it('is unavailable when the folder is missing', async () => {
    await using folder = await temporaryFolder({ 'a/b.txt': 'clock' });
    await using served = await serve({ path: folder.at('a'), watch: false });
    await rm(folder.at('a'), { recursive: true });
    expect(await refused(find(served.provider, { pattern: 'clock' }))).toBe('unavailable');
  });
});

describe('ripgrep and the search of the memory provider', () => {
  const texts: Readonly<Record<string, string>> = {
    'README.md': '# Clocks\n\nA clock, a Clock; $5 (five)\n',
    'src/a.ts': 'const clock = 1;\r\nconst other = "été";\r\n',
    'src/deep/b.ts': '\tclock\n\nclock clock\nlast line',
    'src/deep/naïve file.txt': 'a.b\nacb\n日本語 clock\n',
    'test/README.md': '',
  };
  let folder: Folder;
  beforeAll(async () => {
    folder = await temporaryFolder(texts);
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  it.each<Partial<SearchQuery>>(
    [
      { pattern: 'clock' },
      { pattern: '(?i)CLOCK' },
      { pattern: '^clock' },
      { pattern: 'clock$' },
      { pattern: ';$' },
      { pattern: '^$' },
      { pattern: '\\bclock\\b' },
      { pattern: 'a.b' },
      { pattern: 'a.b', literal: true },
      { pattern: '$5 (five)', literal: true },
      { pattern: '[0-9]+' },
      { pattern: '(clock ){1,2}' },
      { pattern: 'été|日本' },
      { pattern: '\\p{Han}' },
      { pattern: 'clock', glob: '*.ts' },
      { pattern: 'clock', glob: 'src/*' },
      { pattern: 'clock', glob: 'src/**' },
      { pattern: 'clock', glob: '!*.ts' },
      ...[
        '*.md',
        'README.md',
        'src/**/*.ts',
        '**/deep/*',
        '{src,test}/*',
        '[a-b].ts',
        '[rR][eE][aA]DME*',
        '*.[tT][sS]',
        '*.{[mM][dD],[tT]xt,[tT][sS]}',
        '[sS]rc/**/[ab].ts',
        '{[sS]rc,x}/**',
        'na?ve*',
        '*.{ts,txt}',
        '/README.md',
      ],
      ...['src', 'src/deep/**', 'README.md/**', '!src/**', 'deep/*', '**/*', '*', 'a.*'],
    ].map((query) => (typeof query === 'string' ? { glob: query } : query)),
  )('agree on %j', async (query) => {
    const resources = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { text }]));
    const memory = memoryProvider({ scheme: 'file', resources });
    await using served = await serve({ path: folder.path, watch: false });
    const inOrder = (matches: readonly SearchMatch[]): string[] =>
      matches.map(({ uri, place }) => JSON.stringify([uri, place])).sort();
    for (const uri of [undefined, 'file:///src', 'file:///src/a.ts']) {
      const found = await find(served.provider, { ...query, uri });
      expect(inOrder(found), uri).toEqual(inOrder(await find(memory, { ...query, uri })));
    }
  });
});

describe('a search that is under way', () => {
  const rows = 'clock\n'.repeat(1_000);
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`d/${index}.txt`, rows]));
  let folder: Folder;
  beforeAll(async () => {
    folder = await temporaryFolder(many);
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  async function begin(signal = new AbortController().signal) {
    const served = await serve({ path: folder.path, watch: false });
    const ctx = createContext({ signal });
    const matches = searchProvider(served.provider, { pattern: 'clock', literal: false }, ctx)[Symbol.asyncIterator]();
    expect((await matches.next()).done).toBe(false);
    return { matches, served };
  }

  it('has a process, which ends when the signal is aborted', async () => {
    const caller = new AbortController();
    const { matches, served } = await begin(caller.signal);
    expect(await ripgreps()).toHaveLength(1);
    caller.abort(new Error('gone'));
    await until(async () => (await ripgreps()).length === 0, 'the end of ripgrep');
    const drain = async (): Promise<void> => {
      while (!(await matches.next()).done);
    };
    await expect(drain()).rejects.toThrow('gone');
    await served[Symbol.asyncDispose]();
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)('is unavailable when another program ends it with %s', async (name) => {
    const { matches, served } = await begin();
    const [started = ''] = await ripgreps();
    process.kill(Number.parseInt(started, 10), name);
    const drain = async (): Promise<void> => {
      while (!(await matches.next()).done);
    };
    expect(await refused(drain())).toBe('unavailable');
    await served[Symbol.asyncDispose]();
  });

  it('has no process when it is left early', async () => {
    const { matches, served } = await begin();
    expect(await ripgreps()).toHaveLength(1);
    await matches.return?.();
    expect(await ripgreps()).toEqual([]);
    await served[Symbol.asyncDispose]();
  });

  it.each(['EMFILE', 'ENOMEM'] as const)(
    'is unavailable if the system refuses to start ripgrep: %s',
    async (reason) => {
      await using served = await serve({ path: folder.path, watch: false });
      for (const query of [{ pattern: 'clock' }, { glob: '*' }]) {
        using _refusing = refuseStarts(reason);
        expect(await refusal(find(served.provider, query))).toMatchObject({
          code: 'unavailable',
          message: 'The server has too many open files or programs to search now; try again',
        });
      }
      expect(await find(served.provider, { glob: '1.txt' })).toHaveLength(1);
    },
  );

  it('has no process when it was aborted before it began', async () => {
    await using served = await serve({ path: folder.path, watch: false });
    const ctx = createContext({ signal: AbortSignal.abort(new Error('gone')) });
    const matches = searchProvider(served.provider, { pattern: 'clock', literal: false }, ctx)[Symbol.asyncIterator]();
    await expect(matches.next()).rejects.toThrow('gone');
    expect(await ripgreps()).toEqual([]);
  });

  it('shows nothing of a folder that vanishes, or becomes a link to the outside', async () => {
    await using outside = await temporaryFolder(
      Object.fromEntries([...Array(200).keys()].map((n) => [`${n}.txt`, rows])),
    );
    const { matches, served } = await begin();
    await rename(folder.at('d'), folder.at('moved'));
    await symlink(outside.path, folder.at('d'));
    const later: SearchMatch[] = [];
    for (let next = await matches.next(); !next.done; next = await matches.next()) later.push(next.value);
    // Matches that were checked before the swap may still come; their URIs can no longer be read.
    expect(later.length).toBeLessThan(1_000);
    for (const { uri } of later.slice(0, 3)) await expect(served.text(uri)).rejects.toThrow();
    await rm(folder.at('d'));
    await rename(folder.at('moved'), folder.at('d'));
    await served[Symbol.asyncDispose]();
  });
});
