import { expect, it } from 'vitest';
import { bytesOf, type Held } from './held-vectors.ts';

const held = (passages: number, heading: string, path = 'a.md'): Held => ({
  kind: '',
  version: '1',
  path,
  size: 1,
  changed: undefined,
  passages: Array.from({ length: passages }, (_, at) => ({
    headings: [heading],
    lines: undefined,
    page: at,
    bytes: undefined,
    digest: 'd',
    vector: new Float32Array(4),
  })),
});

it('the bytes of vectors include the memory beside them', () => {
  expect(bytesOf('m:a', undefined)).toBe(0);
  const least = bytesOf('m:a', held(10, 'Hall'));
  expect(200).toBeLessThan(least);
  expect(least + 10 * 9_000).toBeLessThan(bytesOf('m:a', held(10, 'x'.repeat(10_000))));
  expect(least + 9_000).toBeLessThan(bytesOf('m:a', held(10, 'Hall', 'x'.repeat(10_000))));
  expect(least + 9_000).toBeLessThan(bytesOf(`m:${'x'.repeat(10_000)}`, held(10, 'Hall')));
  expect(0).toBeLessThan(bytesOf('m:a', held(0, '')));
});
