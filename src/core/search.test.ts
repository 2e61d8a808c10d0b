/** Search by reading, for providers that cannot search by themselves: what it finds, and that it ends. */
import { describe, expect, it } from 'vitest';
import { refused } from '../../test/security/served.ts';
import { type MemoryResource, memoryProvider } from '../providers/memory/index.ts';
import { createContext, SILENT } from './context.ts';
import { ResourceError } from './errors.ts';
import { MAX_MATCHES_PER_RESOURCE } from './first-matches.ts';
import { globFilter } from './glob/filter.ts';
import { wrapProvider } from './layer.ts';
import { mountTree } from './mounts.ts';
import { createNotes, type MissingPart } from './notes.ts';
import type { ResourceProvider, SearchMatch, SearchQuery } from './provider.ts';
import { MAX_PATTERN_LENGTH, searchProvider } from './search.ts';

async function find(
  provider: ResourceProvider,
  query: Partial<SearchQuery>,
  signal = new AbortController().signal,
): Promise<SearchMatch[]> {
  const found: SearchMatch[] = [];
  for await (const match of searchProvider(provider, { literal: false, ...query }, createContext({ signal })))
    found.push(match);
  return found;
}

/** Counts texts by their names, with what was logged and noted meanwhile. */
async function countNames(provider: ResourceProvider) {
  const warned: unknown[] = [];
  const missing: MissingPart[] = [];
  const log = { ...SILENT, warn: (...words: unknown[]) => void warned.push(words) };
  const notes = { ...createNotes(), missing: (part: MissingPart) => void missing.push(part) };
  let found = 0;
  for await (const _ of searchProvider(provider, { glob: '*.txt', literal: false }, createContext({ log, notes })))
    found++;
  return { found, warned, missing };
}

const memory = (resources: Readonly<Record<string, MemoryResource>>, name = 'm') => memoryProvider({ name, resources });
const urisOf = (matches: readonly SearchMatch[]): string[] => matches.map(({ uri }) => uri).sort();

describe('search by reading [CB-7]', () => {
  it('says the line and the byte where a match begins', async () => {
    const provider = memory({ 'a.txt': { text: 'one\nété clock clock\r\nclock' } });
    expect(await find(provider, { pattern: 'cl.ck$' })).toEqual([
      { uri: 'memory:///a.txt', path: 'a.txt', place: { line: 2, offset: 4 + 'été clock '.length + 2 } },
      { uri: 'memory:///a.txt', path: 'a.txt', place: { line: 3, offset: 23 } },
    ]);
  });

  it('stays within the lines of a text that is not UTF-8', async () => {
    const provider = memory({ 'a.txt': { bytes: Buffer.from('ééé x\nnext', 'latin1') } });
    const [match] = await find(provider, { pattern: 'x' });
    expect(match?.place?.line).toBe(1);
    expect(match?.place?.offset).toBeLessThanOrEqual(5);
  });

  it('lets others have their turn, in a text of very many lines too', async () => {
    const provider = memory({ 'a.txt': { text: '\n'.repeat(500_000) } });
    let turns = 0;
    let next = setImmediate(function tick() {
      turns++;
      next = setImmediate(tick);
    });
    try {
      expect(await find(provider, { pattern: 'x' })).toEqual([]);
    } finally {
      clearImmediate(next);
    }
    expect(turns).toBeGreaterThan(3);
  });

  it('leaves out binary content, by its type and by its bytes', async () => {
    const provider = memory({
      'a.png': { text: 'clock' },
      'b.txt': { bytes: Buffer.from('clock\0clock') },
      'c.txt': { text: 'clock' },
    });
    expect(urisOf(await find(provider, { pattern: 'clock' }))).toEqual(['memory:///c.txt']);
  });

  it('says that only the beginning of a large resource is searched', async () => {
    const missing: MissingPart[] = [];
    const notes = { ...createNotes(), missing: (part: MissingPart) => void missing.push(part) };
    const bytes = Buffer.alloc(64 * 1024 * 1024 + 10, `${'x'.repeat(1023)}\n`);
    bytes.write('first\n');
    bytes.write('after', bytes.byteLength - 8);
    const provider = memory({ 'large.txt': { bytes }, 'small.txt': { text: 'after' } });
    const found: SearchMatch[] = [];
    const ctx = createContext({ notes });
    for await (const match of searchProvider(provider, { pattern: 'first|after', literal: false }, ctx))
      found.push(match);
    expect(urisOf(found)).toEqual(['memory:///large.txt', 'memory:///small.txt']);
    expect(found.find(({ uri }) => uri.endsWith('large.txt'))?.place).toEqual({ line: 1, offset: 0 });
    expect(missing).toEqual([{ reason: 'Only the first 64 MiB of a resource are searched' }]);
  });

  it('says that resources are left out that their provider refuses as too large, and none that is gone', async () => {
    const missing: MissingPart[] = [];
    const notes = { ...createNotes(), missing: (part: MissingPart) => void missing.push(part) };
    const inner = memory({ 'gone.txt': { text: 'x' }, 'large.txt': { text: 'x' }, 'small.txt': { text: 'x' } });
    const provider = wrapProvider(inner, {
      read: async (uri, want, ctx) => {
        if (uri.endsWith('gone.txt')) throw new ResourceError('not-found', 'Gone');
        if (uri.endsWith('large.txt')) throw new ResourceError('too-large', 'No more than 10 bytes');
        return await inner.read(uri, want, ctx);
      },
    });
    const found: SearchMatch[] = [];
    const query = { pattern: 'x', literal: true };
    for await (const match of searchProvider(provider, query, createContext({ notes }))) found.push(match);
    expect(urisOf(found)).toEqual(['memory:///small.txt']);
    expect(missing).toEqual([{ reason: 'Some resources are too large to be searched' }]);
  });

  it('starts at a folder or at one resource, and names both from there', async () => {
    const provider = memory({ 'a/b/c.md': { text: 'x' }, 'a/c.md': { text: 'x' }, 'c.md': { text: 'x' } });
    const inA = ['memory:///a/b/c.md', 'memory:///a/c.md'];
    expect(urisOf(await find(provider, { pattern: 'x', uri: 'memory:///a' }))).toEqual(inA);
    expect(urisOf(await find(provider, { glob: '*.md', uri: 'memory:///a' }))).toEqual(inA);
    expect(urisOf(await find(provider, { glob: 'b/*', uri: 'memory:///a' }))).toEqual(inA.slice(0, 1));
    expect(urisOf(await find(provider, { glob: 'c.md', uri: 'memory:///a/c.md' }))).toEqual(inA.slice(1));
    expect(urisOf(await find(provider, { glob: 'a/c.md', uri: 'memory:///a/c.md' }))).toEqual([]);
    expect(await refused(find(provider, { pattern: 'x', uri: 'memory:///nope' }))).toBe('not-found');
  });

  it('names roots that are no folders', async () => {
    const leaf = { uri: 'x:one', name: 'one', capabilities: { list: false, subscribe: false } };
    const provider: ResourceProvider = { ...memory({}), list: async () => ({ resources: [leaf] }) };
    expect(urisOf(await find(provider, { glob: 'o*' }))).toEqual(['x:one']);
    expect(urisOf(await find(provider, { glob: 't*' }))).toEqual([]);
  });

  it.each<[string, Partial<SearchQuery>]>([
    ['nothing to look for', {}],
    ['an empty pattern', { pattern: '' }],
    ['a group that is not closed', { pattern: '(' }],
    ['a look-ahead', { pattern: '(?=a)' }],
    ['a back-reference', { pattern: '(a)\\1' }],
    ['a newline', { pattern: 'a\nb' }],
    ['a NUL', { pattern: 'a\0' }],
    ['a newline in the glob', { glob: 'a\nb' }],
    ['a range from the end', { glob: '[z-a]' }],
    ['a pattern that is too long', { pattern: 'a'.repeat(MAX_PATTERN_LENGTH + 1) }],
    ['a glob that is too long', { glob: 'a'.repeat(MAX_PATTERN_LENGTH + 1) }],
  ])('refuses %s', async (_, query) => {
    expect(await refused((async () => find(memory({ a: { text: 'a' } }), query))())).toBe('invalid');
  });

  it('takes a literal as it stands', async () => {
    const provider = memory({ 'a.txt': { text: 'a(+\naaa' } });
    expect(await find(provider, { pattern: 'a(+', literal: true })).toHaveLength(1);
  });

  it('ends where a backtracking engine would not', async () => {
    const long = `${'a'.repeat(200_000)}b`;
    const provider = memory({ 'a.txt': { text: `${long}\naaa` } });
    expect((await find(provider, { pattern: '(a+)+$' })).map(({ place }) => place?.line)).toContain(2);
    const matches = globFilter(`${'*a'.repeat(100)}*b`);
    expect(matches(`${'a'.repeat(250)}c`)).toBe(false);
    expect(matches(`${'a'.repeat(250)}b`)).toBe(true);
  });

  it('counts lines and bytes over chunks, behind lines that are longer than is matched', async () => {
    const text = `${'x'.repeat(100_000)}needle\nneedle\n${'é'.repeat(70_000)}\nneedle`;
    const whole = Buffer.from(text);
    const provider: ResourceProvider = {
      ...memory({ 'a.txt': { text } }),
      async read(uri) {
        async function* open(): AsyncIterable<Uint8Array> {
          for (let at = 0; at < whole.byteLength; at += 999) yield whole.subarray(at, at + 999);
        }
        return [{ resource: { uri, name: 'a.txt' }, content: { kind: 'stream', size: undefined, open } }];
      },
    };
    const places = (await find(provider, { pattern: 'needle' })).map(({ place }) => place);
    expect(places).toEqual([
      { line: 2, offset: whole.indexOf('needle', 100_007) },
      { line: 4, offset: whole.lastIndexOf('needle') },
    ]);
  });

  it('gives at most MAX_MATCHES_PER_RESOURCE matches of one resource', async () => {
    const provider = memory({ a: { text: 'x\n'.repeat(MAX_MATCHES_PER_RESOURCE + 5) }, b: { text: 'x' } });
    expect(await find(provider, { pattern: 'x' })).toHaveLength(MAX_MATCHES_PER_RESOURCE + 1);
  });

  it.each([-1, 0, 1, 5])('says of a resource with %i matches over the limit whether it has more', async (over) => {
    const text = 'x\n'.repeat(MAX_MATCHES_PER_RESOURCE + over);
    const found = await find(memory({ a: { text }, b: { text: 'x' }, c: { text } }), { pattern: 'x' });
    const marked = found.filter(({ more }) => more).map(({ uri, place }) => [uri, place?.line]);
    const last = MAX_MATCHES_PER_RESOURCE;
    expect(marked).toEqual(
      over > 0
        ? [
            ['memory:///a', last],
            ['memory:///c', last],
          ]
        : [],
    );
    expect(found).toHaveLength(2 * Math.min(last, last + over) + 1);
  });

  it.each([
    [10_000, [], []],
    [
      10_001,
      [['left out of a search: resources after the first', { provider: 'm', searched: 10_000 }]],
      [{ reason: 'Only the first 10000 resources are searched' }],
    ],
  ])('says in the log and the notes whether it is incomplete: %i resources', async (count, warned, missing) => {
    const leaves = Array.from({ length: count }, (_, at) => ({ uri: `x:${at}`, name: `${at}.txt` }));
    const provider: ResourceProvider = { ...memory({}), list: async () => ({ resources: leaves }) };
    expect(await countNames(provider)).toEqual({ found: 10_000, warned, missing });
  });

  const TOO_DEEP = [
    [['left out of a search: folders that lie too deep', { provider: 'm', levels: 32 }]],
    [{ reason: 'Folders more than 32 levels down are not searched' }],
  ] as const;

  it.each([
    [31, 1, [], []],
    [32, 0, ...TOO_DEEP],
    [40, 0, ...TOO_DEEP],
  ])('says in the log and the notes whether it is incomplete: %i levels', async (depth, found, warned, missing) => {
    const provider = memory({
      [`${'a/'.repeat(depth)}x.txt`]: { text: 'x' },
      [`${'b/'.repeat(depth)}x.md`]: { text: 'x' },
    });
    expect(await countNames(provider)).toEqual({ found, warned, missing });
  });

  it('ends when it is aborted, and closes open bodies when the caller leaves early', async () => {
    const gone = new AbortController();
    gone.abort(new Error('gone'));
    await expect(find(memory({ a: { text: 'x' } }), { pattern: 'x' }, gone.signal)).rejects.toThrow('gone');
    let closed = 0;
    const inner = memory({ a: { text: 'x\nx' } });
    const provider: ResourceProvider = {
      ...inner,
      read: async (uri, want, ctx) =>
        (await inner.read(uri, want, ctx)).map((body) => ({ ...body, close: async () => void closed++ })),
    };
    for await (const _ of searchProvider(provider, { pattern: 'x', literal: false }, createContext())) break;
    expect(closed).toBe(1);
  });
});

describe('search over mounts', () => {
  const tree = () =>
    mountTree([
      { name: 'a', provider: memory({ 'x.md': { text: 'clock' } }, 'a') },
      { name: 'b', provider: memory({ 'x.md': { text: 'clock' }, 'y.md': { text: 'other' } }, 'b') },
    ]);

  it('goes through all of them, and its matches have published URIs', async () => {
    expect(urisOf(await find(tree(), { pattern: 'clock' }))).toEqual(['a+memory:///x.md', 'b+memory:///x.md']);
    expect(urisOf(await find(tree(), { glob: '*.md', uri: 'b+memory:///' }))).toEqual([
      'b+memory:///x.md',
      'b+memory:///y.md',
    ]);
  });

  it('names the published URI in its errors', async () => {
    await expect(find(tree(), { pattern: 'x', uri: 'b+memory:///no' })).rejects.toMatchObject({
      code: 'not-found',
      uri: 'b+memory:///no',
    });
    expect(await refused(find(tree(), { pattern: 'x', uri: 'c+memory:///' }))).toBe('not-found');
  });
});

describe('globs', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['*.md', ['a.md', 'b/c.md', '.md', 'b/.c.md'], ['a.mdx', 'md']],
    ['b/*.md', ['b/a.md'], ['a.md', 'b/c/a.md', 'a/b/a.md']],
    ['/a.md', ['a.md'], []],
    ['**/a.md', ['a.md', 'b/c/a.md'], ['b/xa.md']],
    ['b/**', ['b', 'b/a', 'b/c/d'], ['bb/a']],
    ['b/**/a', ['b/a', 'b/c/d/a'], ['a', 'b/c']],
    ['**', ['a', 'b/c'], []],
    ['caf?', ['café', 'caf😀'], ['caf', 'caféé', 'ca/f']],
    ['[a-c].x', ['a.x', 'd/b.x'], ['d.x']],
    ['[!a-c].x', ['d.x'], ['a.x']],
    ['\\[a', ['[a'], ['a']],
    ['{a,b*}.{x,y}', ['a.x', 'bcd.y'], ['c.x', 'a.z']],
    ['\\{a', ['{a'], ['a']],
    ['a\\}\\{', ['a}{'], ['a']],
    ['{a,{b,c}}', ['a', 'b', 'c'], ['d']],
    ['\\*', ['*'], ['a']],
    ['a+(b).c$', ['a+(b).c$'], ['aab.c']],
    ['!*.md', ['a.txt', 'b/c.txt'], ['a.md', 'b/a.md']],
    ['--pre=cat', ['--pre=cat', 'd/--pre=cat'], ['a']],
    ['100% №7 *', ['100% №7 x', 'd/100% №7 '], ['100']],
  ])('%s', async (glob, yes, no) => {
    const matches = globFilter(glob);
    expect(yes.filter((path) => !matches(path))).toEqual([]);
    expect(no.filter((path) => matches(path))).toEqual([]);
  });

  it.each(['[a', '{a', 'a}{', 'a**b', './a', 'a/', '@(a|b)', ''])('%j is refused with a hint', (glob) => {
    expect(() => globFilter(glob)).toThrow(/The glob is not valid: .*write/i);
  });
});
