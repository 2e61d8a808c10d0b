import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPieces } from './pieces.ts';

it('pieces of every size are joined in order, again and again', () => {
  const sizes = fc.array(fc.oneof(fc.nat(10), fc.nat(20_000), fc.constant(70_000)), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(sizes, { maxLength: 4 }), (rounds) => {
      const pieces = createPieces();
      for (const round of rounds) {
        const given = round.map((size, index) => Buffer.alloc(size, index + 1));
        for (const piece of given) pieces.add(piece);
        const all = Buffer.concat(given);
        expect(pieces.length).toBe(all.length);
        expect(all.equals(pieces.take())).toBe(true);
        expect(pieces.length).toBe(0);
      }
    }),
    { numRuns: 50 },
  );
});

it('many small pieces take little more memory than their bytes', () => {
  const before = process.memoryUsage();
  const pieces = createPieces();
  // Each is in a chunk of its own, as from a pipe.
  for (let count = 0; count < 500_000; count++) pieces.add(Buffer.from('x'));
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(50_000_000);
  expect(pieces.take()).toHaveLength(500_000);
});
