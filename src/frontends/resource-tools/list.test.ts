import { describe, expect, it } from 'vitest';
import {
  type Engine,
  engineOf,
  type ListAnswer,
  memoryEngine,
  structured,
  textOf,
} from '../../../test/tools/engine.ts';
import { ResourceError } from '../../core/errors.ts';
import { wrapProvider } from '../../core/layer.ts';
import { type MemoryResource, memoryProvider } from '../../providers/memory/index.ts';

/** Returns all pages. Checks that text and structure of each name the same resources, and that pages of several are within the budget. */
async function allPages(engine: Engine, args: Record<string, unknown>, budget = 25_000): Promise<ListAnswer[]> {
  const pages: ListAnswer[] = [];
  for (let cursor: string | undefined; ; ) {
    const result = await engine.call('list', { ...args, ...(cursor !== undefined && { cursor }) });
    if (result.isError) throw new Error(textOf(result));
    const page = structured<ListAnswer>(result);
    const lines = textOf(result).split('\n');
    expect(lines.slice(0, -1).map((line) => line.split('  ')[0])).toEqual(page.resources.map(({ uri }) => uri));
    expect(lines.at(-1)).toMatch(page.nextCursor === undefined ? /That is all|ends here/ : /More: list \{/);
    expect(page.resources.length).toBeLessThanOrEqual(100);
    if (page.resources.length > 1) {
      expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(budget);
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(budget);
    }
    pages.push(page);
    cursor = page.nextCursor;
    if (cursor === undefined) return pages;
    if (pages.length > 1_000) throw new Error('the pages do not end');
  }
}

const urisIn = (pages: readonly ListAnswer[]): string[] =>
  pages.flatMap(({ resources }) => resources.map(({ uri }) => uri));

const files = (names: readonly string[]): Record<string, MemoryResource> =>
  Object.fromEntries(names.map((name) => [name, { text: name }]));

const numbered = (count: number, prefix = 'f'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(4, '0')}.txt`);

describe('the list tool [CB-2]', () => {
  const mounts = () => ({
    docs: memoryProvider({ resources: files(['a.md', 'guide/intro.md', 'guide/deep/er.md']) }),
    data: memoryProvider({ resources: files(['a.csv', 'guide/b.csv']) }),
  });

  it('lists all mounts, level by level, one line for each entry', async () => {
    await using engine = engineOf(mounts());
    const result = await engine.call('list');
    expect(textOf(result).split('\n')).toEqual([
      'docs+memory:///  directory',
      'data+memory:///  directory',
      'docs+memory:///guide  directory',
      'docs+memory:///a.md  text/markdown  4 bytes',
      'data+memory:///guide  directory',
      'data+memory:///a.csv  text/csv  5 bytes',
      'docs+memory:///guide/deep  directory',
      'docs+memory:///guide/intro.md  text/markdown  14 bytes',
      'data+memory:///guide/b.csv  text/csv  11 bytes',
      'docs+memory:///guide/deep/er.md  text/markdown  16 bytes',
      '10 entries. That is all.',
    ]);
    const listed = structured<ListAnswer>(result);
    expect(listed).toEqual({ resources: expect.any(Array) });
    expect(listed.resources[3]).toMatchObject({ uri: 'docs+memory:///a.md', name: 'a.md', size: 4 });
  });

  it.each([
    [
      'a mount',
      { mount: 'data' },
      ['data+memory:///', 'data+memory:///guide', 'data+memory:///a.csv', 'data+memory:///guide/b.csv'],
    ],
    [
      'a prefix',
      { prefix: 'docs+memory:///guide/' },
      ['docs+memory:///guide/deep', 'docs+memory:///guide/intro.md', 'docs+memory:///guide/deep/er.md'],
    ],
    ['a prefix in the middle of a name', { prefix: 'data+memory:///a' }, ['data+memory:///a.csv']],
    ['a prefix of nothing', { prefix: 'other:' }, []],
    ['a mount and a prefix', { mount: 'docs', prefix: 'docs+memory:///a' }, ['docs+memory:///a.md']],
    ['a mount and a prefix of another', { mount: 'docs', prefix: 'data+' }, []],
    ['a directory', { uri: 'docs+memory:///guide' }, ['docs+memory:///guide/deep', 'docs+memory:///guide/intro.md']],
    [
      'a directory with a slash',
      { uri: 'docs+memory:///guide/' },
      ['docs+memory:///guide/deep', 'docs+memory:///guide/intro.md'],
    ],
    ['a directory and its mount', { uri: 'data+memory:///guide', mount: 'data' }, ['data+memory:///guide/b.csv']],
    ['a directory and a prefix', { uri: 'docs+memory:///', prefix: 'docs+memory:///g' }, ['docs+memory:///guide']],
  ])('is narrowed by %s', async (_, args, expected) => {
    await using engine = engineOf(mounts());
    expect(urisIn(await allPages(engine, args))).toEqual(expected);
  });

  it('recognises the mount of URIs without a prefix', async () => {
    const { docs, data } = mounts();
    const provider = memoryProvider({ scheme: 'own', resources: files(['x.md']) });
    await using engine = engineOf({ docs, data }, { bare: { bare: provider } });
    expect(urisIn(await allPages(engine, { mount: 'bare' }))).toEqual(['own:///', 'own:///x.md']);
    expect(urisIn(await allPages(engine, { mount: 'bare', uri: 'own:///' }))).toEqual(['own:///x.md']);
  });

  it.each([
    ['everything', {}],
    ['one directory', { uri: 'm+memory:///' }],
    ['a mount', { mount: 'm' }],
  ])('gives all pages without loss, at most 100 entries at a time: %s', async (_, args) => {
    const names = numbered(350);
    await using engine = memoryEngine(files(names));
    const pages = await allPages(engine, args);
    const found = urisIn(pages).filter((uri) => uri.endsWith('.txt'));
    expect(found).toEqual(names.map((name) => `m+memory:///${name}`));
    expect(pages.length).toBeGreaterThanOrEqual(4);
  });

  it.each([
    ['everything', {}],
    ['one directory', { uri: 'm+memory:///d' }],
  ])('filters by prefix without loss, however few entries match: %s', async (_, args) => {
    const names = [...numbered(700, 'd/many'), ...numbered(7, 'd/some'), ...numbered(300, 'd/zzz')];
    await using engine = memoryEngine(files(names));
    for (const [prefix, count] of [
      ['m+memory:///d/some', 7],
      ['m+memory:///d/many', 700],
      ['m+memory:///d/many0', 700],
      ['m+memory:///d/', 1_007],
    ] as const) {
      const found = urisIn(await allPages(engine, { ...args, prefix }));
      expect(found).toHaveLength(count);
      expect(new Set(found).size).toBe(count);
      expect(found.every((uri) => uri.startsWith(prefix))).toBe(true);
    }
  });

  it('looks at a limited number of entries for one page, and continues with the next one', async () => {
    await using engine = memoryEngine(files([...numbered(5_000, 'd/many'), 'd/needle.txt']));
    const pages = await allPages(engine, { prefix: 'm+memory:///d/needle' });
    expect(urisIn(pages)).toEqual(['m+memory:///d/needle.txt']);
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.length).toBeLessThan(6);
  });

  it('makes shorter pages of long entries, never cuts a line, and continues with the next entry [SEC-TOOL-3]', async () => {
    const names = numbered(60, `${'long name '.repeat(9)}`);
    await using engine = memoryEngine(files(names), { resourceTools: { outputBytes: 2_000 } });
    for (const args of [{}, { uri: 'm+memory:///' }, { prefix: 'm+memory:///long' }]) {
      const pages = await allPages(engine, args, 2_000);
      expect(urisIn(pages).filter((uri) => uri.endsWith('.txt'))).toHaveLength(60);
      expect(pages.length).toBeGreaterThan(10);
    }
  });

  it('gives an entry that alone exceeds the budget, and continues after it', async () => {
    const names = numbered(3, 'n'.repeat(2_000));
    await using engine = memoryEngine(files(names), { resourceTools: { outputBytes: 1_000 } });
    const pages = await allPages(engine, { uri: 'm+memory:///' }, 1_000);
    expect(pages.map(({ resources }) => resources.length)).toEqual([1, 1, 1]);
  });

  it('names the limit that ends the list, and says that there is more [2093-5]', async () => {
    await using engine = memoryEngine(files(numbered(50)), { limits: { maxListed: 20 } });
    const pages = await allPages(engine, {});
    expect(urisIn(pages)).toHaveLength(20);
    expect(pages.at(-1)?.truncatedBy).toBe('maxResources');
    expect(textOf(await engine.call('list'))).toContain('list a directory by its uri');
    // The limit does not apply to a list by prefix: it is for the default list, which hosts show whole to users.
    expect(urisIn(await allPages(engine, { prefix: 'm+memory:///f' }))).toHaveLength(50);
  });

  it('shows only the roots if configured', async () => {
    await using engine = engineOf(mounts(), { listing: 'roots' });
    expect(urisIn(await allPages(engine, {}))).toEqual(['docs+memory:///', 'data+memory:///']);
  });

  it('leaves icons to the tool describe', async () => {
    const icons = [{ src: `data:image/png;base64,${'A'.repeat(5_000)}` }];
    await using engine = memoryEngine({ 'a.txt': { text: 'a', icons } });
    const [resource] = structured<ListAnswer>(await engine.call('list', { uri: 'm+memory:///' })).resources;
    expect(resource).not.toHaveProperty('icons');
    const { resource: described } = structured<{ resource: object }>(
      await engine.call('describe', { uri: 'm+memory:///a.txt' }),
    );
    expect(described).toMatchObject({ icons });
  });

  it('accepts a cursor for the same arguments only [SEC-UTIL-1]', async () => {
    await using engine = memoryEngine(files(numbered(250)));
    const { nextCursor: cursor } = structured<ListAnswer>(await engine.call('list', { uri: 'm+memory:///' }));
    expect((await engine.call('list', { uri: 'm+memory:///', cursor })).isError).toBeUndefined();
    for (const args of [
      { cursor },
      { uri: 'm+memory:///', prefix: 'm', cursor },
      { uri: 'm+memory:///', mount: 'm', cursor },
      { uri: 'm+memory:///', cursor: `${cursor}A` },
      { uri: 'm+memory:///', cursor: 'nonsense' },
    ]) {
      expect(await engine.refusal('list', args)).toContain('The cursor is not valid for this request');
    }
  });

  it('names the mounts if a name is unknown, and refuses a URI of another mount', async () => {
    await using engine = engineOf(mounts());
    expect(await engine.refusal('list', { mount: 'filesystem' })).toBe(
      'There is no mount named "filesystem"; there are: docs, data',
    );
    expect(await engine.refusal('list', { mount: 'docs', uri: 'data+memory:///guide' })).toContain(
      'not of the mount docs',
    );
    expect(await engine.refusal('list', { mount: 'vitrine' })).toContain('there are: docs, data');
  });

  it('refuses a file and a missing resource, each with its own advice', async () => {
    await using engine = engineOf(mounts());
    expect(await engine.refusal('list', { uri: 'docs+memory:///a.md' })).toContain('read it instead');
    expect(await engine.refusal('list', { uri: 'docs+memory:///nope' })).toContain('list shows what there is');
  });

  it('lists resources, without the state of the tools [CB-8]', async () => {
    await using engine = engineOf(mounts());
    expect(JSON.stringify(await allPages(engine, {}))).not.toContain('vitrine+state');
  });

  it('names a mount that is out of reach, but not in a list without it or to a caller who may not see it', async () => {
    const away = wrapProvider(memoryProvider({ name: 'away' }), {
      list: async () => {
        throw new ResourceError('unavailable', 'It is out of reach');
      },
    });
    const many = memoryProvider({ resources: files(numbered(150)) });
    const access = { rules: [{ effect: 'allow', mounts: ['many'] }] } as const;
    await using engine = engineOf({ away, many });
    const first = await engine.call('list');
    const missing = [{ mount: 'away', reason: 'It is out of reach' }];
    expect(textOf(first)).toContain('100 entries so far. Missing: away (It is out of reach). More: list {');
    expect(structured<ListAnswer>(first)).toMatchObject({ missing });
    const templates = await engine.call('list_templates');
    expect(textOf(templates)).toMatch(/templates?\. That is all\.$/);
    const one = await engine.call('list', { uri: 'many+memory:///' });
    expect(structured<ListAnswer>(one)).not.toHaveProperty('missing');
    await using ruled = engineOf({ away, many }, { access });
    const seen = await ruled.call('list');
    expect(JSON.stringify(seen)).not.toContain('away');
  });

  it('names the mounts whose templates are missing, with the reason', async () => {
    const inner = memoryProvider({ name: 'away', resources: {} });
    const away = wrapProvider(inner, {
      listTemplates: async () => {
        throw new ResourceError('unavailable', 'It is out of reach');
      },
    });
    await using engine = engineOf({ away, near: memoryProvider({ resources: {} }) });
    const result = await engine.call('list_templates');
    expect(textOf(result)).toContain('Missing: away (It is out of reach).');
    expect(structured<object>(result)).toMatchObject({
      missing: [{ mount: 'away', reason: 'It is out of reach' }],
    });
  });
});
