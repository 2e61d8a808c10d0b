import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunksOfText } from './chunks.ts';

describe('the passages of a text', () => {
  it('begin at headings and pages, and name them', () => {
    const text = '# Clocks\n\none\n\n## Winding\n\ntwo\n```\n# no heading\n```\n<!-- page 2 -->\n\nthree\n# Keys\nfour';
    const found = [...chunksOfText(text, 'text/markdown')];
    expect(found.map(({ headings, first, last, page }) => [headings.join('/'), first, last, page])).toEqual([
      ['Clocks', 1, 4, undefined],
      ['Clocks/Winding', 5, 10, undefined],
      ['Clocks/Winding', 11, 13, 2],
      ['Keys', 14, 15, 2],
    ]);
  });

  it('have no tags of markup, and the lines of the source', () => {
    const [piece] = chunksOfText('<p\n class="a">clock</p>\n<b>key</b>', 'text/html');
    expect(piece?.text.split('\n').map((line) => line.trim())).toEqual(['', 'clock', 'key']);
  });

  it('are together the whole text, each with its right lines', () => {
    const text = fc.array(fc.constantFrom('', 'word', '# head', 'x'.repeat(700), '```'));
    fc.assert(
      fc.property(text, fc.constantFrom('text/markdown', 'text/plain'), (lines, type) => {
        const pieces = [...chunksOfText(lines.join('\n'), type)];
        for (const piece of pieces) expect(piece.text).toBe(lines.slice(piece.first - 1, piece.last).join('\n'));
        const seen = pieces.flatMap((piece) => piece.text.split('\n')).filter((line) => line !== '');
        expect(seen).toEqual(lines.filter((line) => line !== ''));
      }),
    );
  });
});
