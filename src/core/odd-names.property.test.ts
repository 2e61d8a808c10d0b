/** Any text has one segment, which can stand in a path, and comes back as that text. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameOfSegment, nameProblem, parseTreeUri, segmentOfName, treeUri } from './uri.ts';

const part = fc.oneof(
  fc.constantFrom('', '.', '..', ';x=', ';x=2e', ';', '\\', '\u0000', '\ufeff', '\ufffd', '%2e', '%', ' '),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const name = fc.array(part, { maxLength: 3 }).map((parts) => parts.join('').replaceAll('/', '').toWellFormed());

describe('a segment for any name', () => {
  it('can stand in a path, and gives the name back', () => {
    fc.assert(
      fc.property(name, (text) => {
        const segment = segmentOfName(text);
        expect(nameProblem(segment)).toBeUndefined();
        expect(nameOfSegment(segment)).toBe(text);
        const { segments } = parseTreeUri(treeUri('s3', [segment, segment]), 's3');
        expect(segments.map((each) => nameOfSegment(each))).toEqual([text, text]);
      }),
      { seed: 34, numRuns: 500 },
    );
  });

  it('is that of no other name, and has no other spelling', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('0', '2', 'e', 'E', 'f', 'g', 'c'), maxLength: 6 }), (hex) => {
        const segment = `;x=${hex}`;
        let text: string;
        try {
          text = nameOfSegment(segment);
        } catch {
          return;
        }
        expect(segmentOfName(text)).toBe(segment);
      }),
      { seed: 34, numRuns: 500 },
    );
  });
});
