/** The target of the fuzzer: a folder with traps around it, things of each principal, and another server. */
import fc from 'fast-check';
import type { Principal } from '../../src/core/context.ts';
import { wrapProvider } from '../../src/core/layer.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { definePrompt, defineTool } from '../../src/index.ts';
import { verifyAudit } from '../../src/layers/audit/verify.ts';
import { filesProvider } from '../../src/providers/files/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { upstream } from '../../src/providers/upstream/index.ts';
import { createEndpoint, type HttpEndpoint, type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { within } from '../e2e/waiting.ts';
import { makeScene, type Scene } from '../security/scene.ts';

export const PRINCIPALS = ['mine', 'theirs'] as const;
export type Who = (typeof PRINCIPALS)[number];

export const principalOf = (who: Who): Principal => ({ id: `principal-${who}` });

/** A text in everything that only this principal may see. */
export const canaryOf = (id: string): string => `canary-of-${id}-and-nobody-else`;

/** A resource that always exists, and its text. */
export const GOOD = { uri: 'docs+file:///a.txt', text: 'content of a.txt' } as const;

export interface Place extends AsyncDisposable {
  readonly scene: Scene;
  readonly vitrine: Vitrine;
  /** Answers without a network; the caller names the principal. */
  readonly endpoint: HttpEndpoint;
  /** The same engine behind a port. */
  readonly serving: HttpServing;
  /** Cursors from the engine, with their principals. */
  readonly cursors: readonly string[];
}

export async function makePlace(): Promise<Place> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0).reverse()) await each();
  };
  try {
    const scene = await makeScene();
    closing.push(async () => scene[Symbol.asyncDispose]());
    const records = await temporaryFolder();
    closing.push(async () => records[Symbol.asyncDispose]());
    const audit = records.at('audit.jsonl');
    closing.push(() => expectWholeAudit(audit));
    const other = createVitrine({
      mounts: [{ name: 'notes', provider: notes(), prefix: 'none' }],
      tools: [echo],
      prompts: [greeting],
    });
    closing.push(() => other.close());
    const otherServing = await serveHttp(other, { port: 0 });
    closing.push(() => otherServing.close());
    const far = upstream({ name: 'far', target: { url: otherServing.url } });
    const vitrine = createVitrine({
      mounts: [
        { name: 'docs', provider: await filesProvider({ path: scene.root, name: 'docs' }) },
        { name: 'own', provider: ownProvider() },
        { name: 'far', provider: far.provider, server: far.server, health: () => far.health() },
      ],
      prompts: [greeting],
      confirm: ['docs+file:///guide/deep/**'],
      audit: { file: audit },
      // Authenticated callers have a rate limit by default, which a fuzzer would soon reach.
      limits: { pageSize: 3, rates: { principal: 'off' } },
      keys: [Buffer.alloc(32, 'fuzz')],
    });
    closing.push(() => vitrine.close());
    if (!(await far.ready(60_000))) throw new Error('the upstream cannot be reached');
    const endpoint = createEndpoint(vitrine);
    closing.push(() => endpoint.close());
    const serving = await serveHttp(vitrine, { port: 0 });
    closing.push(() => serving.close());
    const cursors = await collectCursors(endpoint);
    return { scene, vitrine, endpoint, serving, cursors, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws if the audit is empty, or its chain is broken */
async function expectWholeAudit(file: string): Promise<void> {
  const { lines, findings } = await verifyAudit(file);
  if (lines === 0 || findings.length > 0) throw new Error(`${lines} lines of the audit: ${JSON.stringify(findings)}`);
}

const notes = (): ResourceProvider =>
  memoryProvider({
    resources: Object.fromEntries(['a.md', 'b.md', 'c/d.md', 'c/é.md'].map((name) => [name, { text: `note ${name}` }])),
  });

const echo = defineTool({
  name: 'echo',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  run: (input) => ({ content: [{ type: 'text', text: String((input as { text?: unknown }).text) }] }),
});

const greeting = definePrompt({
  name: 'greet',
  arguments: [{ name: 'who', required: true }],
  get: ({ who = '' }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${who}` } }] }),
});

/** The same URIs for everybody, each with contents for its principal. */
function ownProvider(): ResourceProvider {
  const names = ['a.txt', 'b.txt', 'sub/c.txt', 'sub/d.txt', 'sub/e.txt'];
  const of = new Map<string, ResourceProvider>();
  const shelf = (id: string): ResourceProvider => {
    const known = of.get(id);
    if (known !== undefined) return known;
    const text = canaryOf(id);
    const made = memoryProvider({
      name: 'own',
      resources: Object.fromEntries(names.map((name) => [name, { text, description: text }])),
    });
    of.set(id, made);
    return made;
  };
  const inner = shelf('nobody');
  return wrapProvider(inner, {
    list: (uri, page, ctx) => shelf(ctx.principal.id).list(uri, page, ctx),
    metadata: (uri, ctx) => shelf(ctx.principal.id).metadata(uri, ctx),
    read: (uri, want, ctx) => shelf(ctx.principal.id).read(uri, want, ctx),
  });
}

/** Real cursors of several lists, for each principal. */
async function collectCursors(endpoint: HttpEndpoint): Promise<readonly string[]> {
  const asked: readonly (readonly [method: string, params: object])[] = [
    ['resources/list', {}],
    ['resources/list', { uri: 'docs+file:///' }],
    ['resources/list', { uri: 'own+memory:///sub' }],
    ['resources/directory/read', { uri: 'docs+file:///decoys' }],
    ['tools/list', {}],
    ['resources/templates/list', {}],
  ];
  const cursors: string[] = [];
  for (const who of PRINCIPALS) {
    for (const [method, params] of asked) {
      const { result } = (await (
        await endpoint.fetch(modernRequest(method, params), { principal: principalOf(who) })
      ).json()) as {
        result?: { nextCursor?: string };
      };
      if (result?.nextCursor !== undefined) cursors.push(result.nextCursor);
    }
  }
  if (cursors.length < PRINCIPALS.length * 3) throw new Error(`only ${cursors.length} cursors were given`);
  return cursors;
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'fuzzer', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A well-formed request of the 2026-07-28 era. */
export function modernRequest(method: string, params: object, id = 1): Request {
  const { uri, name } = params as { readonly uri?: string; readonly name?: string };
  const named = method === 'resources/read' ? uri : name;
  return new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      host: '127.0.0.1',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(named !== undefined && { 'mcp-name': named }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: META } }),
  });
}

/** Fails unless the engine still answers a plain read. */
export async function readsWell(place: Place): Promise<void> {
  for (const who of PRINCIPALS) {
    const request = modernRequest('resources/read', { uri: GOOD.uri });
    const response = await within(place.endpoint.fetch(request, { principal: principalOf(who) }), 'a plain read');
    const text = await response.text();
    if (!text.includes(`"text":"${GOOD.text}"`))
      throw new Error(`a plain read is answered with ${response.status} ${text}`);
  }
}

/** Any of the cursors. */
export const cursorsOf = ({ cursors }: Place): fc.Arbitrary<string> => fc.constantFrom(...cursors);
