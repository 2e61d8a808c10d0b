/** Commands that walk a folder enter its repository only on request, and count as complete without the repository's content. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gitIn } from '../../../src/testing/git-fixture.ts';
import { type Folder, temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { type Listening, startHttp } from '../../e2e/harness.ts';
import { run } from './run.ts';

let folder: Folder;
let server: Listening;

beforeAll(async () => {
  folder = await temporaryFolder({ 'docs/a.txt': 'a clock\n', 'docs/in/b.txt': 'b\n' });
  gitIn(folder.at('docs'), ['init', '--quiet', '--template=', '--initial-branch=main']);
  gitIn(folder.at('docs'), ['add', '--all']);
  gitIn(folder.at('docs'), ['commit', '--quiet', '-m', 'First']);
  const mounts = { docs: { path: 'docs', prefix: 'none', nested: ['git'] } };
  server = await startHttp(['--config', await writeConfig(folder, { icons: 'off', mounts })]);
});
afterAll(async () => {
  await server.stop();
  await folder[Symbol.asyncDispose]();
});

const said = async (...args: string[]): Promise<string> => {
  const { status, stdout, stderr } = await run(args);
  expect({ status, stderr }, args.join(' ')).toEqual({ status: 0, stderr: '' });
  return stdout;
};

it('a folder is listed, drawn, searched and fetched without the content of its repository', async () => {
  const listed = await said('ls', '-R', server.url);
  expect(listed.match(/\.txt$/gm)).toHaveLength(2);
  expect(listed).toContain('.git');
  expect((await said('tree', server.url)).match(/\.txt$/gm)).toHaveLength(2);
  expect((await said('grep', server.url, 'clock')).match(/clock/g)).toHaveLength(1);
  const to = join(folder.path, 'to');
  expect(await said('get', server.url, '--to', to)).toMatch(/^2 written/);
  expect((await readdir(to, { recursive: true })).filter((name) => name.endsWith('.txt'))).toHaveLength(2);
});

it('a command that names the repository shows its content', async () => {
  expect((await said('ls', '-R', server.url, 'file:///.git/HEAD')).match(/\.txt$/gm)).toHaveLength(2);
  expect(await said('ls', server.url, 'file:///.git')).toContain('branches');
  expect(await said('cat', server.url, 'file:///.git/branches/main/a.txt')).toBe('a clock\n');
});
