import { describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { snippetOf } from './snippet.ts';

/** The snippet around the first `needle` of a text. */
async function around(text: string, lines: number, maxBytes = 4_096) {
  const bytes = Buffer.from(text);
  const provider = memoryProvider({ resources: { 'a.txt': { bytes } } });
  const offset = bytes.indexOf('needle');
  const line = bytes.subarray(0, offset).toString().split('\n').length;
  const found = await snippetOf(provider, 'memory:///a.txt', { line, offset }, { lines, maxBytes }, createContext());
  return found && { uri: found.uri.slice('memory:///a.txt'.length), text: found.text };
}

describe('the text around a match', () => {
  it.each<[string, string, number, { uri: string; text: string }]>([
    ['the line alone', 'a\nneedle\nb\n', 0, { uri: '#L2', text: 'needle' }],
    ['lines on both sides', 'a\nb\nneedle\nc\nd\n', 1, { uri: '#L2-L4', text: 'b\nneedle\nc' }],
    ['the first line', 'needle\nb\n', 2, { uri: '#L1-L2', text: 'needle\nb' }],
    ['the last lines, without a newline', 'a\nneedle\nb', 2, { uri: '#L1-L3', text: 'a\nneedle\nb' }],
    ['empty lines', '\n\nneedle\n\n\n', 2, { uri: '#L1-L5', text: '\n\nneedle\n\n' }],
    ['CRLF', 'a\r\nneedle\r\nb\r\n', 1, { uri: '#L1-L3', text: 'a\r\nneedle\r\nb' }],
  ])('%s', async (_, text, lines, expected) => {
    expect(await around(text, lines)).toEqual(expected);
  });

  it('is cut between characters if a line is over the limit', async () => {
    for (const shift of ['', 'x', 'xx', 'xxx']) {
      const found = await around(`first\n${shift}${'😀'.repeat(500)}needle${'😀'.repeat(500)}\nlast`, 2, 200);
      expect(found?.uri).toBe('#L2');
      expect(found?.text).toContain('needle');
      expect(found?.text).not.toContain('\ufffd');
      expect(Buffer.byteLength(found?.text ?? '')).toBeLessThanOrEqual(200);
    }
  });

  it('has only whole lines, except for the line of the match', async () => {
    const found = await around(`${'a'.repeat(500)}\nb\nneedle\nc\n${'d'.repeat(500)}\n`, 5, 100);
    expect(found).toEqual({ uri: '#L2-L4', text: 'b\nneedle\nc' });
  });

  it('does not exist for a resource of a binary type', async () => {
    const provider = memoryProvider({ resources: { 'a.png': { text: 'needle' } } });
    const options = { lines: 1, maxBytes: 100 };
    const place = { line: 1, offset: 0 };
    expect(await snippetOf(provider, 'memory:///a.png', place, options, createContext())).toBeUndefined();
  });
});
