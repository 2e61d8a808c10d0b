/** A skill is written completely or not at all, whatever happens meanwhile. */
import { readdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createResourceClient, getSkill } from '../../../src/client/index.ts';
import { writeSkill } from '../../../src/client/node/index.ts';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { refusal, type Scripted, scripted } from '../scripted.ts';
import { fileEntry } from './entries.ts';

const URI = 'skill://draw/SKILL.md';
const MORE = 'skill://draw/more.txt';
const TEXT = '---\nname: draw\ndescription: Draws rooms\n---\n';

let folder: Folder;
let more: () => string;
let server: Scripted;
beforeEach(async () => {
  folder = await temporaryFolder();
  more = () => 'more';
  const skill = {
    uri: URI,
    frontmatter: { name: 'draw', description: 'Draws rooms' },
    resources: [fileEntry(URI, TEXT), fileEntry(MORE, 'more')],
  };
  server = await scripted(
    {
      'skills/get': () => ({ skill }),
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: uri === URI ? TEXT : more() }] }),
    },
    { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
  );
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

async function written(force: boolean, signal?: AbortSignal): Promise<unknown> {
  await using resources = createResourceClient({ url: server.url });
  return await writeSkill(resources, await getSkill(resources, URI), folder.path, { force, signal });
}

describe.each([false, true])('if a skill of that name exists: %s', (there) => {
  beforeEach(async () => {
    if (there) await folder.write('draw/SKILL.md', 'old');
  });
  const present = (): Promise<readonly string[]> => readdir(folder.path, { recursive: true });

  it.each([
    ['a file cannot be read', { code: 'not-found' }],
    ['a file has other contents', { code: 'mismatch', data: { what: 'size', expected: 4, got: 5 } }],
    ['the write is aborted', new Error('enough')],
  ])('nothing is changed if %s', async (_, error) => {
    const stop = new AbortController();
    more = () => {
      if (error instanceof Error) stop.abort(error);
      else if (error.code === 'not-found') throw refusal(-32_602, { uri: MORE });
      return 'other';
    };
    const files = await present();
    await expect(written(there, stop.signal)).rejects.toMatchObject(error);
    expect(await present()).toEqual(files);
  });

  it('the skill exists afterwards, with nothing beside it', async () => {
    expect(await written(there)).toEqual({
      folder: folder.at('draw'),
      verified: true,
      files: [
        { uri: URI, path: 'SKILL.md', size: TEXT.length, renamed: false },
        { uri: MORE, path: 'more.txt', size: 4, renamed: false },
      ],
    });
    expect((await present()).slice().sort()).toEqual(['draw', 'draw/SKILL.md', 'draw/more.txt']);
    expect(await readFile(folder.at('draw/SKILL.md'), 'utf8')).toBe(TEXT);
  });
});

it('an entry that has become invalid since it was checked is refused', async () => {
  await using resources = createResourceClient({ url: server.url });
  const skill = { ...(await getSkill(resources, URI)), uri: 'skill://../SKILL.md' };
  await expect(writeSkill(resources, skill, folder.path)).rejects.toMatchObject({ code: 'invalid-answer' });
  expect(await readdir(folder.path)).toEqual([]);
});
