import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { Loan } from '../../core/loan.ts';
import { longUtf8 } from '../../core/text/long-text.ts';
import { LongAnswer } from '../dispatch/answer.ts';
import { createLineWriter } from './write-lines.ts';

const long = (text: string, loan?: Loan): LongAnswer =>
  new LongAnswer(['{"text":"', longUtf8([Buffer.from(text)], loan), '"}']);

it('writes lines in order, even after one that is written in pieces', async () => {
  const output = new PassThrough({ highWaterMark: 16 });
  let told = 0;
  const lines = createLineWriter(output, () => told++);
  lines.write('first');
  lines.write(long('a'.repeat(600_000)));
  lines.write('third');
  lines.write(long('b'.repeat(600_000)));
  lines.write('last');
  const { rest } = lines;
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await rest;
  expect(lines.rest).toBeUndefined();
  expect(told).toBe(1);
  lines.write('after');
  output.end();
  for await (const _ of output);
  const [a, b] = ['a', 'b'].map((each) => JSON.stringify({ text: each.repeat(600_000) }));
  expect(text === ['first', a, 'third', b, 'last', 'after', ''].join('\n')).toBe(true);
});

it.each([16, 64 * 1024, 16 * 1024 * 1024])(
  'gives each chunk memory of its own, for readers that keep them: %i bytes ahead',
  async (highWaterMark) => {
    const output = new PassThrough({ highWaterMark });
    const lines = createLineWriter(output, () => {});
    const text = Array.from({ length: 100_000 }, (_, index) => `${index} é`).join(' ');
    lines.write(long(text));
    const chunks: Buffer[] = [];
    output.on('data', (chunk: Buffer) => chunks.push(chunk));
    await lines.rest;
    output.end();
    for await (const _ of output);
    expect(Buffer.concat(chunks).equals(Buffer.from(`${JSON.stringify({ text })}\n`))).toBe(true);
  },
);

it('gives back the memory of an answer when the output is gone', async () => {
  const output = new PassThrough({ highWaterMark: 16 });
  const loan = new Loan();
  let given = false;
  loan.onEnd(() => {
    given = true;
  });
  const lines = createLineWriter(output, () => {});
  lines.write(long('a'.repeat(600_000), loan));
  const { rest } = lines;
  output.destroy();
  await rest;
  expect(given).toBe(true);
});
