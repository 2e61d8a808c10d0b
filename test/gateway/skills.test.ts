/** Skills of mounted servers: complete, under the URIs of the mount, with digests of the bytes that a client reads. */
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { McpServer } from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scripted, scripted, serving } from '../client/scripted.ts';
import { failure } from '../e2e/answers.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Connected, connectHttp, ERAS, type Listening, startHttp } from '../e2e/harness.ts';

const head = (name: string): string =>
  `---\nname: ${name}\ndescription: Does ${name}\nmetadata:\n  version: "1.0"\n---\n# ${name}\n`;
const BYTES = Uint8Array.from({ length: 300 }, (_, index) => index % 256);

const FILES = {
  'refunds/SKILL.md': head('refunds'),
  'refunds/templates/letter.md': '# Dear customer\n',
  'refunds/templates/scan 1.bin': BYTES,
  'refunds/partial/SKILL.md': head('partial'),
  'greeting/SKILL.md': head('greeting'),
};

const SECRET = `ghp_${'a1B2'.repeat(9)}`;

const digest = `sha256:${'0'.repeat(64)}`;
const entry = (uri: string, name: string, files: readonly string[] = [uri]) => ({
  uri,
  frontmatter: { name, description: 'Says so' },
  resources: files.map((each) => ({ uri: each, digest, size: 1 })),
});

/** Only the first entry is valid. */
const HOSTILE = [
  entry('skill://good/SKILL.md', 'good'),
  entry('skill://other/SKILL.md', 'good'),
  entry('skill://stray/SKILL.md', 'stray', ['skill://stray/SKILL.md', 'skill://good/SKILL.md']),
  entry('skill://up/SKILL.md', 'up', ['skill://up/SKILL.md', 'skill://up/../good/SKILL.md']),
  entry('skill://headless/SKILL.md', 'headless', ['skill://headless/a.md']),
  entry('skill://twice/SKILL.md', 'twice', ['skill://twice/SKILL.md', 'skill://twice/SKILL.md']),
  entry(
    'skill://many/SKILL.md',
    'many',
    ['SKILL.md', ...Array(512).keys()].map((each) => `skill://many/${each}`),
  ),
  { uri: 'skill://no-manifest/SKILL.md', frontmatter: { name: 'no-manifest', description: 'x' } },
  {
    ...entry('skill://short/SKILL.md', 'short'),
    resources: [{ uri: 'skill://short/SKILL.md', digest: 'sha256:0', size: 1 }],
  },
];

const DECLARED = { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } };

let folder: Folder;
let catalogue: Pick<Scripted, 'url'> & AsyncDisposable;
let hostile: Scripted;
let undeclared: Scripted;
let server: Listening;
beforeAll(async () => {
  folder = await temporaryFolder();
  const skills = await SkillsExtension.load(memorySkillFiles(FILES));
  catalogue = await serving(() => {
    const made = new McpServer({ name: 'catalogue', version: '1' });
    skills.attach(made);
    return made;
  });
  hostile = await scripted(
    {
      'skills/list': () => ({ skills: HOSTILE }),
      'skills/get': ({ uri }) => ({ skill: HOSTILE.find((each) => each.uri === uri) ?? HOSTILE[0] }),
      'resources/list': () => ({ resources: [] }),
    },
    DECLARED,
  );
  const texts: Record<string, string> = {
    'notes://plain/SKILL.md': head('plain'),
    'notes://plain/refs/a.md': `The token is ${SECRET}\n`,
    'notes://lost.md': 'Nothing',
  };
  undeclared = await scripted({
    'resources/list': () => ({
      resources: Object.keys(texts).map((uri) => ({ uri, name: uri, mimeType: 'text/markdown' })),
    }),
    'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/markdown', text: texts[String(uri)] ?? '' }] }),
  });
  const config = await writeConfig(folder, {
    mounts: {
      up: { url: catalogue.url },
      hostile: { url: hostile.url },
      plain: { url: undeclared.url, skills: 'on' },
      quiet: { url: catalogue.url, skills: 'off' },
    },
    redact: { uris: ['plain+**', 'hostile+**'] },
  });
  server = await startHttp(['--config', config]);
});
afterAll(async () => {
  await server.stop();
  await Promise.all([catalogue, hostile, undeclared, folder].map((each) => each[Symbol.asyncDispose]()));
});

describe.each(ERAS)('for a client of the %s era', (era) => {
  let on: Connected;
  let skills: SkillsClient;
  beforeAll(async () => {
    on = await connectHttp(era, server);
    skills = new SkillsClient(on.client);
  });
  afterAll(() => on.close());

  it('skills of the SDK’s catalogue are complete, and each file matches its digest', async () => {
    const listing = await skills.list();
    const direct = await SkillsExtension.load(memorySkillFiles(FILES));
    const named = (uri: string): string => `up+${uri}`;
    const expected = direct.entries.map((each) => ({
      ...each,
      uri: named(each.uri),
      resources: each.resources === 'dynamic' ? 'dynamic' : each.resources.map((it) => ({ ...it, uri: named(it.uri) })),
    }));
    expect(listing.skills.filter(({ uri }) => uri.startsWith('up+'))).toEqual(expected);
    expect(expected).toHaveLength(3);
    for (const { uri } of expected) {
      const { skill } = await skills.get(uri);
      if (skill.resources === 'dynamic') throw new Error('It has a manifest');
      for (const file of skill.resources) expect((await skills.read(skill, file.uri)).verified).toBe(true);
    }
  });

  it('invalid skills are left out, and the valid one of the same server is there', async () => {
    const { skills: listed } = await skills.list();
    expect(listed.filter(({ uri }) => uri.startsWith('hostile+'))).toEqual([
      // Redaction may change a skill, so that it differs from the digest of its server.
      { uri: 'hostile+skill://good/SKILL.md', frontmatter: HOSTILE[0]?.frontmatter, resources: 'dynamic' },
    ]);
    for (const { uri } of HOSTILE.slice(1))
      expect(await failure(on.request('skills/get', { uri: `hostile+${uri}` }))).toMatchObject({ code: -32602 });
  });

  it('skills are found in a server that declares none, with digests of the bytes that are read through the gateway', async () => {
    const uri = 'plain+notes://plain/SKILL.md';
    const { skill } = await skills.get(uri);
    expect((await skills.list()).skills).toContainEqual(skill);
    const file = await skills.read(skill, 'refs/a.md');
    expect(file.verified).toBe(true);
    expect(file.text).not.toContain(SECRET);
  });

  it('skills are not searched in a mount where they are off', async () => {
    expect((await skills.list()).skills.filter(({ uri }) => uri.startsWith('quiet+'))).toEqual([]);
    const uri = 'quiet+skill://greeting/SKILL.md';
    expect(await failure(on.request('skills/get', { uri }))).toMatchObject({ code: -32602 });
  });

  it('folders of skills cannot be listed, because not all servers with skills support that', () => {
    expect(skills.directoryRead).toBe(false);
    expect(hostile.count('resources/directory/read')).toBe(0);
  });
});
