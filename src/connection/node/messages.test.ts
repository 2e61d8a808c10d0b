import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createIntake } from '../intake.ts';
import { readMessages } from './messages.ts';

const notice = (method: string): string => `${JSON.stringify({ jsonrpc: '2.0', method })}\n`;
const answer = (id: number, text: string): string => `${JSON.stringify({ jsonrpc: '2.0', id, result: { text } })}\n`;

/** Reads from a stream, with a listener that fails at the first message. */
function setup() {
  const output = new PassThrough();
  const intake = createIntake({ maxMessageBytes: 1_000 }, { cutOff() {} });
  const taken: unknown[] = [];
  const errors: Error[] = [];
  const transport = {
    onmessage(message: unknown) {
      taken.push(message);
      if (taken.length === 1) throw new Error('no such handler');
    },
    onerror: (error: Error) => void errors.push(error),
  };
  readMessages(output, intake, transport, () => true);
  return { output, intake, taken, errors };
}

it('reads on after a listener that fails, in the same chunk and in the next one', async () => {
  const { output, taken, errors } = setup();
  output.write(notice('notifications/a') + notice('notifications/b'));
  await expect.poll(() => taken.length).toBe(2);
  output.write(notice('notifications/c'));
  await expect.poll(() => taken.length).toBe(3);
  expect(errors.map(({ message }) => message)).toEqual(['no such handler']);
});

it('reads on after a listener that fails on an answer over a limit', async () => {
  const { output, intake, taken, errors } = setup();
  intake.sent(1);
  output.write(answer(1, 'x'.repeat(2_000)));
  await expect.poll(() => taken.length).toBe(1);
  output.write(notice('notifications/b'));
  await expect.poll(() => taken.length).toBe(2);
  expect(errors.map(({ message }) => message)).toEqual(['no such handler']);
});
