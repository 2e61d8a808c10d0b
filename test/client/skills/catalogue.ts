/** The official SDK's catalogue of skills as a server, over HTTP for both eras, or as a program. */
import { fileURLToPath } from 'node:url';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { type Scripted, served } from '../scripted.ts';

export const DRAW =
  '---\nname: draw\ndescription: Draws rooms\nmetadata:\n  version: "2"\nfloors: [1, 2]\n---\n\n# Draw\n';

export const FILES: Readonly<Record<string, string | Uint8Array>> = {
  'draw/SKILL.md': DRAW,
  'draw/scripts/draw it.py': 'print("Raum für alle")\n',
  'draw/pixel.bin': Uint8Array.of(0, 255, 254, 13, 10, 0),
  'draw/empty.txt': '',
  'draw/inner/SKILL.md': '---\nname: inner\ndescription: In another skill\n---\nInner\n',
  'label/SKILL.md': '\ufeff---\r\nname: label\r\ndescription: Writes labels\r\n---\r\nText\r\n',
};

/** A program that serves the skills of a folder. */
export const PROGRAM = fileURLToPath(new URL('catalogue.mjs', import.meta.url));

/** @param pageSize entries of a page */
export async function serveCatalogue(files = FILES, pageSize = 100): Promise<Scripted> {
  const skills = await SkillsExtension.load(memorySkillFiles({ ...files }), { pageSize });
  const asked: Scripted['asked'][number][] = [];
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'catalogue', version: '1' });
    skills.attach(mcp);
    return mcp;
  });
  return served(
    async (request) => {
      const message = request.method === 'POST' ? await request.clone().json() : {};
      if (typeof message.method === 'string') asked.push({ method: message.method, params: message.params ?? {} });
      return handler.fetch(request);
    },
    asked,
    () => handler.close(),
  );
}
