import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idsAtEnds } from '../ids-at-ends.ts';
import { createLines, type Line } from './lines.ts';

/** Cuts bytes at these places. */
function cutAt(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}

function linesOf(chunks: readonly Buffer[], maxBytes = 1_000_000): readonly Line[] {
  const lines = createLines(maxBytes);
  const found: Line[] = [];
  for (const chunk of chunks) {
    lines.push(chunk);
    for (let line = lines.next(); line !== undefined; line = lines.next()) found.push(line);
  }
  return found;
}

describe('lines', () => {
  it('are the same wherever chunks end, even inside a character', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat()), (texts, places) => {
        const lines = texts.map((text) => text.replaceAll('\n', ' '));
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const found = linesOf(cutAt(bytes, places));
        expect(found.map(({ text }) => text)).toEqual(lines.map((line) => Buffer.from(line).toString()));
      }),
    );
  });

  it('may wait until the ones before were taken', () => {
    const lines = createLines(100);
    for (const chunk of ['a\nb\nc', 'd\n', 'e\n']) lines.push(Buffer.from(chunk));
    expect([lines.next(), lines.next(), lines.next(), lines.next(), lines.next()].map((line) => line?.text)).toEqual([
      'a',
      'b',
      'cd',
      'e',
      undefined,
    ]);
  });

  it.each([1, 7, 4_096])('over the limit keep only their two ends, in pieces of %i', (size) => {
    const text = `{"id":7,${'x'.repeat(20_000)},"id":8}`;
    const bytes = Buffer.from(`${text}\nshort\n`);
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    const [long, short] = linesOf(chunks, 10_000);
    expect(long).toMatchObject({ bytes: text.length, cut: true });
    expect(long?.text.length).toBeLessThan(5_000);
    expect(long && idsAtEnds(long.text)).toEqual([7, 8]);
    expect(short).toEqual({ text: 'short', bytes: 5, cut: false });
  });

  it.each([
    ['{"jsonrpc":"2.0","id":5,"result":{"text":"xxx', 'xxx"}}', [5]],
    ['{"result":{"text":"xxx', 'xxx"},"jsonrpc":"2.0","id":5}', [5]],
    ['{"result":{"text":"xxx', 'xxx"},"id":"a\\"b","jsonrpc":"2.0"}\r', ['a"b']],
    ['{"result":{"id":6,"text":"xxx', 'xxx"}}', []],
    ['{"jsonrpc":"2.0","id":5,"method":"ping","params":{"text":"xxx', 'xxx"}}', []],
    ['{"method":"ping","params":{"text":"xxx', 'xxx"},"id":5}', []],
    ['xxx', 'xxx', []],
  ])('over the limit give their id if they are answers: %s', (head, tail, ids) => {
    const [line] = linesOf([Buffer.from(`${head}${'x'.repeat(5_000)}${tail}\n`)], 3_000);
    expect(line && idsAtEnds(line.text)).toEqual(ids);
  });
});
