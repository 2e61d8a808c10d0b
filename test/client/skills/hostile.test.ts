/** Servers that send invalid entries and files of skills: none of them are accepted (SEP-2640). */
import { describe, expect, it } from 'vitest';
import {
  createResourceClient,
  getSkill,
  listSkills,
  type ResourceClient,
  readSkillFile,
  verifySkill,
} from '../../../src/client/index.ts';
import { ERAS } from '../../e2e/harness.ts';
import { type Answers, all, eraOf, refusal, type Scripted, scripted } from '../scripted.ts';
import { fileEntry } from './entries.ts';

const URI = 'skill://acme/draw/SKILL.md';
const TEXT = '---\nname: draw\ndescription: Draws rooms\n---\nBody\n';
const EXTRA = 'skill://acme/draw/extra.txt';
const DECLARED = { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } };

const SELF = fileEntry(URI, TEXT);
const entry = (more: object = {}): Record<string, unknown> => ({
  uri: URI,
  frontmatter: { name: 'draw', description: 'Draws rooms' },
  resources: [SELF, fileEntry(EXTRA, 'extra')],
  ...more,
});
const withFiles = (...files: object[]): object => entry({ resources: [SELF, ...files] });

interface Scene extends AsyncDisposable {
  readonly server: Scripted;
  readonly resources: ResourceClient;
}

/** @param texts contents by URI; @param skill the only entry */
async function scene(
  skill: object,
  texts: Readonly<Record<string, string>> = {},
  {
    answers = {},
    capabilities = DECLARED,
    era = 'modern' as (typeof ERAS)[number],
  }: {
    answers?: Answers;
    capabilities?: Readonly<Record<string, unknown>>;
    era?: (typeof ERAS)[number];
  } = {},
): Promise<Scene> {
  const contents: Readonly<Record<string, string>> = { [URI]: TEXT, [EXTRA]: 'extra', ...texts };
  const server = await scripted(
    {
      'skills/list': () => ({ skills: [skill], ttlMs: 0, cacheScope: 'private' }),
      'skills/get': () => ({ skill, ttlMs: 0, cacheScope: 'private' }),
      'resources/read': ({ uri }) => {
        const text = contents[String(uri)];
        if (text === undefined) throw refusal(-32_602, { uri });
        return { contents: [{ uri, text }], ttlMs: 0, cacheScope: 'private' };
      },
      ...answers,
    },
    capabilities,
  );
  const resources = createResourceClient({ url: server.url, ...eraOf[era] });
  return {
    server,
    resources,
    async [Symbol.asyncDispose]() {
      await resources.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe.each(ERAS)('in the %s era', (era) => {
  it.each([
    ['size', { [URI]: `${TEXT}more` }, Buffer.byteLength(TEXT), Buffer.byteLength(TEXT) + 4],
    ['size', { [URI]: TEXT.slice(1) }, Buffer.byteLength(TEXT), Buffer.byteLength(TEXT) - 1],
    [
      'digest',
      { [URI]: TEXT.replace('Body', 'Evil') },
      expect.stringMatching(/^sha256:/),
      expect.stringMatching(/^sha256:/),
    ],
  ])('a SKILL.md with another %s is refused, and no other file is read', async (what, texts, expected, got) => {
    await using on = await scene(entry(), texts as Record<string, string>, { era });
    const skill = await getSkill(on.resources, URI);
    await expect(verifySkill(on.resources, skill)).rejects.toMatchObject({
      code: 'mismatch',
      uri: URI,
      data: { what, expected, got },
    });
    expect(on.server.asked.filter(({ params }) => params.uri === EXTRA)).toEqual([]);
  });

  it.each([
    [
      'another description',
      { name: 'draw', description: 'Steals' },
      'description: "Steals"',
      'description: "Draws rooms"',
    ],
    [
      'a field that the file does not have',
      { ...(entry().frontmatter as object), license: 'MIT' },
      'license: "MIT"',
      'license: not there',
    ],
  ])('an entry with %s contradicts its file, and is refused', async (_, frontmatter, expected, got) => {
    await using on = await scene(entry({ frontmatter }), {}, { era });
    const skill = await getSkill(on.resources, URI);
    await expect(readSkillFile(on.resources, skill)).rejects.toMatchObject({
      code: 'mismatch',
      data: { what: 'frontmatter', expected, got },
    });
  });

  it('a server that declares no skills is not asked for them', async () => {
    await using on = await scene(entry(), {}, { era, capabilities: { resources: {} } });
    const unsupported = { code: 'unsupported', message: expect.stringContaining('does not declare skills') };
    await expect(all(listSkills(on.resources))).rejects.toMatchObject(unsupported);
    await expect(getSkill(on.resources, URI)).rejects.toMatchObject(unsupported);
    expect(on.server.asked).toEqual([]);
  });
});

describe('an entry', () => {
  it.each([
    ['a file outside of the folder', withFiles(fileEntry('skill://acme/other/x', '')), 'not in its folder'],
    [
      'a file beside it with the same beginning',
      withFiles(fileEntry('skill://acme/drawing/x', '')),
      'not in its folder',
    ],
    ['the folder itself', withFiles(fileEntry('skill://acme/draw', '')), 'not in its folder'],
    ['a file of another scheme', withFiles(fileEntry('file:///etc/passwd', '')), 'not in its folder'],
    ['two dots', withFiles(fileEntry('skill://acme/draw/../other/x', '')), 'not in its folder'],
    ['two dots with escapes', withFiles(fileEntry('skill://acme/draw/%2e%2E/x', '')), 'not in its folder'],
    ['a slash with an escape', withFiles(fileEntry('skill://acme/draw/a%2fb', '')), 'must not contain a slash'],
    ['a backslash with an escape', withFiles(fileEntry('skill://acme/draw/..%5c..%5cx', '')), 'not in its folder'],
    ['an absolute name', withFiles(fileEntry('skill://acme/draw//etc/passwd', '')), 'empty segment'],
    ['a query', withFiles(fileEntry(`${EXTRA}?x`, '')), 'not in the folder'],
    ['a part of a file', withFiles(fileEntry(`${EXTRA}#L1`, '')), 'not in the folder'],
    ['a control character', withFiles(fileEntry('skill://acme/draw/%00', '')), 'must not contain control characters'],
    ['a file twice', withFiles(fileEntry(EXTRA, ''), fileEntry(EXTRA, '')), 'twice'],
    [
      'a file twice, with an escape',
      withFiles(fileEntry(EXTRA, ''), fileEntry(EXTRA.replace('x', '%78'), '')),
      'twice',
    ],
    ['no SKILL.md', entry({ resources: [fileEntry(EXTRA, '')] }), 'has no SKILL.md'],
    ['no files', entry({ resources: undefined }), 'wrong at resources'],
    ['files that are a word', entry({ resources: 'static' }), 'wrong at resources'],
    ['a digest of another kind', withFiles({ ...fileEntry(EXTRA, ''), digest: 'md5:00' }), 'wrong at resources'],
    ['a size below nothing', withFiles({ ...fileEntry(EXTRA, ''), size: -1 }), 'wrong at resources'],
    ['a size that is too large', withFiles({ ...fileEntry(EXTRA, ''), size: 2 ** 24 }), 'at most 16777216'],
    [
      'too many files',
      withFiles(...Array.from({ length: 512 }, (_, at) => fileEntry(`${EXTRA}${at}`, ''))),
      '513 files',
    ],
    ['a name that is not the folder', entry({ frontmatter: { name: 'paint', description: '' } }), 'called "draw"'],
    ['no description', entry({ frontmatter: { name: 'draw' } }), 'wrong at frontmatter.description'],
    ['the URI of another file', entry({ uri: EXTRA }), 'does not end with /SKILL.md'],
    ['a folder whose name no skill may have', entry({ uri: 'skill://acme/Draw/SKILL.md' }), 'its folder is called'],
    ['no folder', entry({ uri: 'skill:///SKILL.md' }), 'its folder is called'],
    ['a URI with two dots', entry({ uri: 'skill://acme/../draw/SKILL.md', resources: 'dynamic' }), 'dot segment'],
  ])('with %s is left out of a list, and refused', async (_, skill, why) => {
    await using on = await scene(skill);
    const listing = listSkills(on.resources);
    expect(await all(listing)).toEqual([]);
    expect(listing.report.dropped).toBe(1);
    expect(listing.refused).toEqual([{ uri: expect.any(String), reason: expect.stringContaining(why) }]);
    const code = expect.stringMatching(/^(?:invalid-answer|too-large)$/);
    await expect(getSkill(on.resources, (skill as { uri: string }).uri)).rejects.toMatchObject({ code });
  });

  it.each([
    ['with fields that nobody knows', entry({ 'x-mood': 'good' })],
    ['of another scheme', { ...entry({ uri: 'github://acme/draw/SKILL.md' }), resources: 'dynamic' }],
    [
      'of as many files as there may be',
      withFiles(...Array.from({ length: 511 }, (_, at) => fileEntry(`${EXTRA}${at}`, ''))),
    ],
    [
      'with names that differ only in case',
      withFiles(fileEntry(EXTRA, ''), fileEntry(EXTRA.replace('extra', 'Extra'), '')),
    ],
  ])('%s is accepted unchanged', async (_, skill) => {
    await using on = await scene(skill);
    expect(await all(listSkills(on.resources))).toEqual([skill]);
  });

  it('of another skill than the requested one is refused', async () => {
    await using on = await scene(entry());
    await expect(getSkill(on.resources, 'skill://acme/paint/SKILL.md')).rejects.toMatchObject({
      code: 'invalid-answer',
      message: expect.stringContaining(`another skill, ${URI}`),
    });
  });
});

describe('a list', () => {
  it('of invalid entries names the first of them, and is given up if there are very many', async () => {
    let count = 10_000;
    const answers: Answers = { 'skills/list': () => ({ skills: Array.from({ length: count }, () => ({ uri: URI })) }) };
    await using on = await scene({}, {}, { answers });
    const listing = listSkills(on.resources, { fresh: true });
    expect(await all(listing)).toEqual([]);
    expect([listing.report.dropped, listing.refused.length]).toEqual([10_000, 100]);
    count = 10_001;
    await expect(all(listSkills(on.resources, { fresh: true }))).rejects.toMatchObject({ code: 'invalid-answer' });
  });

  it('with a repeated cursor ends', async () => {
    const answers = { 'skills/list': () => ({ skills: [entry()], nextCursor: 'on' }) };
    await using on = await scene({}, {}, { answers });
    const listing = listSkills(on.resources);
    expect(await all(listing)).toHaveLength(2);
    expect(listing.report.stopped).toBe('repeated-cursor');
  });

  it('that is not a list is refused', async () => {
    await using on = await scene({}, {}, { answers: { 'skills/list': () => ({ skills: 'none' }) } });
    await expect(all(listSkills(on.resources))).rejects.toMatchObject({ code: 'invalid-answer' });
  });
});

describe('a SKILL.md', () => {
  const frontmatterOf = (head: string): string => `---\n${head}\n---\n`;
  it.each([
    ['without front matter', 'Body\n', 'does not begin with YAML'],
    ['with front matter that does not end', '---\nname: draw\n', 'does not begin with YAML'],
    ['with broken YAML', frontmatterOf('name: [draw'), 'cannot be read'],
    ['with a field twice', frontmatterOf('name: draw\nname: draw'), 'cannot be read'],
    ['with a list', frontmatterOf('- name'), 'no mapping'],
    ['with too many levels', frontmatterOf(`a: ${'['.repeat(10_000)}${']'.repeat(10_000)}`), 'cannot be read'],
    ['with front matter that is too long', frontmatterOf(`a: ${'x'.repeat(40_000)}`), 'more than 32768 characters'],
    [
      'with aliases of aliases',
      frontmatterOf(
        `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefgh'].map((name, at) => `${name}: &${name} [${`*${'abcdefgh'[at]},`.repeat(9)}]`).join('\n')}`,
      ),
      'cannot be read',
    ],
  ])('%s is refused', async (_, text, why) => {
    await using on = await scene(entry({ resources: [fileEntry(URI, text)] }), { [URI]: text });
    const skill = await getSkill(on.resources, URI);
    await expect(readSkillFile(on.resources, skill)).rejects.toMatchObject({
      code: 'invalid-answer',
      uri: URI,
      message: expect.stringContaining(why),
    });
  });
});

describe('a dynamic skill', () => {
  const dynamic = entry({ resources: 'dynamic' });
  const child = (name: string): object => ({ uri: `skill://acme/draw/${name}`, name, mimeType: 'text/plain' });
  const directory: Answers = {
    'resources/directory/read': () => ({
      resources: [child('SKILL.md'), child('extra.txt')],
      ttlMs: 0,
      cacheScope: 'private',
    }),
  };
  const directories = { resources: {}, extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } } };

  it('is read, and marked as not verified', async () => {
    await using on = await scene(dynamic);
    const skill = await getSkill(on.resources, URI);
    expect(await readSkillFile(on.resources, skill, 'extra.txt')).toMatchObject({ text: 'extra', verified: false });
    expect(await verifySkill(on.resources, skill)).toMatchObject({ verified: false, files: 1 });
  });

  it('has the files that the server lists, if it declares such lists', async () => {
    await using on = await scene(dynamic, {}, { answers: directory, capabilities: directories });
    const skill = await getSkill(on.resources, URI);
    expect(await verifySkill(on.resources, skill)).toMatchObject({ verified: false, files: 2 });
  });

  it('of more bytes than allowed for a skill is not read to its end', async () => {
    const texts = { [EXTRA]: 'x'.repeat(2 ** 24 - 10) };
    await using on = await scene(dynamic, texts, { answers: directory, capabilities: directories });
    const skill = await getSkill(on.resources, URI);
    await expect(verifySkill(on.resources, skill)).rejects.toMatchObject({ code: 'too-large' });
  });

  it('must have the front matter of its file', async () => {
    await using on = await scene({ ...dynamic, frontmatter: { name: 'draw', description: 'Other' } });
    const skill = await getSkill(on.resources, URI);
    await expect(readSkillFile(on.resources, skill)).rejects.toMatchObject({ code: 'mismatch' });
  });
});

it('a file that was cached before the entry changed is read again', async () => {
  let text = 'old';
  const answers: Answers = {
    'skills/get': () => ({ skill: withFiles(fileEntry(EXTRA, text)), ttlMs: 0, cacheScope: 'private' }),
    'resources/read': ({ uri }) => ({ contents: [{ uri, text }], ttlMs: 60_000, cacheScope: 'private' }),
  };
  await using on = await scene({}, {}, { answers });
  const read = async () => (await readSkillFile(on.resources, await getSkill(on.resources, URI), EXTRA)).text;
  expect(await read()).toBe('old');
  text = 'changed';
  expect(await read()).toBe('changed');
});
