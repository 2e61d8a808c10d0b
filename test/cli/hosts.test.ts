/** `vitrine add` as users type it: a host starts the entry that it writes, and commands find the entry by its name. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../e2e/folders.ts';
import { vitrine } from './run.ts';

it('adds a folder to the project, where it is found by name and served, and takes it out again', async () => {
  await using home = await temporaryFolder();
  await using project = await temporaryFolder({ 'docs/a b.md': '# A' });
  const env = { HOME: home.path, XDG_CONFIG_HOME: home.at('.config') };
  const type = (...args: readonly string[]) => vitrine(args, project.path, env);
  const added = await type('add', 'cursor', './docs', '--scope', 'project', '--name', 'team', '--yes');
  expect(added).toMatchObject({ status: 0, stderr: '' });
  expect(await type('ls', 'team')).toEqual({ status: 0, stdout: 'file:///a%20b.md\n', stderr: '' });
  expect((await type('add', 'codex', 'docs', '--dry-run')).stdout).toContain(`"serve", "${project.at('docs')}"`);
  const removed = await type('remove', 'cursor', '--name', 'team', '--yes');
  expect(removed).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(await readFile(project.at('.cursor/mcp.json'), 'utf8'))).toEqual({ mcpServers: {} });
  expect(await type('remove', 'cursor', '--name', 'team')).toEqual({
    status: 0,
    stdout: 'Cursor has no "team"; nothing was changed\n',
    stderr: '',
  });
  expect(await type('add', 'cursor', 'docs')).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
  expect(await type('add', 'cursor', 'docs', '--scope', 'world')).toMatchObject({ status: 2 });
});
