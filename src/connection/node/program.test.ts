import { expect, it } from 'vitest';
import { refuseStarts } from '../../../test/processes.ts';
import { createIntake } from '../intake.ts';
import { programTransport } from './program.ts';

it('a program that cannot be started because of too many open files fails with the error of the system', async () => {
  const intake = createIntake({ maxMessageBytes: 1_000 }, { cutOff() {} });
  const transport = programTransport({ command: process.execPath }, intake, () => undefined);
  const errors: Error[] = [];
  let closes = 0;
  transport.onerror = (error) => void errors.push(error);
  transport.onclose = () => void closes++;
  {
    using _refusing = refuseStarts();
    await expect(transport.start()).rejects.toMatchObject({ code: 'EMFILE' });
  }
  await expect(transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' })).rejects.toThrow('The program has ended');
  await transport.close();
  expect({ codes: errors.map((each) => (each as NodeJS.ErrnoException).code), closes, pid: transport.pid }).toEqual({
    codes: ['EMFILE'],
    closes: 1,
    pid: null,
  });
});
