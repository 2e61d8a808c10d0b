import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createIntake } from '../intake.ts';
import { hereTransport } from './here.ts';

/** A server that ends with its input, or fails when the test says so. */
function setup() {
  const input = new PassThrough();
  const output = new PassThrough();
  let fail = (_error: Error): void => {};
  const ended = new Promise<void>((resolve, reject) => {
    input.once('end', resolve).resume();
    fail = reject;
  });
  const transport = hereTransport(() => ({ input, output, ended }), createIntake({}, { cutOff() {} }));
  let closed = 0;
  transport.onclose = () => {
    closed++;
  };
  return { transport, output, fail: (error: Error) => fail(error), closed: () => closed };
}

const notice = { jsonrpc: '2.0', method: 'notifications/cancelled', params: {} } as const;

it('a message after the end is refused, and breaks nothing', async () => {
  const { transport, closed } = setup();
  await transport.start();
  await transport.send(notice);
  await transport.close();
  await expect(transport.send(notice)).rejects.toMatchObject({ kind: 'ended' });
  await transport.close();
  expect(closed()).toBe(1);
});

it('a message to a server that could not serve is refused', async () => {
  const { transport, fail, closed } = setup();
  await transport.start();
  fail(new Error('no such folder'));
  await expect.poll(closed).toBe(1);
  expect(transport.exit).toBe('has ended');
  await expect(transport.send(notice)).rejects.toMatchObject({ kind: 'ended' });
});
