/** Commands that walk a tree report it as cut short only if it is, even if the server's own list is shorter than the tree. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { type Listening, startHttp } from '../../e2e/harness.ts';
import { run } from './run.ts';

/** The most entries of the server's own list. */
const LISTED = 20;
const FILES = 66;
const FOLDERS = 11;

let folder: Folder;
const servers = new Map<string, Listening>();

beforeAll(async () => {
  folder = await temporaryFolder();
  await fill(join(folder.path, 'flat'), ['.']);
  await fill(
    join(folder.path, 'deep'),
    Array.from({ length: FOLDERS }, (_, n) => `${n}/in`),
  );
  const configs = {
    'a flat folder': { mounts: { only: { path: './flat', prefix: 'none' } } },
    'a deep folder': { mounts: { only: { path: './deep', prefix: 'none' } } },
    'two mounts': { mounts: { flat: './flat', deep: './deep' } },
    'more mounts than a list has': {
      listing: { maxResources: 2 },
      mounts: { a: './deep', b: './deep', c: './deep' },
    },
  };
  for (const [name, config] of Object.entries(configs)) {
    const own = { icons: 'off', listing: { maxResources: LISTED }, ...config };
    const file = await writeConfig(folder, own, `${name}.yaml`);
    servers.set(name, await startHttp(['--config', file]));
  }
});
afterAll(async () => {
  await Promise.all([...servers.values()].map((server) => server.stop()));
  await folder[Symbol.asyncDispose]();
});

async function fill(root: string, below: readonly string[]): Promise<void> {
  for (const each of below) {
    await mkdir(join(root, each), { recursive: true });
    const names = Array.from({ length: FILES / below.length }, (_, n) => `${n}.txt`);
    await Promise.all(names.map((name) => writeFile(join(root, each, name), name)));
  }
}

const urlOf = (name: string): string => servers.get(name)?.url ?? '';

describe.each([
  ['a flat folder', FILES],
  ['a deep folder', FILES],
  ['two mounts', 2 * FILES],
])('%s', (name, files) => {
  it('is listed completely by ls -R and tree, without a note', async () => {
    const listed = await run(['ls', '-R', urlOf(name)]);
    expect(listed).toMatchObject({ status: 0, stderr: '' });
    expect(listed.stdout.match(/\.txt$/gm)).toHaveLength(files);
    const drawn = await run(['tree', urlOf(name)]);
    expect(drawn.stderr).toBe('');
    expect(drawn.status).toBe(0);
    expect(drawn.stdout.match(/\.txt$/gm)).toHaveLength(files);
  });

  it('is fetched completely by get', async () => {
    const to = join(folder.path, `to ${name}`);
    const { status, stdout, stderr } = await run(['get', urlOf(name), '--to', to]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^${files} written, 0 unchanged, [^,]* read: `));
  });
});

describe('the list of roots', () => {
  it.each([['ls', '-R'], ['tree'], ['get', '--to', 'cut']])(
    'is reported as cut short by %s if some of the roots are missing',
    async (...command) => {
      const args = command.map((word) => (word === 'cut' ? join(folder.path, word) : word));
      const { status, stderr } = await run([...args, urlOf('more mounts than a list has')]);
      expect(status).toBe(7);
      expect(stderr).toContain('cut short by the server: 1');
    },
  );

  it('is reported as cut short by ls, too, after the roots that it has', async () => {
    const { status, stdout, stderr } = await run(['ls', urlOf('more mounts than a list has')]);
    expect({ status, stdout }).toEqual({ status: 7, stdout: 'a+file:///\nb+file:///\n' });
    expect(stderr).toMatch(/^vitrine: cut short by the server: \S+\n$/);
  });

  it('is printed by ls without a note if it has all roots', async () => {
    expect(await run(['ls', urlOf('two mounts')])).toEqual({
      status: 0,
      stdout: 'flat+file:///\ndeep+file:///\n',
      stderr: '',
    });
  });
});
