import { PassThrough, Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { UsageError } from '../errors.ts';
import { inputText } from './standard-input.ts';

const never = new AbortController().signal;

it('standard input is text in UTF-8, wherever it is cut', async () => {
  const bytes = Buffer.from('\ufeff{"word": "größer"}');
  const pieces = Readable.from(Array.from(bytes, (byte) => Buffer.of(byte)));
  expect(await inputText(pieces, never)).toBe('{"word": "größer"}');
});

it('standard input over the limit is refused, and not read further', async () => {
  let read = 0;
  const endless = new Readable({
    read() {
      read += 1_000;
      this.push(Buffer.alloc(1_000, ' '));
    },
  });
  await expect(inputText(endless, never, 100_000)).rejects.toThrow(
    new UsageError('Standard input has more than 100000 bytes; give a shorter text'),
  );
  expect(endless.destroyed).toBe(true);
  expect(read).toBeLessThan(1_000_000);
});

it('an abort ends the reading of a standard input that stays open', async () => {
  const open = new PassThrough();
  const controller = new AbortController();
  const text = inputText(open, controller.signal);
  controller.abort();
  await expect(text).rejects.toThrow(/abort/i);
  expect(open.destroyed).toBe(true);
});
