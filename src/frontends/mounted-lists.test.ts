/** Tools and prompts of mounted servers beside a server's own, as clients list and use them. */
import { describe, expect, it } from 'vitest';
import { createContext } from '../core/context.ts';
import { PeerError, ResourceError } from '../core/errors.ts';
import { detached } from '../core/invocation.ts';
import { createCursorCodec } from '../core/lists/cursor.ts';
import type { Mount } from '../core/mounts/mount.ts';
import type { MountedServer, NamedRequest } from '../core/mounts/mounted-server.ts';
import { publishServer } from '../core/mounts/published-server.ts';
import { definePrompt, type PromptSource } from '../core/prompt.ts';
import { defineTool } from '../core/tool.ts';
import { text } from '../protocol/content.ts';
import { memoryProvider } from '../providers/memory/index.ts';
import { complete } from './completion/complete.ts';
import { listPrompts } from './prompts/methods.ts';
import { createPromptRegistry, type PromptRegistry } from './prompts/registry.ts';
import { DEFAULT_LIMITS, type ResourceOptions } from './resources/options.ts';
import { listTools } from './tools/methods.ts';
import { createToolRegistry, type ToolRegistry } from './tools/registry.ts';

const ctx = createContext();
const optionsOf = (pageSize: number): ResourceOptions => ({
  provider: memoryProvider(),
  cursors: createCursorCodec(),
  limits: { ...DEFAULT_LIMITS, pageSize },
  listing: 'walk',
  cacheHint: { ttlMs: 0, cacheScope: 'private' },
});

/** A server with tools and prompts of these names. Each answers with its name and its arguments. */
function fakeServer(names: readonly string[], parts: Partial<MountedServer> = {}): MountedServer {
  const pageOf = ({ cursor, limit }: { cursor?: string | undefined; limit: number }) => {
    const from = Number(cursor ?? 0);
    const shown = names.slice(from, from + limit);
    return { shown, nextCursor: from + limit < names.length ? String(from + limit) : undefined };
  };
  const answer = (request: NamedRequest): string => JSON.stringify(request);
  return {
    features: { tools: true, prompts: true, completion: true },
    async listTools(page) {
      const { shown, nextCursor } = pageOf(page);
      return { tools: shown.map((name) => ({ name, inputSchema: { type: 'object' } })), nextCursor };
    },
    callTool: async (request) => ({ content: [text(answer(request))] }),
    async listPrompts(page) {
      const { shown, nextCursor } = pageOf(page);
      return { prompts: shown.map((name) => ({ name })), nextCursor };
    },
    getPrompt: async (request) => ({ messages: [{ role: 'user', content: text(answer(request)) }] }),
    completePrompt: async (request) => ({ values: [JSON.stringify(request)], total: 9, hasMore: true }),
    watch: async () => ({ [Symbol.asyncDispose]: async () => {} }),
    ...parts,
  };
}

const published = (
  servers: Readonly<Record<string, MountedServer>>,
  bare: Readonly<Record<string, MountedServer>> = {},
) =>
  [
    ...Object.entries(servers).map(([name, server]): Mount => ({ name, provider: memoryProvider(), server })),
    ...Object.entries(bare).map(
      ([name, server]): Mount => ({ name, provider: memoryProvider(), server, prefix: 'none' }),
    ),
  ].flatMap((mount) => publishServer(mount) ?? []);

const tool = (name: string) => defineTool({ name, inputSchema: { type: 'object' }, run: () => `own ${name}` });
const prompt = (name: string) =>
  definePrompt({ name, get: () => ({ messages: [{ role: 'user', content: text(`own ${name}`) }] }) });

async function listAll(registry: ToolRegistry | PromptRegistry, pageSize: number) {
  const options = optionsOf(pageSize);
  const names: string[] = [];
  const missing: unknown[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 200; pages++) {
    const params = cursor === undefined ? {} : { cursor };
    const page =
      'callTool' in registry
        ? await listTools(registry, options, params, ctx)
        : await listPrompts(registry, options, params, ctx);
    const shown = 'tools' in page ? page.tools : page.prompts;
    expect(shown.length).toBeLessThanOrEqual(pageSize);
    names.push(...shown.map(({ name }) => name));
    const meta = (page as { readonly _meta?: Readonly<Record<string, unknown>> })._meta;
    missing.push(...((meta?.['vitrine/missing'] as readonly unknown[] | undefined) ?? []));
    cursor = page.nextCursor;
    if (cursor === undefined) return { names, missing };
  }
  throw new Error('The list does not end');
}

const SIZES = [1, 2, 3, 7, 100];
const NAMES = ['one', 'two', 'three', 'four', 'five'];

const KINDS: readonly [
  string,
  (own: string[], servers: ReturnType<typeof published>) => ToolRegistry | PromptRegistry,
][] = [
  ['tools', (own, servers) => createToolRegistry(own.map(tool), servers)],
  ['prompts', (own, servers) => createPromptRegistry(own.map(prompt), servers)],
];

describe.each(KINDS)('%s of mounted servers', (kind, registryOf) => {
  it.each(SIZES)('are listed after own ones, each once, in pages of %i', async (size) => {
    const servers = published({ a: fakeServer(NAMES), empty: fakeServer([]), b: fakeServer(NAMES) });
    const { names, missing } = await listAll(registryOf(['read', 'list'], servers), size);
    expect(names).toEqual(['read', 'list', ...NAMES.map((name) => `a_${name}`), ...NAMES.map((name) => `b_${name}`)]);
    expect(missing).toEqual([]);
    expect((await listAll(registryOf([], servers.slice(0, 1)), size)).names).toEqual(NAMES.map((name) => `a_${name}`));
  });

  it('are left out while their server is away, and the others stay', async () => {
    const away = () => Promise.reject(new ResourceError('unavailable', 'Not now'));
    const down = fakeServer(NAMES, { listTools: away, listPrompts: away });
    const { names, missing } = await listAll(registryOf(['read'], published({ down, b: fakeServer(['x']) })), 3);
    expect(names).toEqual(['read', 'b_x']);
    expect(missing).toEqual([{ mount: 'down', reason: 'Not now' }]);
    await expect(listAll(registryOf([], published({ down })), 3), 'the only one').rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('without a prefix are left out if this server or another mount has their name, and the list reports that', async () => {
    const servers = published({ a: fakeServer(['x']) }, { bare: fakeServer(['x', 'read', 'a_x', 'b_x']) });
    const { names, missing } = await listAll(registryOf(['read'], servers), 100);
    expect(names).toEqual(['read', 'a_x', 'x', 'b_x']);
    expect(missing).toHaveLength(2);
  });

  it('are refused in a configuration if they could be those of others', () => {
    expect(() => registryOf(['a_read'], published({ a: fakeServer([]) }))).toThrow(/"a_read"/);
    expect(() => registryOf([], published({}, { a: fakeServer([]), b: fakeServer([]) }))).toThrow(/prefix: none/);
  });

  it('are there if a server may have them, and can change as soon as there is a server', () => {
    const none = { features: { tools: false, prompts: false, completion: false } };
    expect(registryOf([], [])).toMatchObject({ some: false, watchable: false });
    expect(registryOf([], published({ a: fakeServer([], none) }))).toMatchObject({ some: false, watchable: true });
    expect(registryOf([], published({ a: fakeServer([]) }))).toMatchObject({ some: true, watchable: true });
    expect(registryOf([kind], [])).toMatchObject({ some: true, watchable: false });
  });
});

describe('a tool of a mounted server', () => {
  const registry = createToolRegistry([tool('read')], published({ a: fakeServer(NAMES) }, { bare: fakeServer(['x']) }));
  const call = async (name: string) => {
    const result = await registry.callTool({ name, arguments: { n: 1 } }, {}, detached(ctx));
    return 'content' in result ? result.content : result;
  };

  it('is called by its own name there, without a check of its arguments here', async () => {
    expect(await call('a_one')).toEqual([text('{"name":"one","arguments":{"n":1}}')]);
    expect(await call('a_not_listed')).toEqual([text('{"name":"not_listed","arguments":{"n":1}}')]);
    expect(await call('x')).toEqual([text('{"name":"x","arguments":{"n":1}}')]);
    expect(await call('read')).toEqual([text('own read')]);
    expect(await registry.headerParameters('a_one', {}, createContext())).toEqual([]);
  });

  it('that belongs to no server is refused', async () => {
    const alone = createToolRegistry([], published({ a: fakeServer(NAMES) }));
    await expect(alone.callTool({ name: 'b_one' }, {}, detached(ctx))).rejects.toMatchObject({ code: 'invalid' });
  });

  it('fails with the error of its server', async () => {
    const error = new PeerError({ code: -32042, message: 'First sign in', data: { elicitations: [] } });
    const failing = createToolRegistry([], published({ a: fakeServer([], { callTool: () => Promise.reject(error) }) }));
    await expect(failing.callTool({ name: 'a_x' }, {}, detached(ctx))).rejects.toMatchObject({ wire: error.wire });
  });
});

describe('a prompt of a mounted server', () => {
  const registry = createPromptRegistry([prompt('greet')], published({ a: fakeServer(NAMES) }));

  it('is requested by its own name there, and own prompts by theirs', async () => {
    expect(await registry.getPrompt({ name: 'a_one', arguments: { of: 'x' } }, {}, detached(ctx))).toEqual({
      messages: [{ role: 'user', content: text('{"name":"one","arguments":{"of":"x"}}') }],
    });
    expect(await registry.getPrompt({ name: 'greet' }, {}, detached(ctx))).toMatchObject({
      messages: [{ content: text('own greet') }],
    });
    await expect(registry.getPrompt({ name: 'b_one' }, {}, detached(ctx))).rejects.toMatchObject({ code: 'invalid' });
  });

  it('is completed by its server', async () => {
    const params = {
      ref: { type: 'ref/prompt', name: 'a_one' },
      argument: { name: 'of', value: 'v' },
      context: { arguments: { k: 'w' } },
    } as const;
    const { completion } = await complete(registry, registry.ownerOf, params, 9, ctx);
    expect(completion).toEqual({
      values: ['{"prompt":"one","argument":"of","value":"v","known":{"k":"w"}}'],
      total: 9,
      hasMore: true,
    });
    const unknown = { ...params, ref: { type: 'ref/prompt', name: 'b_one' } } as const;
    await expect(complete(registry, registry.ownerOf, unknown, 9, ctx)).rejects.toMatchObject({ code: 'invalid' });
  });

  it('is served only while no source has a prompt of the same name', async () => {
    let own = [prompt('x')];
    const source: PromptSource = { list: async () => own };
    const beside = createPromptRegistry([source], published({}, { bare: fakeServer(['x', 'y']) }));
    expect((await listAll(beside, 9)).names).toEqual(['x', 'y']);
    expect(await beside.getPrompt({ name: 'x' }, {}, detached(ctx))).toMatchObject({
      messages: [{ content: text('own x') }],
    });
    own = [];
    expect(await listAll(beside, 9)).toEqual({ names: ['x', 'y'], missing: [] });
    expect(await beside.getPrompt({ name: 'x' }, {}, detached(ctx))).toMatchObject({
      messages: [{ content: text('{"name":"x"}') }],
    });
  });
});
