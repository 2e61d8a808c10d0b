/** Skills from other sources than folders. Vitrine's client lists and verifies them, directly and through a gateway. */
import { symlink } from 'node:fs/promises';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResourceClient, listSkills, readSkill, verifySkill } from '../../src/client/index.ts';
import { all, eraOf } from '../client/scripted.ts';
import { type S3Server, s3, startS3 } from '../services/s3.ts';
import { describeWith } from '../services/service.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { ERAS, startHttp } from './harness.ts';

const MANUAL = '---\nname: winding\ndescription: Winds clocks\nlicense: CC0-1.0\n---\n\n# Winding\n';
const BYTES = Uint8Array.from({ length: 3_000 }, (_, at) => (at * 7) % 256);
/** The files of one skill, by their paths below its folder. */
const FILES: Readonly<Record<string, Uint8Array>> = {
  'SKILL.md': strToU8(MANUAL),
  'assets/key 1.bin': BYTES,
  'references/häufig.md': strToU8('# Oft\r\n'),
};
const below = (folder: string): Record<string, Uint8Array> =>
  Object.fromEntries(Object.entries(FILES).map(([path, bytes]) => [`${folder}/${path}`, bytes]));

/** Reads every skill of a server, and compares it with the source. */
async function expectWinding(url: string, era: (typeof ERAS)[number], uris: readonly string[]): Promise<void> {
  await using resources = createResourceClient({ url, ...eraOf[era] });
  const skills = await all(listSkills(resources));
  expect(skills.map(({ uri }) => uri)).toEqual(uris);
  for (const skill of skills) {
    expect(skill.frontmatter).toEqual({ name: 'winding', description: 'Winds clocks', license: 'CC0-1.0' });
    expect(await verifySkill(resources, skill)).toMatchObject({ verified: true, files: 3 });
    const files = await all(readSkill(resources, skill));
    const found = Object.fromEntries(files.map(({ path, bytes }) => [path.join('/'), Buffer.from(bytes)]));
    expect(found).toEqual(Object.fromEntries(Object.entries(FILES).map(([path, bytes]) => [path, Buffer.from(bytes)])));
  }
}

describe('skills in archives and in folders with links', () => {
  let folder: Folder;
  beforeAll(async () => {
    folder = await temporaryFolder({
      'outside/secret.md': 'not for readers of skills\n',
      ...below('docs/winding'),
      'docs/pack.zip': zipSync(below('skills/winding')),
    });
    await symlink(folder.at('outside'), folder.at('docs/winding/elsewhere'));
    await symlink(folder.at('outside/secret.md'), folder.at('docs/winding/secret.md'));
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  const uris = ['docs+file:///pack.zip/skills/winding/SKILL.md', 'docs+file:///winding/SKILL.md'];

  it.each(ERAS)('are complete, without files behind links to outside, in the %s era', async (era) => {
    const mounts = { docs: { path: folder.at('docs'), nested: 'on', skills: 'on' } };
    await using server = await startHttp(['--config', await writeConfig(folder, { mounts })]);
    await expectWinding(server.url, era, uris);
    const behind = { inner: { url: server.url, required: true } };
    await using gateway = await startHttp(['--config', await writeConfig(folder, { mounts: behind }, 'gateway.yaml')]);
    await expect.poll(async () => (await fetch(new URL('/readyz', gateway.url))).status).toBe(200);
    await expectWinding(
      gateway.url,
      era,
      uris.map((uri) => `inner+${uri}`),
    );
  });
});

describeWith([s3])('skills in a bucket', () => {
  let store: S3Server;
  let bucket: string;
  let folder: Folder;
  beforeAll(async () => {
    store = await startS3();
    bucket = await store.newBucket();
    folder = await temporaryFolder();
    for (const [key, bytes] of Object.entries(below('skills/winding')))
      await store.put(bucket, key, Buffer.from(bytes));
  });
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await folder?.[Symbol.asyncDispose]();
  });

  it.each(ERAS)('are complete in the %s era', async (era) => {
    const { endpoint, region, accessKeyId, secretAccessKey } = store;
    const reports = { s3: `s3://${bucket}`, endpoint, region, accessKeyId, secretAccessKey, skills: ['skills/*'] };
    await using server = await startHttp(['--config', await writeConfig(folder, { mounts: { reports } })]);
    await expectWinding(server.url, era, ['reports+s3:///skills/winding/SKILL.md']);
  });
});
