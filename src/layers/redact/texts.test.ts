import { afterAll, describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { NAMES as NAMES_OF_RESOURCE } from '../../protocol/resources.ts';
import { createScanner } from './scanner.ts';
import { lookThrough, MAX_LEVELS } from './texts.ts';

// Joined here, so that a scan of the sources for secrets finds none.
const TOKEN = `gh${'p_'}wxyzabcdefghijklmnopqrstuvw012345678`;
const MARK = `[redacted: github-token]${'*'.repeat(TOKEN.length - 24)}`;
const NAMES = new Set(['uri']);

describe('JSON data with secrets', () => {
  const scanner = createScanner();
  const ctx = createContext();
  afterAll(() => scanner.close());

  it('every text of an entry is covered, and an entry without a secret stays the same object', async () => {
    const plain = Object.freeze({ uri: 'memo:1', name: 'plain', size: 3, on: true, none: null });
    const secret = { uri: 'memo:2', deep: [{ list: ['x', `a ${TOKEN} b`] }], blob: btoa(` ${TOKEN} `), size: 4 };
    const [first, second] = await lookThrough([plain, secret], NAMES, { scanner, maxBytes: 10_000 }, ctx);
    expect(first?.value).toBe(plain);
    expect(second?.value).toEqual({
      ...secret,
      deep: [{ list: ['x', `a ${MARK} b`] }],
      blob: btoa(` ${MARK} `),
    });
    expect(second?.findings).toHaveLength(2);
    expect(second?.named).toBe(false);
  });

  it('an identifying field stays, and is reported, escaped or not', async () => {
    const uris = [`memo:${TOKEN}`, `memo:${TOKEN.replace('_', '%5f')}`, `memo:${TOKEN}%ZZ%`, 'memo:%67%68%70_x'];
    const entries = uris.map((uri) => ({ uri }));
    const looked = await lookThrough(entries, NAMES, { scanner, maxBytes: 10_000 }, ctx);
    expect(looked.map((each) => each?.value.uri)).toEqual(uris);
    expect(looked.map((each) => each?.named)).toEqual([true, true, true, false]);
  });

  it('an entry that is too large is left out, and the others stay, over several batches', async () => {
    const entries = Array.from({ length: 40 }, (_, index) => ({
      uri: `memo:${index}`,
      text: index === 20 ? 'x'.repeat(70_000) : `${'y '.repeat(15_000)}${index % 3 === 0 ? TOKEN : ''}`,
    }));
    const looked = await lookThrough(entries, NAMES, { scanner, maxBytes: 65_536 }, ctx);
    expect(looked.map((each) => each?.value.uri)).toEqual(
      entries.map(({ uri }, index) => (index === 20 ? undefined : uri)),
    );
    for (const [index, each] of looked.entries())
      if (each !== undefined) expect(each.findings.length, `${index}`).toBe(index % 3 === 0 ? 1 : 0);
    expect(JSON.stringify(looked)).not.toContain(TOKEN);
  });

  it('an entry with covered secrets keeps its other names, by which access rules decide', async () => {
    const entry = { uri: 'memo:1', description: TOKEN, [NAMES_OF_RESOURCE]: { paths: ['private/a.md'] } };
    const [looked] = await lookThrough([entry], NAMES, { scanner, maxBytes: 10_000 }, ctx);
    expect(looked?.value).toEqual({ ...entry, description: MARK });
    expect(looked?.value[NAMES_OF_RESOURCE]).toBe(entry[NAMES_OF_RESOURCE]);
  });

  it.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('an entry of %s with too many levels is left out, and the others stay', async (_, open, end) => {
    const nested = (levels: number): object => ({
      uri: 'memo:1',
      deep: JSON.parse(`${open.repeat(levels)}"${TOKEN}"${end.repeat(levels)}`) as unknown,
    });
    const entries = [nested(MAX_LEVELS - 1), nested(MAX_LEVELS), nested(3_900), { uri: 'memo:2', text: TOKEN }];
    const looked = await lookThrough(entries, NAMES, { scanner, maxBytes: 10_000 }, ctx);
    expect(looked.map((each) => each?.findings.length)).toEqual([1, undefined, undefined, 1]);
    expect(JSON.stringify(looked)).not.toContain(TOKEN);
  });
});
