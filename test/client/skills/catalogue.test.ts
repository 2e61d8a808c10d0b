/** The skills of the official SDK's catalogue, as the client library lists, reads and verifies them (SEP-2640). */
import { describe, expect, it } from 'vitest';
import {
  createResourceClient,
  getSkill,
  listSkills,
  type ResourceClient,
  readSkill,
  readSkillFile,
  verifySkill,
} from '../../../src/client/index.ts';
import { connectResourceClient } from '../../../src/client/node/index.ts';
import { temporaryFolder } from '../../e2e/folders.ts';
import { ERAS } from '../../e2e/harness.ts';
import { all, eraOf } from '../scripted.ts';
import { DRAW, FILES, PROGRAM, serveCatalogue } from './catalogue.ts';

const DRAW_URI = 'skill://draw/SKILL.md';

/** Every file of every listed skill, by its path. */
async function everything(resources: ResourceClient): Promise<Record<string, Uint8Array>> {
  const found: Record<string, Uint8Array> = {};
  for await (const skill of listSkills(resources)) {
    for await (const { path, bytes, verified } of readSkill(resources, skill)) {
      expect(verified).toBe(true);
      const name = [skill.uri.slice('skill://'.length, -'/SKILL.md'.length), ...path].join('/');
      found[name] = bytes;
    }
  }
  return found;
}

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? new TextEncoder().encode(content) : content;

const EXPECTED = Object.fromEntries(Object.entries(FILES).map(([name, content]) => [name, bytesOf(content)]));

describe.each(ERAS)('skills of a catalogue in the %s era', (era) => {
  it('are listed, page by page, without a read of any file', async () => {
    await using server = await serveCatalogue(FILES, 1);
    await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
    const listing = listSkills(resources);
    const skills = await all(listing);
    expect(skills.map(({ uri }) => uri)).toEqual([DRAW_URI, 'skill://draw/inner/SKILL.md', 'skill://label/SKILL.md']);
    expect(skills[0]?.frontmatter).toEqual({
      name: 'draw',
      description: 'Draws rooms',
      metadata: { version: '2' },
      floors: [1, 2],
    });
    expect(listing.report).toMatchObject({ pages: 3, resources: 3, dropped: 0, stopped: 'end' });
    expect(listing.refused).toEqual([]);
    expect(await getSkill(resources, DRAW_URI)).toEqual(skills[0]);
    expect(server.count('skills/list')).toBe(3);
    expect(server.count('resources/read')).toBe(0);
  });

  it('are read byte for byte, and every byte is verified', async () => {
    await using server = await serveCatalogue();
    await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
    // A nested skill is a part of the outer one, too.
    expect(await everything(resources)).toEqual(EXPECTED);
  });

  it('are read file by file, by path or URI', async () => {
    await using server = await serveCatalogue();
    await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
    const skill = await getSkill(resources, DRAW_URI);
    const file = await readSkillFile(resources, skill, 'scripts/draw it.py');
    expect(file).toMatchObject({ path: ['scripts', 'draw it.py'], text: 'print("Raum für alle")\n', verified: true });
    expect(await readSkillFile(resources, skill, file.uri)).toEqual(file);
    expect((await readSkillFile(resources, skill)).text).toBe(DRAW);
    expect(server.asked.filter(({ method }) => method === 'resources/read').map(({ params }) => params.uri)).toEqual([
      file.uri,
      file.uri,
      DRAW_URI,
    ]);
  });

  it('that are missing are not found', async () => {
    await using server = await serveCatalogue();
    await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
    await expect(getSkill(resources, 'skill://paint/SKILL.md')).rejects.toMatchObject({
      code: 'not-found',
      rpcCode: -32_602,
    });
    const skill = await getSkill(resources, DRAW_URI);
    await expect(readSkillFile(resources, skill, 'scripts/other.py')).rejects.toMatchObject({
      code: 'mismatch',
      uri: 'skill://draw/scripts/other.py',
      data: { what: 'unlisted', got: 'scripts/other.py' },
    });
  });

  it('are verified as a whole', async () => {
    await using server = await serveCatalogue();
    await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
    const skill = await getSkill(resources, DRAW_URI);
    const bytes = Object.entries(EXPECTED).reduce(
      (sum, [name, { length }]) => sum + (/^draw/.test(name) ? length : 0),
      0,
    );
    expect(await verifySkill(resources, skill)).toEqual({ skill, verified: true, files: 5, bytes });
  });
});

it('the client library lists and reads the skills of a program over stdio', async () => {
  await using folder = await temporaryFolder(FILES);
  const resources = await connectResourceClient({ command: process.execPath, args: [PROGRAM, folder.path] });
  try {
    expect(await everything(resources)).toEqual(EXPECTED);
  } finally {
    await resources.close();
  }
});
