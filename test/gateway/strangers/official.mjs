/** A stranger's methods on a server of the official SDK, over standard input and output: `node official.mjs v1|v2 <name>`. */
import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const [sdk, name] = process.argv.slice(2);
/** @type {{ stranger: import('./peer.mjs').Stranger }} */
const { stranger } = await import(`./${name}.mjs`);
const { identity, methods } = stranger;
const { name: called = '', version = '', ...introduction } = identity;
const info = { name: String(called), version: String(version), ...introduction };
const capabilities = { resources: {}, tools: {}, prompts: {} };

/** @type {Map<string, number>} */
const counts = new Map();

/** @param {string} method */
const answering = (method) => (/** @type {import('./peer.mjs').Data} */ params) => {
  counts.set(method, (counts.get(method) ?? 0) + 1);
  const call = { params, count: (/** @type {string} */ of) => counts.get(of) ?? 0, modern: false };
  return methods[method]?.(/** @type {import('./peer.mjs').Call} */ (/** @type {unknown} */ (call)));
};

const params = z.looseObject({}).default({});

function serverV1() {
  const server = new ServerV1(info, { capabilities });
  for (const method of Object.keys(methods)) {
    const answer = answering(method);
    const request = z.looseObject({ method: z.literal(method), params });
    /** @type {any} */ (server).setRequestHandler(request, (/** @type {z.output<typeof request>} */ sent) =>
      answer(sent.params),
    );
  }
  return server;
}

function serverV2() {
  const server = new Server(info, { capabilities });
  for (const method of Object.keys(methods)) {
    /** @type {any} */ (server).setRequestHandler(method, { params }, answering(method));
  }
  return server;
}

if (sdk === 'v1') await serverV1().connect(new StdioServerTransport());
else serveStdio(serverV2);
