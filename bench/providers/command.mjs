/** Programs beside `node:child_process`: one is started for each read. No native client lists programs. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { AT_A_TIME, asking, nameOf, names, TEXT } from '../lib/turns.mjs';

export const client = 'node:child_process';

const run = promisify(execFile);

/** @param {import('../lib/turns.mjs').Load} load */
export async function open(load) {
  const program = 'printf';
  // Reads of one program at the same time share its run, so each resource has a program of its own.
  const argsOf = (name) => ['%s', `${name} ${TEXT}`];
  const { page, bytes } = await asking(load);
  const { commandProvider } = await load('providers/command.js');
  const provider = await commandProvider({
    run: Object.fromEntries(names().map((name) => [name, [program, ...argsOf(name)]])),
    maxConcurrent: AT_A_TIME,
  });
  return {
    turns: {
      list: { ours: () => page(provider, 'command:///') },
      read: {
        ours: (index) => bytes(provider, `command:///${nameOf(index)}`),
        native: async (index) => (await run(program, argsOf(nameOf(index)), { encoding: 'buffer' })).stdout.byteLength,
      },
    },
    close: () => provider.close(),
  };
}
