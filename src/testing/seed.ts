/** The tree of leaves for the provider contract: enough entries to page through, odd names, and leaves of all sizes. */
import type { Leaves } from './fixture.ts';

/**
 * Names that are legal in a path segment, but that careless code changes on the way. The contract lists, describes, reads and
 * watches each of them under its own URI.
 */
export const ODD_NAMES: readonly string[] = [
  'with space.txt',
  ' leading and trailing ',
  '100% brass',
  '%',
  '%2e%2e',
  '%2F',
  '%252F',
  '%C3%28',
  '#42 [draft] (copy).txt',
  'what?',
  'a+b=c & d;e@f,g$h!i*j.txt',
  "it's",
  '"quoted"',
  '<angle> {brace} |pipe| ^caret `tick`',
  'time 12:30',
  '~tilde',
  'docs+file:',
  '...',
  'a..b',
  'ends in a dot.',
  'caf\u00e9.txt',
  'cafe\u0301.txt',
  '日本語のご案内.txt',
  'עברית',
  '😀 👩‍🔬.md',
  '\ufeffmarked',
  '__proto__',
  'constructor',
  'x'.repeat(120),
];

const encoder = new TextEncoder();

/** Several times the size of a usual chunk. */
const LARGE_BYTES = 300_007;

/** Bytes without a short period, so that a window from a wrong place has other bytes. */
const pattern = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8) * 7 + (index >> 16)) & 0xff);

const LARGE = pattern(LARGE_BYTES);

const text = (path: string): Uint8Array => encoder.encode(`The content of ${path}\n`);

/** Makes the standard tree: `guide/intro.md`, `many/…`, `odd/…` and so on. */
export function standardSeed(): Leaves {
  const named = [
    'readme.md',
    'guide/intro.md',
    'guide/deep/nested/leaf.txt',
    'odd/a folder #1 %41 (é)/inside.txt',
    ...ODD_NAMES.map((name) => `odd/${name}`),
    ...Array.from({ length: 17 }, (_, index) => `many/entry-${String(index).padStart(2, '0')}.txt`),
    ...Array.from({ length: 6 }, (_, index) => `many/folder-${index}/inside.txt`),
  ];
  return new Map([
    ...named.map((path) => [path, text(path)] as const),
    ['sizes/empty.txt', new Uint8Array()] as const,
    ['sizes/small.txt', encoder.encode('aé日😀z')] as const,
    ['sizes/large.bin', LARGE] as const,
  ]);
}
