import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/e2e/folders.ts';
import { mergeAudits } from './merge.ts';

const line = (second: number, name: string): string =>
  `{"audit":1,"time":"2026-11-25T12:00:${String(second).padStart(2, '0')}.000Z","name":"${name}"}\n`;

it('gives the lines of all chains by their time, those of rotated files, too, and keeps the order of each chain', async () => {
  await using folder = await temporaryFolder({
    'audit.1.jsonl.1': line(1, 'a'),
    'audit.1.jsonl': `${line(4, 'd')}${line(3, 'e')}`,
    'audit.2.jsonl': `${line(2, 'b')}not a line\n${line(6, 'f')}`,
    'audit.3.jsonl': '',
  });
  const files = ['audit.1.jsonl', 'audit.2.jsonl', 'audit.3.jsonl'].map((name) => folder.at(name));
  const found: string[] = [];
  for await (const { file, text } of mergeAudits(files))
    found.push(`${file.slice(-7, -6)} ${/"name":"(.)"/.exec(text)?.[1] ?? text}`);
  expect(found).toEqual(['1 a', '2 b', '2 not a line', '1 d', '1 e', '2 f']);
});
