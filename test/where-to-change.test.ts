/** The page about where to begin a change names existing files and functions. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const section = read('docs/architecture.md').split('## Where to change what')[1]?.split('\n## ')[0] ?? '';
const rows = [...section.matchAll(/^\| ([^|]+) \| `(src\/[^`]+)` `([^`]+)` \|/gm)].map(([, to, file, name]) => ({
  to,
  file,
  name,
}));

it('has ten changes', () => {
  expect(rows).toHaveLength(10);
});

it.each(rows)('to $to: $name is in $file', ({ file = '', name }) => {
  expect(read(file)).toMatch(new RegExp(`\\b(?:function|const) ${name}\\b`));
});
