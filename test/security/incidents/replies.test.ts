/** Answers that went to another client, because clients shared a server object and used the same request ids. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wrapProvider } from '../../../src/core/layer.ts';
import { defineTool } from '../../../src/core/tool.ts';
import { memoryProvider } from '../../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../../src/vitrine.ts';
import { ENVELOPE, http, INITIALIZE, JSON_HEADERS, messageOf, post, type RawResponse } from '../../e2e/raw.ts';
import { within } from '../../e2e/waiting.ts';
import { bearer, hashOf, RESOURCE } from '../authorization-servers.ts';

const PEOPLE = ['anna', 'berta'] as const;
const tokenOf = (person: string): string => `token-of-${person}-0123456789-0123456789`;
const SECRET = 'memory:///secret.txt';
/** The clients of each person on each path. */
const CLIENTS = 3;

/** Resolves for all once all have called it, so that every request is running at the same time. */
function meeting(size: number): () => Promise<void> {
  let come = 0;
  let open = (): void => {};
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    if (++come === size) open();
    return within(all, `${size} requests at once, ${come} came`);
  };
}

let vitrine: Vitrine;
let serving: HttpServing;
let meet: () => Promise<void>;

beforeAll(async () => {
  const memory = memoryProvider({ resources: { 'secret.txt': { text: 'nobody' } } });
  const provider = wrapProvider(memory, {
    async read(uri, want, ctx) {
      await meet();
      const own = memoryProvider({ resources: { 'secret.txt': { text: `secret of ${ctx.principal.id}` } } });
      return own.read(uri, want, ctx);
    },
  });
  const whoami = defineTool({
    name: 'whoami',
    inputSchema: { type: 'object' },
    async run(_input, { principal }) {
      await meet();
      return { content: [{ type: 'text', text: `secret of ${principal.id}` }] };
    },
  });
  vitrine = createVitrine({
    mounts: [{ name: 'docs', provider, prefix: 'none' }],
    tools: [whoami],
    access: { rules: [{ effect: 'allow', who: 'authenticated' }] },
  });
  const tokens = PEOPLE.map((name) => ({ name, hash: hashOf(tokenOf(name)) }));
  serving = await serveHttp(vitrine, { port: 0, auth: { resource: RESOURCE, tokens } });
});

afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
});

/** One client, ready to send requests. The requests of all clients have the same id. */
type Client = (method: string, params: object) => Promise<RawResponse>;

const nameIn = (params: object): string => {
  const { uri, name } = params as { readonly uri?: string; readonly name?: string };
  return uri ?? name ?? '';
};

const PATHS: Readonly<Record<string, (person: string) => Promise<Client>>> = {
  '2026-07-28': async (person) => (method, params) =>
    post(serving.url, 'modern', method, params, { ...bearer(tokenOf(person)), 'mcp-name': nameIn(params) }),
  'with a progress token, 2026-07-28': async (person) => (method, params) => {
    const body = { ...params, _meta: { ...ENVELOPE, progressToken: 1 } };
    const of = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': nameIn(params) };
    return http(serving.url, {
      headers: { ...JSON_HEADERS, ...of, ...bearer(tokenOf(person)) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: body }),
    });
  },
  'in sessions, 2025': async (person) => {
    const begun = await post(serving.url, 'legacy', 'initialize', INITIALIZE, bearer(tokenOf(person)));
    const session = String(begun.headers['mcp-session-id']);
    const of = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25', ...bearer(tokenOf(person)) };
    return (method, params) => post(serving.url, 'legacy', method, params, of);
  },
};

async function expectOwn(paths: readonly string[], method: string, params: object): Promise<void> {
  const clients = await Promise.all(
    PEOPLE.flatMap((person) =>
      paths.flatMap((path) =>
        Array.from({ length: CLIENTS }, async () => ({ person, path, client: await PATHS[path]?.(person) })),
      ),
    ),
  );
  meet = meeting(clients.length);
  const answers = await Promise.all(
    clients.map(async ({ person, path, client }) => ({ person, path, answer: await client?.(method, params) })),
  );
  for (const { person, path, answer } of answers) {
    const { id, result } = messageOf(answer ?? { status: 0, headers: {}, text: '{}' });
    expect(id, path).toBe(1);
    const said = JSON.stringify(result);
    const secrets = [...said.matchAll(/secret of ([\w:./-]+)/g)].map((match) => match[1] ?? '');
    expect(secrets, `${path}: ${said}`).toHaveLength(1);
    expect(secrets[0], path).toContain(person);
  }
}

describe('CVE-2026-25536: clients share a server object, and one gets the answer of another', () => {
  it.each(Object.keys(PATHS))('concurrent clients on one path: %s', async (path) => {
    await expectOwn([path], 'resources/read', { uri: SECRET });
    await expectOwn([path], 'tools/call', { name: 'whoami', arguments: {} });
  });

  it('concurrent clients on every path', async () => {
    await expectOwn(Object.keys(PATHS), 'resources/read', { uri: SECRET });
    await expectOwn(Object.keys(PATHS), 'tools/call', { name: 'whoami', arguments: {} });
  });
});
