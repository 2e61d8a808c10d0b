/** The skills of a server: listed without reading any file, read when one is needed, and written to a folder. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { createResourceClient, listSkills, readSkillFile, verifySkill } from 'vitrine/client';
import { writeSkill } from 'vitrine/client/node';

// Any server that declares skills will do. This one is made by the official SDK, in this process.
const files = memorySkillFiles({
  'hanging/SKILL.md': '---\nname: hanging\ndescription: How pictures are hung\n---\nSee references/nails.md.\n',
  'hanging/references/nails.md': 'Two nails for each picture.\n',
});
const skills = await SkillsExtension.load(files);
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'gallery', version: '1.0.0' });
  skills.attach(server);
  return server;
});
const inProcess: typeof fetch = async (input, init) => handler.fetch(new Request(input, init));
const client = createResourceClient({ url: 'http://localhost/mcp', fetch: inProcess });

const to = await mkdtemp(join(tmpdir(), 'skills-'));
for await (const skill of listSkills(client)) {
  assert.equal(skill.frontmatter.description, 'How pictures are hung');
  const { text, verified } = await readSkillFile(client, skill, 'references/nails.md');
  assert.deepEqual([text, verified], ['Two nails for each picture.\n', true]);
  assert.equal((await verifySkill(client, skill)).files, 2);
  const { folder } = await writeSkill(client, skill, to);
  assert.equal(await readFile(join(folder, 'references/nails.md'), 'utf8'), text);
}
await client.close();
await handler.close();
await rm(to, { recursive: true });
