/** `vitrine watch`: changes, what may have been missed, and how it ends. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { ODD } from './odd.ts';
import { run } from './run.ts';

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

it('prints a line for each change, and ends after as many as were wanted [RES-4]', async () => {
  const one = await run(['watch', ODD, 'odd:///plain.txt', '--count', '1']);
  expect(one).toMatchObject({ status: 0, stderr: 'vitrine: watching odd:///plain.txt\n' });
  expect(one.stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}updated {2}odd:\/\/\/plain\.txt\n$/);
  const both = await run(['watch', ODD, 'odd:///a', 'odd:///b', '--count', '2', '--json']);
  const events = JSON.parse(both.stdout) as readonly { readonly uri: string }[];
  expect(events.map(({ uri }) => uri).sort()).toEqual(['odd:///a', 'odd:///b']);
});

it('goes on after a lost connection, and says that something may be missed [RES-4]', async () => {
  const marker = folder.at('marker');
  const args = ['--env', `ODD_MARKER=${marker}`, '--count', '2', '--jsonl'];
  const { status, stdout } = await run(['watch', ODD, 'odd:///dies', ...args]);
  expect(status).toBe(0);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(events).toMatchObject([
    { kind: 'missed', reason: 'reconnected', watched: 'odd:///dies' },
    { kind: 'updated', uri: 'odd:///dies' },
  ]);
});
