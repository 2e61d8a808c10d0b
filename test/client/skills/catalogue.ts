/** The official SDK's catalogue of skills as a server, over HTTP for both eras, or as a program. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';

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

export interface Catalogue extends AsyncDisposable {
  readonly url: string;
  /** The requests so far. */
  readonly asked: readonly { readonly method: string; readonly params: Readonly<Record<string, unknown>> }[];
  /** How often a method was requested. */
  count(method: string): number;
}

/** @param pageSize entries of a page */
export async function serveCatalogue(files = FILES, pageSize = 100): Promise<Catalogue> {
  const skills = await SkillsExtension.load(memorySkillFiles({ ...files }), { pageSize });
  const asked: Catalogue['asked'][number][] = [];
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'catalogue', version: '1' });
    skills.attach(mcp);
    return mcp;
  });
  async function fetch(request: Request): Promise<Response> {
    const message = request.method === 'POST' ? await request.clone().json() : {};
    if (typeof message.method === 'string') asked.push({ method: message.method, params: message.params ?? {} });
    return handler.fetch(request);
  }
  const server = serve({ fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked,
    count: (method) => asked.filter((each) => each.method === method).length,
    async [Symbol.asyncDispose]() {
      await handler.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
