import { expect, it } from 'vitest';
import { createFailures } from './failures.ts';

it('failures of addresses beyond the limit are counted together for each reason', () => {
  const lines: [reason: string | undefined, peer: string | undefined, times: number | undefined][] = [];
  const failures = createFailures(({ name, times }, { peer }) => {
    lines.push([name, peer, times]);
  });
  for (let each = 0; each < 1_000; each++) failures.add('invalid_token', `10.0.0.${each}`);
  lines.length = 0;
  for (let each = 0; each < 3; each++) failures.add('invalid_token', `10.0.1.${each}`);
  for (let each = 0; each < 5; each++) failures.add('unavailable', `10.0.2.${each}`);
  for (let each = 0; each < 2; each++) failures.add('invalid_request', 'many');
  // A kind that already has its own count keeps it.
  failures.add('invalid_token', '10.0.0.7');
  failures.close();
  expect(lines).toEqual([
    ['invalid_token', 'many', undefined],
    ['unavailable', 'many', undefined],
    ['invalid_request', 'many', undefined],
    ['invalid_token', '10.0.0.7', 1],
    ['invalid_token', 'many', 2],
    ['unavailable', 'many', 4],
    ['invalid_request', 'many', 1],
  ]);
});
