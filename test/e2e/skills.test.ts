/** Folders with a `SKILL.md` are skills. The official client lists, gets, reads and verifies them, in both eras. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scene } from '../../src/testing/git-scene.ts';
import { failure, HINTS, metadata } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, DIAGONAL, ERAS } from './harness.ts';
import { collectNotices, subscribe } from './notices.ts';

const BYTES = Uint8Array.from({ length: 700 }, (_, index) => index % 256);
const head = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}\n${more}---\n\n# ${name}\n`;

/** Three skills, of which one lies inside another, two folders whose SKILL.md breaks the rules, and a file outside of all skills. */
const FILES: Readonly<Record<string, string | Uint8Array>> = {
  'skills/refunds/SKILL.md': head('refunds', 'license: Apache-2.0\nmetadata:\n  version: "1.0"\n'),
  'skills/refunds/templates/letter.md': '# Dear customer\n',
  'skills/refunds/templates/scan 1.bin': BYTES,
  'skills/refunds/partial/SKILL.md': head('partial'),
  'skills/refunds/partial/steps.txt': 'one\r\ntwo\r\n',
  'other/greeting/SKILL.md': head('greeting'),
  'other/readme.md': '# Nothing\n',
  'broken/shout/SKILL.md': head('SHOUT'),
  'broken/yaml/SKILL.md': '---\nname: [yaml\n---\n',
};

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder(
    Object.fromEntries(Object.entries(FILES).map(([path, each]) => [`docs/${path}`, each])),
  );
});
afterAll(() => folder[Symbol.asyncDispose]());

interface Called {
  readonly content: readonly {
    readonly type: string;
    readonly text?: string;
    readonly name?: string;
    readonly resource?: { readonly text?: string };
  }[];
}

const callTool = (on: Connected, name: string, args: object): Promise<Called> =>
  on.request<Called>('tools/call', { name, arguments: args });

const digest = (content: string | Uint8Array): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

describe.each(DIAGONAL)('skills of a folder over $transport, $era', ({ transport, era }) => {
  let server: Connected;
  beforeAll(async () => {
    const path = folder.at('docs');
    const config = await writeConfig(folder, { mounts: { docs: { path, skills: 'on' }, plain: { path } } });
    server = await connect(transport, era, ['--config', config]);
  });
  afterAll(() => server.close());

  it('are declared, listed completely, and verified byte for byte', async () => {
    const skills = new SkillsClient(server.client);
    expect(skills.supported && skills.directoryRead).toBe(true);
    const listing = await skills.list();
    expect(listing.skills.map(({ uri }) => uri)).toEqual([
      'docs+file:///other/greeting/SKILL.md',
      'docs+file:///skills/refunds/SKILL.md',
      'docs+file:///skills/refunds/partial/SKILL.md',
    ]);
    const refunds = listing.skills[1];
    expect(refunds?.frontmatter).toEqual({
      name: 'refunds',
      description: 'Does refunds',
      license: 'Apache-2.0',
      metadata: { version: '1.0' },
    });
    const files = Object.entries(FILES).filter(([path]) => path.startsWith('skills/refunds/'));
    expect(refunds?.resources).toEqual(
      files
        .map(([path, content]) => ({
          uri: `docs+file:///${path.replace(' ', '%20')}`,
          digest: digest(content),
          size: Buffer.byteLength(content as string),
        }))
        .sort((a, b) => (a.uri < b.uri ? -1 : 1)),
    );
    for (const skill of listing.skills) {
      expect((await skills.get(skill.uri)).skill).toEqual(skill);
      if (skill.resources === 'dynamic') throw new Error('The skill has no list of files');
      for (const { uri } of skill.resources) {
        const file = await skills.read(skill, uri);
        const path = decodeURIComponent(uri.slice('docs+file:///'.length));
        expect(Buffer.from(file.bytes)).toEqual(await readFile(folder.at(`docs/${path}`)));
        expect(file.verified).toBe(true);
      }
    }
    const children = await skills.readDirectory('docs+file:///skills/refunds');
    expect(children.resources.map(({ name }) => name)).toEqual(['partial', 'templates', 'refunds']);
  });

  it('have cache hints if the revision has them', async () => {
    const uri = 'docs+file:///other/greeting/SKILL.md';
    const hints = HINTS[era];
    const { skills, _meta, ...listed } = await server.request('skills/list');
    expect(listed).toEqual(hints);
    const { skill, _meta: _, ...got } = await server.request('skills/get', { uri });
    expect(got).toEqual(hints);
  });

  it.each([
    'docs+file:///broken/shout/SKILL.md',
    'docs+file:///other/readme.md',
    'docs+file:///other/greeting',
    'docs+file:///gone/SKILL.md',
    'plain+file:///other/greeting/SKILL.md',
    'skill://gone/SKILL.md',
  ])('are not served at %s', async (uri) => {
    expect(await failure(server.request('skills/get', { uri }))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('No skill is served at this URI'),
    });
  });

  it('are listed and given by a tool, for hosts that have only tools', async () => {
    const listing = await callTool(server, 'skill', {});
    expect(listing.content[0]?.text).toContain('docs+file:///skills/refunds/SKILL.md  Does refunds');
    expect(listing.content[0]?.text).toContain('3 skills. That is all.');
    const { content } = await callTool(server, 'skill', { uri: 'docs+file:///skills/refunds/SKILL.md' });
    expect(content.map(({ type, name, resource }) => name ?? resource?.text ?? type)).toEqual([
      'text',
      FILES['skills/refunds/SKILL.md'],
      'partial/SKILL.md',
      'partial/steps.txt',
      'templates/letter.md',
      'templates/scan%201.bin',
    ]);
  });

  it('that break the rules are left out, and the log says so', () => {
    expect(server.stderr()).toMatch(/broken\/shout\/SKILL\.md.*its name \\"SHOUT\\" is not one.*a skill is left out/);
    expect(server.stderr()).toMatch(/broken\/yaml\/SKILL\.md.*line 2/);
  });
});

it('skills are subject to access rules for each file', async () => {
  const rules = [
    { effect: 'deny', uris: ['docs+file:///skills/refunds/templates/**', 'docs+file:///other/greeting/SKILL.md'] },
    { effect: 'allow', uris: ['docs+**'] },
  ];
  const config = await writeConfig(
    folder,
    { mounts: { docs: { path: folder.at('docs'), skills: 'on' } }, access: { rules } },
    'rules.yaml',
  );
  await using server = await connect('http', 'modern', ['--config', config]);
  const skills = new SkillsClient(server.client);
  const listing = await skills.list();
  expect(listing.skills.map(({ frontmatter }) => frontmatter.name)).toEqual(['refunds', 'partial']);
  const [refunds] = listing.skills;
  if (refunds === undefined || refunds.resources === 'dynamic') throw new Error('The skill has no list of files');
  expect(refunds.resources.map(({ uri }) => uri)).toEqual([
    'docs+file:///skills/refunds/SKILL.md',
    'docs+file:///skills/refunds/partial/SKILL.md',
    'docs+file:///skills/refunds/partial/steps.txt',
  ]);
  expect((await skills.get(refunds.uri)).skill).toEqual(refunds);
  // The description comes from the content, and a caller who may list a resource may not always read it.
  expect((await metadata(server, refunds.uri)).description).toBeUndefined();
  const uri = 'docs+file:///other/greeting/SKILL.md';
  expect(await failure(server.request('skills/get', { uri }))).toMatchObject({ code: -32602 });
});

it('skills in a revision of git can be read and verified', async () => {
  await using work = await scene();
  for (const [path, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(work.directory, path)), { recursive: true });
    await writeFile(join(work.directory, path), content);
  }
  work.commit('Skills');
  const config = await writeConfig(
    folder,
    { mounts: { notes: { git: work.directory, skills: ['HEAD/skills/*'] } } },
    'git.yaml',
  );
  await using server = await connect('http', 'modern', ['--config', config]);
  const skills = new SkillsClient(server.client);
  const { skills: listed } = await skills.list();
  expect(listed.map(({ uri }) => uri)).toEqual(['notes+git:///HEAD/skills/refunds/SKILL.md']);
  for (const skill of listed) {
    if (skill.resources === 'dynamic') throw new Error('The skill has no list of files');
    for (const { uri } of skill.resources) expect((await skills.read(skill, uri)).verified).toBe(true);
  }
});

it.each(ERAS)('skills have a new digest as soon as a client of the %s era is notified of a change', async (era) => {
  await using own = await temporaryFolder({
    'docs/greeting/SKILL.md': head('greeting'),
    'docs/greeting/words.txt': 'Hello',
  });
  const config = await writeConfig(own, { mounts: { docs: { path: own.at('docs'), skills: 'on' } } });
  await using server = await connect('http', era, ['--config', config]);
  const uri = 'docs+file:///greeting/words.txt';
  const skill = 'docs+file:///greeting/SKILL.md';
  const skills = new SkillsClient(server.client);
  await server.reachable;
  await skills.list();
  const notices = await collectNotices(server);
  const subscription = await subscribe(server, [uri]);
  await own.write('docs/greeting/words.txt', 'Howdy');
  await notices.told(uri);
  const { resources } = (await skills.get(skill)).skill;
  expect(resources).toContainEqual({ uri, digest: digest('Howdy'), size: 5 });
  await subscription.end();
});
