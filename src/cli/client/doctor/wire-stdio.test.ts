import { expect, it } from 'vitest';
import { refuseStarts } from '../../../../test/processes.ts';
import { openStdio } from './wire-stdio.ts';

it('answers that a program cannot be started because of too many open files', async () => {
  using _refusing = refuseStarts();
  const wire = openStdio({ command: process.execPath }, 'modern', 60_000);
  expect(await wire.ask('server/discover', {})).toMatchObject({
    kind: 'none',
    why: expect.stringContaining('The program cannot be started: '),
  });
  expect(wire.alive).toBe(false);
  await wire.close();
});
