import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import rtf from './index.ts';

const CARD = new URL('../../examples/museum/office/condition-card.rtf', import.meta.url);

it('reads letters of its code page and of Unicode, and tables [2093-6]', async () => {
  const limits = { maxOutputBytes: 1_000_000, maxUnpackedBytes: 10_000_000 };
  const types = { from: 'application/rtf', to: 'text/markdown' };
  expect(await rtf.rtf?.(await readFile(CARD), { ...types, ...limits })).toBe(
    'Condition card\n\nMusic box by J. Müller, 1790, of brass and walnut.\n\nThe comb is complete; the case smells of cedar – as it should.\n\n| Part | State |\n| --- | --- |\n| Comb | good |\n',
  );
});
