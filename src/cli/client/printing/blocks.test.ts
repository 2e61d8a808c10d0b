import { expect, it } from 'vitest';
import { printBlock } from './blocks.ts';
import type { Output } from './output.ts';

/** An object of which `String` makes no text. */
const ODD = { toString: 1, valueOf: 1 };

it.each([
  [{ type: 'image', mimeType: ODD, data: '' }, '[{"toString":1,"valueOf":1}, 0 bytes; --json has them]\n'],
  [{ type: 'resource_link', uri: ODD }, '{"toString":1,"valueOf":1}\n'],
  [{ type: 'resource', resource: { uri: ODD, text: 'text' } }, '{"toString":1,"valueOf":1}\ntext\n'],
])('prints %j, whatever its fields are', async (block, expected) => {
  let printed = '';
  const write = async (text: string): Promise<void> => {
    printed += text;
  };
  const paint = (_style: string, text: string): string => text;
  const output = { terminal: false, paint, write, line: (text: string) => write(`${text}\n`) } as unknown as Output;
  await printBlock(block, output);
  expect(printed).toBe(expected);
});
