/** `notifications/resources/list_changed`: changes of the set of listed resources, at any depth. */
import { mkdir, rename, rm, unlink } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { drain } from './answers.ts';
import { type Folder, temporaryFolder } from './folders.ts';
import { type Connected, connect, MATRIX } from './harness.ts';
import { collectNotices, type Notices, subscribeToList } from './notices.ts';
import { until } from './waiting.ts';

describe.each(MATRIX)('changes of the list over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  let notices: Notices;
  let nudges = 0;
  beforeAll(async () => {
    folder = await temporaryFolder({ 'a/b/c/deep.txt': '', 'top.txt': '' });
    server = await connect(transport, era, [folder.path]);
    notices = await collectNotices(server);
    await subscribeToList(server, notices, () => folder.write(`nudge-${nudges++}.txt`, ''));
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  const listed = async (): Promise<string[]> =>
    (await drain(server, 'resources/list')).map(({ uri }) => uri.slice('file:///'.length));

  /** Resolves when all earlier changes have been reported. */
  beforeEach(async () => {
    const before = notices.count('list_changed');
    await folder.write(`settle-${nudges++}.txt`, '');
    await notices.told('list_changed', before + 1);
    notices.forget();
  });

  it.each<[string, (at: Folder['at'], folder: Folder) => Promise<unknown>, string, boolean]>([
    ['a file is created', (_, { write }) => write('new.txt', ''), 'new.txt', true],
    ['a file is deleted', (at) => unlink(at('top.txt')), 'top.txt', false],
    ['a file is created far below', (_, { write }) => write('a/b/c/new.txt', ''), 'a/b/c/new.txt', true],
    [
      'a file far below is renamed',
      (at) => rename(at('a/b/c/deep.txt'), at('a/b/c/deeper.txt')),
      'a/b/c/deeper.txt',
      true,
    ],
    ['a folder is made', (at) => mkdir(at('folder')), 'folder', true],
    ['folders are made in one another', (_, { write }) => write('x/y/z/file.txt', ''), 'x/y/z/file.txt', true],
    ['a folder is moved', (at) => rename(at('a/b'), at('moved')), 'moved/c', true],
    ['a folder is deleted with all in it', (at) => rm(at('moved'), { recursive: true }), 'moved', false],
  ])('are reported when %s [RES-4]', async (_, change, path, present) => {
    await change(folder.at, folder);
    await notices.told('list_changed');
    expect((await listed()).includes(path)).toBe(present);
  });

  it('are reported for folders that are newer than the subscription [RES-4]', async () => {
    await folder.write('young/younger/file.txt', '');
    await notices.told('list_changed');
    // The server begins to watch a new folder after a moment, and then finds the earlier changes in it.
    let count = 0;
    await until(async () => {
      const before = notices.count('list_changed');
      await folder.write(`young/younger/${count++}.txt`, '');
      return until(() => notices.count('list_changed') > before, 'a notice', 500).catch(() => false as const);
    }, 'a change in a young folder to be told');
    expect(await listed()).toContain('young/younger/0.txt');
  });

  it('are not reported for edits, which change no list, and for hidden names [RES-4]', async () => {
    await folder.write('new.txt', 'edited');
    await folder.write('.hidden', 'hidden');
    await folder.write('.env', 'SECRET=1');
    await folder.write('settled.txt', '');
    await notices.told('list_changed');
    expect(notices.count('list_changed')).toBe(1);
  });
});
