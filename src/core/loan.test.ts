import { expect, it } from 'vitest';
import { BLOCK_BYTES, Loan } from './loan.ts';

it('lends a block again that was given back', () => {
  const first = new Loan();
  const block = first.take();
  expect(block.byteLength).toBe(BLOCK_BYTES);
  first.filled(block);
  const meanwhile = new Loan();
  expect(meanwhile.take()).not.toBe(block);
  first.end();
  expect(new Loan().take()).toBe(block);
});

it('does not lend a block again that may still be written to', () => {
  const loan = new Loan();
  const [given, pending] = [loan.take(), loan.take()];
  loan.filled(given);
  loan.end();
  // An abandoned read ends only now.
  loan.filled(pending);
  loan.filled(Buffer.alloc(BLOCK_BYTES));
  const next = new Loan();
  expect([next.take(), next.take(), next.take()].filter((each) => each === pending || each === given)).toEqual([given]);
});

it('calls back once when the loan ends, and at once if it has ended', () => {
  const loan = new Loan();
  const told: string[] = [];
  loan.onEnd(() => told.push('before'));
  loan.end();
  loan.end();
  loan.onEnd(() => told.push('after'));
  expect(told).toEqual(['before', 'after']);
});
