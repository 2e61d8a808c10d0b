/** Icons of mounted servers that are not ours, and write `sizes` as one text, as SEP-973 does. */
import { describe, expect, it } from 'vitest';
import { MATRIX } from '../../e2e/harness.ts';
import { connectToStranger, WAYS } from './link.ts';

const SENT = [
  { src: 'https://stranger.example/icon.png', mimeType: 'image/png', sizes: ['48x48', '96x96'], theme: 'dark' },
  { src: 'https://stranger.example/icon.svg', sizes: ['any'] },
];

/** Everything that has icons, by how it is asked for. */
const ASKED = [
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['tools/list', {}],
  ['prompts/list', {}],
  ['resources/read', { uri: 'stranger+thing:///one' }],
  ['tools/call', { name: 'stranger_one', arguments: {} }],
  ['prompts/get', { name: 'stranger_one' }],
] as const;

/** All values of fields that are called `icons`. */
function iconsIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(iconsIn);
  return Object.entries(value).flatMap(([name, each]) => (name === 'icons' ? [each] : iconsIn(each)));
}

describe.concurrent.each(MATRIX)('a client over $transport, $era', (client) => {
  it.each(WAYS)('gets sizes as an array from a stranger over $transport, $era [973-2, 973-3]', async (way) => {
    await using on = await connectToStranger(client, 'icons', way);
    for (const [method, params] of ASKED) {
      const found = iconsIn(await on.request(method, { ...params }));
      expect(found.length, method).toBeGreaterThan(0);
      for (const icons of found) expect(icons, method).toEqual(SENT);
    }
  });
});
