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
import type { CallToolResult } from '../../protocol/content.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { createIndex } from '../../search/index.ts';
import { readConfirmed } from '../resources/read.ts';
import { isQuestion } from './ranked.ts';

interface Answer {
  readonly matches: readonly { readonly uri: string; readonly line?: number; readonly heading?: string }[];
  readonly nextCursor?: string;
}

function matchesOf(result: CallToolResult): Answer['matches'] {
  if (result.isError) throw new Error(textOf(result));
  return structured<Answer>(result).matches;
}

const ready = async (engine: Engine): Promise<void> => {
  await engine.vitrine.ranked?.settled();
  expect(engine.vitrine.ranked?.state()).toMatchObject({ state: 'ready' });
};

const MUSEUM = {
  'winding.md': { text: '# Clocks\n\nThey strike.\n\n## Winding\n\nThe carriage clock\nis wound on Tuesdays.\n' },
  'keys.md': { text: 'Keys are behind the door.\n' },
  'picture.png': { bytes: new Uint8Array([0, 1]), mimeType: 'image/png', title: 'A carriage clock' },
};

describe('ranked search by the search tool', () => {
  it('gives the best place first, as a URI that reads the same text', async () => {
    await using folder = await temporaryFolder({});
    await using engine = memoryEngine(MUSEUM, { index: createIndex({ folder: folder.path }) });
    await ready(engine);
    const result = await engine.call('search', { pattern: 'how is the carriage clock wound?', context: 1 });
    expect(matchesOf(result)).toEqual([
      { uri: 'm+memory:///winding.md', line: 7, heading: 'Clocks > Winding', mimeType: 'text/markdown' },
      { uri: 'm+memory:///picture.png', mimeType: 'image/png' },
    ]);
    expect(typesOf(result)).toEqual(['text', 'resource', 'resource_link']);
    const [found] = embeddedIn(result);
    expect(found?.uri).toBe('m+memory:///winding.md#L6-L8');
    const read = await readConfirmed(engine.vitrine.resources, { uri: found?.uri ?? '' }, createContext());
    expect(read.contents[0]).toMatchObject({ text: `${found && 'text' in found ? found.text : ''}\n` });
  });

  it('searches lines on request, or if the question looks like an expression', async () => {
    await using folder = await temporaryFolder({});
    await using engine = memoryEngine(MUSEUM, { index: createIndex({ folder: folder.path }) });
    await ready(engine);
    const uris = async (args: Record<string, unknown>): Promise<readonly string[]> =>
      matchesOf(await engine.call('search', args)).map(({ uri }) => uri.replace('m+memory:///', ''));
    expect(await uris({ pattern: 'wound|door' })).toEqual(['keys.md', 'winding.md']);
    expect(await uris({ pattern: 'wound', literal: true })).toEqual(['winding.md']);
    expect(await uris({ pattern: 'winds', mode: 'literal' })).toEqual([]);
    expect(await uris({ pattern: 'winds', mode: 'regex' })).toEqual([]);
    expect(await uris({ pattern: 'winding', mode: 'name' })).toEqual(['winding.md']);
    expect(await uris({ glob: '*.png' })).toEqual(['picture.png']);
    expect(await uris({ pattern: 'door', uri: 'm+memory:///winding.md' })).toEqual([]);
    expect(await uris({ pattern: 'clock', glob: '*.md' })).toEqual(['winding.md']);
    expect(await engine.refusal('search', { pattern: '"', mode: 'ranked' })).toContain('phrase');
    expect(await engine.refusal('search', { mode: 'ranked' })).toContain('words');
  });

  it('gives all pages of matches', async () => {
    await using folder = await temporaryFolder({});
    const many = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`${at}.txt`, { text: `clock ${at}` }]));
    await using engine = memoryEngine(many, { index: createIndex({ folder: folder.path }) });
    await ready(engine);
    const seen = new Set<string>();
    for (let cursor: string | undefined, pages = 0; pages < 20; pages++) {
      const page = await engine.call('search', { pattern: 'clock', ...(cursor !== undefined && { cursor }) });
      for (const { uri } of matchesOf(page)) seen.add(uri);
      cursor = structured<Answer>(page).nextCursor;
      if (cursor === undefined) break;
    }
    expect(seen.size).toBe(120);
  });

  it('finds no resources that need a confirmation or are hidden, and none by a secret that is redacted', async () => {
    await using folder = await temporaryFolder({});
    const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const memory = memoryProvider({
      resources: {
        'open.md': { text: `clock of ${token} brass` },
        'asked.md': { text: 'clock' },
        'hidden/a.md': { text: 'clock' },
      },
    });
    await using engine = engineOf(
      { m: memory },
      {
        index: createIndex({ folder: folder.path }),
        redact: {},
        access: {
          rules: [
            { effect: 'ask', operations: ['read'], uris: ['m+memory:///asked.md'] },
            { effect: 'hide', uris: ['m+memory:///hidden/**'] },
          ],
          default: 'allow',
        },
      },
    );
    await ready(engine);
    const result = await engine.call('search', { pattern: 'clock' });
    expect(matchesOf(result).map(({ uri }) => uri)).toEqual(['m+memory:///open.md']);
    expect(textOf(result)).not.toContain(token);
    expect(matchesOf(await engine.call('search', { pattern: token, mode: 'ranked' }))).toEqual([]);
    expect(await engine.refusal('search', { pattern: 'clock', uri: 'm+memory:///hidden' })).toMatch(/not found/i);
  });

  it('finds changed resources by their new contents', async () => {
    await using folder = await temporaryFolder({});
    await using engine = memoryEngine(MUSEUM, { index: createIndex({ folder: folder.path }) });
    await ready(engine);
    const find = async (pattern: string): Promise<readonly string[]> =>
      matchesOf(await engine.call('search', { pattern, mode: 'ranked' })).map(({ uri }) => uri);
    engine.memory.set('new.md', { text: 'A barometer' });
    await expect.poll(() => find('barometer')).toEqual(['m+memory:///new.md']);
    engine.memory.set('new.md', { text: 'A thermometer' });
    await expect.poll(() => find('thermometer')).toEqual(['m+memory:///new.md']);
    expect(await find('barometer')).toEqual([]);
    engine.memory.delete('new.md');
    expect(await find('thermometer')).toEqual([]);
  });
});

describe('a question', () => {
  it.each([
    'clock',
    'how is it wound?',
    '"small key" door',
    'wind* type:pdf',
    'NEAR(a b, 3)',
    "it's 8 o'clock, isn't it",
    '時計',
  ])('%s counts as words', (text) => expect(isQuestion(text)).toBe(true));
  it.each(['a|b', '^x', 'foo.bar', 'x\\s+y', '[ab]', 'f(', '.*', 'a.*b', 'x{2}', '$'])('%s is an expression', (text) =>
    expect(isQuestion(text)).toBe(false),
  );
});
