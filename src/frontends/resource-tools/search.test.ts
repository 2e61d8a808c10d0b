import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/e2e/folders.ts';
import {
  type Engine,
  embeddedIn,
  engineOf,
  memoryEngine,
  structured,
  textOf,
  typesOf,
} from '../../../test/tools/engine.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { detached } from '../../core/invocation.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { createAccess } from '../../layers/access/index.ts';
import type { CallToolResult } from '../../protocol/content.ts';
import { filesProvider } from '../../providers/files/index.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { readConfirmed } from '../resources/read.ts';

interface SearchAnswer {
  readonly matches: readonly { readonly uri: string; readonly line?: number }[];
  readonly nextCursor?: string;
  readonly missing?: readonly object[];
}

const answer = (result: CallToolResult): SearchAnswer => {
  if (result.isError) throw new Error(textOf(result));
  return structured<SearchAnswer>(result);
};

const lines = (count: number, text = 'clock'): string =>
  Array.from({ length: count }, (_, index) => `${text} ${index + 1}\n`).join('');

/** Requests every page of a search. */
async function allPages(engine: Engine, args: Record<string, unknown>): Promise<CallToolResult[]> {
  const pages: CallToolResult[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await engine.call('search', { ...args, ...(cursor !== undefined && { cursor }) });
    cursor = answer(page).nextCursor;
    pages.push(page);
    if (cursor === undefined) return pages;
    if (pages.length > 500) throw new Error('the pages do not end');
  }
}

describe('the search tool [CB-7]', () => {
  it('gives each match as a resource whose URI reads the same lines, by the tool and by resources/read', async () => {
    await using folder = await temporaryFolder({
      'a b#.md': 'one\ntwo\nclock\nfour\nfive\nsix\n',
      'crlf.md': 'one\r\nclock\r\nthree\r\nlast',
      'end.md': 'clock',
      'latin1.txt': Buffer.from('été\nclock é\n', 'latin1'),
    });
    await using engine = engineOf({ m: await filesProvider({ path: folder.path, watch: false }) });
    const result = await engine.call('search', { pattern: 'clock', context: 1 });
    const found = embeddedIn(result);
    expect(found.map(({ uri }) => uri).sort()).toEqual([
      'm+file:///a%20b%23.md#L2-L4',
      'm+file:///crlf.md#L1-L3',
      'm+file:///end.md#L1',
      'm+file:///latin1.txt#L1-L2',
    ]);
    for (const resource of found) {
      const { uri } = resource;
      const [content] = (await readConfirmed(engine.vitrine.resources, { uri }, createContext())).contents;
      const [byTool] = embeddedIn(await engine.call('read', { uri, as: 'embedded' }));
      expect(byTool).toMatchObject({ uri });
      expect(content).toMatchObject({ uri });
      const shown = 'text' in resource ? resource.text : '';
      for (const item of [content, byTool]) {
        const bytes = item && 'blob' in item ? Buffer.from(item.blob, 'base64').toString('utf8') : undefined;
        const text = item && 'text' in item ? item.text : bytes;
        expect(text?.replace(/\r?\n$/, '')).toBe(shown);
      }
    }
  });

  it.each([1, 50, 51, 250])('gives %d matches in pages, without loss or repetition', async (count) => {
    await using engine = memoryEngine({ 'a.txt': { text: lines(count) }, 'b.txt': { text: 'nothing' } });
    const pages = await allPages(engine, { pattern: 'clock', context: 0 });
    const found = pages.flatMap((page) => answer(page).matches.map(({ line }) => line));
    expect(found).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    for (const page of pages) {
      expect(answer(page).matches.length).toBeLessThanOrEqual(50);
      expect(embeddedIn(page)).toHaveLength(answer(page).matches.length);
    }
    expect(textOf(pages.at(-1) as CallToolResult)).toContain('that is all');
  });

  it('keeps pages within the output budget', async () => {
    const resources = { 'a.txt': { text: lines(100, `clock ${'é'.repeat(900)}`) } };
    await using engine = memoryEngine(resources, { resourceTools: { outputBytes: 5_000 } });
    const pages = await allPages(engine, { pattern: 'clock' });
    expect(pages.flatMap((page) => answer(page).matches)).toHaveLength(100);
    for (const page of pages) {
      const bytes = embeddedIn(page).map((item) => Buffer.byteLength('text' in item ? item.text : ''));
      expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(5_000);
    }
  });

  it('finds names, and gives links to their resources', async () => {
    await using engine = memoryEngine({ 'a.md': { text: 'a' }, 'b/c.md': { text: 'c' }, 'd.txt': { text: 'd' } });
    const result = await engine.call('search', { glob: '*.md' });
    expect(typesOf(result)).toEqual(['text', 'resource_link', 'resource_link']);
    expect(answer(result).matches).toEqual(
      expect.arrayContaining([{ uri: 'm+memory:///a.md' }, { uri: 'm+memory:///b/c.md' }]),
    );
  });

  it('says so if there is no match', async () => {
    await using engine = memoryEngine({ 'a.md': { text: 'a' } });
    const result = await engine.call('search', { pattern: 'clock' });
    expect(answer(result)).toEqual({ matches: [] });
    expect(textOf(result)).toBe('No match.');
  });

  it('binds a cursor to the arguments, the principal and the page', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: lines(160) } });
    const cursor = answer(await engine.call('search', { pattern: 'clock' })).nextCursor;
    expect(cursor).toBeDefined();
    expect(await engine.refusal('search', { pattern: 'other', cursor })).toMatch(/cursor/i);
    expect(await engine.refusal('search', { pattern: 'clock', literal: true, cursor })).toMatch(/cursor/i);
    expect(await engine.refusal('search', { pattern: 'clock', cursor: `${cursor}x` })).toMatch(/cursor/i);
    const other = await engine.call('search', { pattern: 'clock', cursor }, { principal: { id: 'other' } });
    expect(other.isError).toBe(true);
    const second = await engine.call('search', { pattern: 'clock', cursor });
    expect(answer(second).matches[0]).toEqual({ uri: 'm+memory:///a.txt', line: 51 });
    expect(await engine.refusal('search', { pattern: 'clock', cursor })).toContain('given already');
    const third = await engine.call('search', { pattern: 'clock', cursor: answer(second).nextCursor });
    expect(answer(third).matches[0]?.line).toBe(101);
  });

  it('continues in another replica, and after the search has ended, behind the last match', async () => {
    const keys = [new Uint8Array(32).fill(7)];
    const replica = () => memoryEngine({ 'a.txt': { text: lines(160) } }, { keys });
    await using first = replica();
    await using second = replica();
    const found: (number | undefined)[] = [];
    let cursor: string | undefined;
    for (let page = 0; page === 0 || cursor !== undefined; page++) {
      const replica = page % 2 === 0 ? first : second;
      const result = answer(await replica.call('search', { pattern: 'clock', ...(cursor && { cursor }) }));
      found.push(...result.matches.map(({ line }) => line));
      cursor = result.nextCursor;
    }
    expect(found).toEqual(Array.from({ length: 160 }, (_, at) => at + 1));
    await using stranger = memoryEngine({ 'a.txt': { text: lines(160) } });
    const begun = answer(await first.call('search', { pattern: 'clock' }));
    expect(await stranger.refusal('search', { pattern: 'clock', cursor: begun.nextCursor })).toMatch(/cursor/i);
  });

  it('leaves out resources that a human has to confirm', async () => {
    const inner = memoryProvider({ resources: { 'open.md': { text: 'clock' }, 'private/a.md': { text: 'clock' } } });
    const layer = createAccess({ rules: [{ effect: 'ask', uris: ['memory:///private/**'] }], default: 'allow' }).layer;
    await using inside = engineOf({ m: layer(inner) });
    await using outside = engineOf({ m: inner }, { confirm: ['m+memory:///private/**'] });
    for (const engine of [inside, outside])
      for (const args of [{ pattern: 'clock' }, { glob: '*.md', pattern: '.' }])
        expect(answer(await engine.call('search', args)).matches).toEqual([{ uri: 'm+memory:///open.md', line: 1 }]);
  });

  it('leaves out resources that are gone when they are shown', async () => {
    const inner = memoryProvider({ resources: { 'open.md': { text: 'clock' } } });
    const provider = wrapProvider(inner, {
      async *search() {
        yield { uri: 'memory:///gone.md', place: { line: 1, offset: 0 } };
        yield { uri: 'memory:///open.md', place: { line: 900, offset: 9_000 } };
        yield { uri: 'memory:///open.md', place: { line: 1, offset: 0 } };
      },
    });
    await using engine = engineOf({ m: { ...provider, features: { ...inner.features, search: true } } });
    expect(answer(await engine.call('search', { pattern: 'clock' })).matches).toEqual([
      { uri: 'm+memory:///open.md', line: 1 },
    ]);
  });

  it('reports progress, and ends with its caller', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: lines(50) } });
    const told: number[] = [];
    const caller = new AbortController();
    const ctx = createContext({ signal: caller.signal });
    const invocation = {
      ...detached(ctx),
      progress(count: number): void {
        told.push(count);
        if (count === 5) caller.abort(new Error('gone'));
      },
    };
    const request = { name: 'search', arguments: { pattern: 'clock' } };
    const ended = await engine.vitrine.provider.callTool(request, {}, invocation).then(
      (result) => ('isError' in result ? result.isError : false),
      () => true,
    );
    expect(ended).toBe(true);
    expect(told).toEqual([1, 2, 3, 4, 5]);
  });

  it('searches the other mounts where one is out of reach, and says so', async () => {
    const away = unreachable(memoryProvider({ name: 'away', resources: { 'a.txt': { text: 'clock' } } }));
    const near = () => memoryProvider({ resources: { 'a.txt': { text: lines(60) } } });
    await using engine = engineOf({ first: near(), away, last: near() });
    const pages = await allPages(engine, { pattern: 'clock' });
    expect(pages.flatMap((page) => answer(page).matches)).toHaveLength(120);
    const missing = [{ mount: 'away', reason: 'It is out of reach' }];
    expect(answer(pages[0] as CallToolResult).missing).toBeUndefined();
    expect(answer(pages.at(-1) as CallToolResult).missing).toEqual(missing);
    expect(textOf(pages[1] as CallToolResult)).toContain('so far. Missing: away (It is out of reach). For more');
    expect(textOf(pages.at(-1) as CallToolResult)).toContain('20 matches. Missing: away (It is out of reach).');
    const none = await engine.call('search', { pattern: 'nowhere' });
    expect(textOf(none)).toBe('No match. Missing: away (It is out of reach).');
    expect(await engine.refusal('search', { pattern: 'clock', uri: 'away+memory:///' })).toContain('out of reach');
    expect(await engine.refusal('search', { pattern: '(' })).toContain('not a valid regular expression');
    await using alone = engineOf({ away });
    expect(await alone.refusal('search', { pattern: 'clock' })).toContain('out of reach');
  });

  it('does not name a mount that is out of reach to a caller who may see nothing of it', async () => {
    const away = unreachable(memoryProvider({ name: 'away', resources: {} }));
    const near = memoryProvider({ resources: { 'a.txt': { text: 'clock' } } });
    await using engine = engineOf({ near, away }, { access: { rules: [{ effect: 'allow', mounts: ['near'] }] } });
    const result = await engine.call('search', { pattern: 'clock' });
    expect(textOf(result)).toMatch(/^1 match; that is all\./);
    expect(answer(result)).toEqual({ matches: [{ uri: 'near+memory:///a.txt', line: 1 }] });
  });

  describe('of more matches in a resource than are given', () => {
    const reason = 'Only its first 1000 matches are given';
    const resources = { 'a.txt': { text: lines(1_001) }, 'b.txt': { text: lines(1_000) }, 'c.txt': { text: 'clock' } };
    const all = { pattern: 'clock', context: 0 };

    it('names the resource as missing in part, on the last page too', async () => {
      await using engine = memoryEngine(resources);
      const pages = await allPages(engine, all);
      expect(pages.flatMap((page) => answer(page).matches)).toHaveLength(2_001);
      const missing = [{ entry: 'm+memory:///a.txt', reason }];
      expect(answer(pages[18] as CallToolResult).missing).toBeUndefined();
      expect(answer(pages[19] as CallToolResult).missing).toEqual(missing);
      expect(answer(pages.at(-1) as CallToolResult).missing).toEqual(missing);
      expect(textOf(pages.at(-1) as CallToolResult)).toContain(`Missing: m+memory:///a.txt (${reason}).`);
    });

    it('says nothing if no resource has more', async () => {
      await using engine = memoryEngine({ 'b.txt': resources['b.txt'] });
      const pages = await allPages(engine, all);
      expect(pages.filter((page) => answer(page).missing !== undefined)).toEqual([]);
      expect(textOf(pages.at(-1) as CallToolResult)).toContain('that is all');
    });

    it('names it after the search has continued in another replica', async () => {
      const keys = [new Uint8Array(32).fill(7)];
      await using first = memoryEngine(resources, { keys });
      await using second = memoryEngine(resources, { keys });
      let cursor: string | undefined;
      for (let page = 0; page < 21; page++)
        cursor = answer(await first.call('search', { ...all, ...(cursor && { cursor }) })).nextCursor;
      const next = answer(await second.call('search', { ...all, cursor }));
      expect(next.missing).toEqual([{ entry: 'm+memory:///a.txt', reason }]);
    });

    it('says nothing of a resource that the caller may not read, or must confirm', async () => {
      await using folder = await temporaryFolder({ 'a.txt': resources['a.txt'].text, 'c.txt': 'clock' });
      for (const effect of ['deny', 'hide', 'ask'] as const) {
        const mounts = { m: await filesProvider({ path: folder.path, watch: false }) };
        const rules = [{ effect, uris: ['m+file:///a.txt'] }];
        await using engine = engineOf(mounts, { access: { rules, default: 'allow' } });
        const result = await engine.call('search', all);
        expect(answer(result)).toEqual({ matches: [{ uri: 'm+file:///c.txt', line: 1 }] });
      }
    });
  });

  it('says that some resources could not be read, once and without their names', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `${at}.txt`);
    const inner = memoryProvider({ resources: Object.fromEntries(names.map((name) => [name, { text: 'clock' }])) });
    const provider = wrapProvider(inner, {
      async read(uri, options, ctx) {
        if (uri.endsWith('7.txt')) throw new ResourceError('unavailable', 'Not now', { uri });
        if (uri.endsWith('8.txt')) throw new ResourceError('not-found', 'Gone', { uri });
        return inner.read(uri, options, ctx);
      },
    });
    await using engine = engineOf({ m: provider });
    const result = await engine.call('search', { pattern: 'clock' });
    expect(answer(result).missing).toEqual([{ mount: 'm', reason: 'Some resources cannot be read now' }]);
    expect(answer(result).matches).toHaveLength(24);
  });
});

/** The provider behind a wire that is cut. */
function unreachable(provider: ResourceProvider): ResourceProvider {
  const fail = async (): Promise<never> => {
    throw new ResourceError('unavailable', 'It is out of reach');
  };
  return wrapProvider(provider, { list: fail, metadata: fail, read: fail });
}
