/** `vitrine watch` prints changes, says that changes may have been missed, and ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { CLI, startHttp } from '../../e2e/harness.ts';
import { until, within } from '../../e2e/waiting.ts';
import { ODD } from './odd.ts';
import { run } from './run.ts';

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

it('watch prints a line for each change, and ends after --count changes [RES-4]', async () => {
  const one = await run(['watch', ODD, 'odd:///plain.txt', '--count', '1']);
  expect(one).toMatchObject({ status: 0, stderr: 'vitrine: watching odd:///plain.txt\n' });
  expect(one.stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}updated {2}odd:\/\/\/plain\.txt\n$/);
  const both = await run(['watch', ODD, 'odd:///a', 'odd:///b', '--count', '2', '--json']);
  const events = JSON.parse(both.stdout) as readonly { readonly uri: string }[];
  expect(events.map(({ uri }) => uri).sort()).toEqual(['odd:///a', 'odd:///b']);
});

it('watch continues after a lost connection, and says that changes may be missed [RES-4]', async () => {
  const marker = folder.at('marker');
  const args = ['--env', `ODD_MARKER=${marker}`, '--count', '2', '--jsonl'];
  const { status, stdout } = await run(['watch', ODD, 'odd:///dies', ...args]);
  expect(status).toBe(0);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly kind: string });
  // The server reports its change as soon as the client subscribes again, maybe before the client prints that it has reconnected.
  expect(events.sort((a, b) => a.kind.localeCompare(b.kind))).toMatchObject([
    { kind: 'missed', reason: 'reconnected', watched: 'odd:///dies' },
    { kind: 'updated', uri: 'odd:///dies' },
  ]);
});

it('watch without a URI prints added and removed resources, in a folder and below it [RES-4]', async () => {
  await using watched = await temporaryFolder({ 'stays.txt': '', 'goes.txt': '', 'deep/er/goes.txt': '' });
  await using server = await startHttp([watched.path]);
  const child = spawn(process.execPath, [CLI, 'watch', server.url, '--count', '4', '--jsonl']);
  const closed = once(child, 'close');
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (part: Buffer) => {
    stdout += part.toString();
  });
  child.stderr.on('data', (part: Buffer) => {
    stderr += part.toString();
  });
  try {
    await until(() => stderr.includes('watching the list of resources'), 'the command to watch');
    await Promise.all([rm(watched.at('goes.txt')), rm(watched.at('deep/er'), { recursive: true })]);
    await watched.write('comes.txt', '');
    expect(await within(closed, 'its end')).toEqual([0, null]);
  } finally {
    child.kill();
  }
  const events = stdout
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each) as { readonly kind: string; readonly uri: string });
  expect(events.map(({ kind, uri }) => `${kind} ${uri}`).sort()).toEqual([
    'added file:///comes.txt',
    'removed file:///deep/er',
    'removed file:///deep/er/goes.txt',
    'removed file:///goes.txt',
  ]);
});
