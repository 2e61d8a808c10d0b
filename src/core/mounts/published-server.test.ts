import { describe, expect, it } from 'vitest';
import type { CallToolResult, GetPromptResult } from '../../protocol/content.ts';
import type { InputRequest } from '../../protocol/input-required.ts';
import { flatProvider } from '../../testing/flat-fixture.ts';
import { createContext } from '../context.ts';
import { PeerError, ResourceError } from '../errors.ts';
import { detached, type Invocation } from '../invocation.ts';
import type { Mount } from './mount.ts';
import type { MountedServer } from './mounted-server.ts';
import { namePrefix, publishServer } from './published-server.ts';

const provider = flatProvider({ resources: new Map() });
const ctx = createContext();
const link = { type: 'resource_link' as const, uri: 'memo:x', name: 'x' };
const published = { ...link, uri: 'docs+memo:x' };

/** A server that remembers what it was given, and answers with what it is told to. */
function serverOf(parts: Partial<MountedServer> = {}): { server: MountedServer; given: unknown[] } {
  const given: unknown[] = [];
  const unexpected = (...args: unknown[]): never => {
    throw new Error(`Not expected: ${JSON.stringify(args[0])}`);
  };
  const server: MountedServer = {
    features: { tools: true, prompts: true, completion: true },
    listTools: unexpected,
    callTool: unexpected,
    listPrompts: unexpected,
    getPrompt: unexpected,
    completePrompt: unexpected,
    watch: unexpected,
    ...parts,
  };
  return { server, given };
}

const publish = (server: MountedServer, prefix?: Mount['prefix']) => {
  const made = publishServer({ name: 'docs', provider, server, prefix });
  if (made === undefined) throw new Error('The mount has a server');
  return made;
};

/** Calls a tool; returns the result, and what reached the server. */
async function call(
  outcome: () => Promise<unknown>,
  request: Parameters<MountedServer['callTool']>[0] = { name: 'docs_read' },
  prefix?: Mount['prefix'],
  invocation: Invocation = detached(ctx),
) {
  const { server, given } = serverOf({
    callTool(...args) {
      given.push(...args);
      return outcome() as Promise<CallToolResult>;
    },
  });
  const result = await publish(server, prefix).callTool(request, invocation);
  return { result, given };
}

describe('a mounted server as it is published', () => {
  it('exists if the mount has a server, and has the features that the server has now', () => {
    expect(publishServer({ name: 'docs', provider })).toBeUndefined();
    const features = { tools: false, prompts: false, completion: false };
    const made = publish(serverOf({ features }).server);
    expect(made).toMatchObject({ mount: 'docs', prefix: 'docs_', features: { tools: false } });
    features.tools = true;
    expect(made.features.tools).toBe(true);
    expect(namePrefix({ name: 'docs', prefix: 'none' })).toBe('');
    expect(namePrefix({ name: 'my-docs.v2' })).toBe('my-docs.v2_');
  });

  it('has its names in lists and views, every other field as it came, and pages as they are', async () => {
    const tool = {
      name: 'a_b',
      inputSchema: { type: 'object', default: 'memo:x' },
      annotations: { readOnlyHint: true },
      unknown: { uri: 'memo:x' },
      _meta: { ui: { resourceUri: 'ui://app' }, other: 'ui://app' },
    };
    const prompt = { name: 'p', arguments: [{ name: 'x' }], unknown: 1 };
    const pages: unknown[] = [];
    const { server } = serverOf({
      async listTools(page) {
        pages.push(page);
        return { tools: [tool], nextCursor: 'memo:x' };
      },
      listPrompts: async () => ({ prompts: [prompt] }),
    });
    const page = { cursor: 'theirs', limit: 3 };
    expect(await publish(server).listTools(page, ctx)).toEqual({
      tools: [{ ...tool, name: 'docs_a_b', _meta: { ui: { resourceUri: 'ui://docs+app' }, other: 'ui://app' } }],
      nextCursor: 'memo:x',
    });
    expect(pages).toEqual([page]);
    expect(await publish(server).listPrompts(page, ctx)).toEqual({ prompts: [{ ...prompt, name: 'docs_p' }] });
    const bare = await publish(server, 'none').listTools(page, ctx);
    expect(bare.tools[0]).toBe(tool);
  });

  it('is called by its own name, with its own URIs, and every other field as it came', async () => {
    const request = {
      name: 'docs_a_b',
      arguments: { uri: 'docs+memo:x', text: 'see docs+memo:x', other: 'b+memo:x' },
      _meta: { progressToken: 'docs+memo:x' },
      unknown: 1,
    };
    const { given } = await call(async () => ({ content: [] }), request);
    expect(given[0]).toEqual({
      ...request,
      name: 'a_b',
      arguments: { uri: 'memo:x', text: 'see docs+memo:x', other: 'b+memo:x' },
    });
    const without = await call(async () => ({ content: [] }), { name: 'docs_' });
    expect(without.given[0]).toEqual({ name: '' });
    const bare = await call(async () => ({ content: [] }), request, 'none');
    expect(bare.given[0]).toBe(request);
  });

  it('has published URIs in results of tools, and does not change their structured content', async () => {
    const result = {
      content: [{ type: 'text', text: 'memo:x' }, link, { type: 'resource', resource: { uri: 'memo:y', text: 'y' } }],
      structuredContent: { uri: 'memo:x', content: [link] },
      isError: true,
      unknown: { uri: 'memo:x' },
      _meta: { ui: { resourceUri: 'ui://app' } },
    };
    expect((await call(async () => result)).result).toEqual({
      ...result,
      content: [result.content[0], published, { type: 'resource', resource: { uri: 'docs+memo:y', text: 'y' } }],
      _meta: { ui: { resourceUri: 'ui://docs+app' } },
    });
    expect((await call(async () => result, undefined, 'none')).result).toEqual(result);
  });

  it('has its URIs in the messages of a prompt', async () => {
    const given: unknown[] = [];
    const messages: GetPromptResult['messages'] = [
      { role: 'user', content: { type: 'text', text: 'memo:x' } },
      { role: 'user', content: link },
    ];
    const { server } = serverOf({
      async getPrompt(request) {
        given.push(request);
        return { description: 'memo:x', messages };
      },
    });
    const result = await publish(server).getPrompt({ name: 'docs_p', arguments: { of: 'docs+memo:x' } }, detached(ctx));
    expect(result).toEqual({ description: 'memo:x', messages: [messages[0], { role: 'user', content: published }] });
    expect(given).toEqual([{ name: 'p', arguments: { of: 'memo:x' } }]);
  });

  it('completes by its own name, and watches its own lists', async () => {
    const given: unknown[] = [];
    const handle = { [Symbol.asyncDispose]: async () => {} };
    const { server } = serverOf({
      async completePrompt(request) {
        given.push(request);
        return { values: ['a'], hasMore: false };
      },
      async watch(list) {
        given.push(list);
        return handle;
      },
    });
    const made = publish(server);
    const request = { prompt: 'docs_p', argument: 'x', value: 'v', known: { y: 'z' } };
    expect(await made.completePrompt(request, ctx)).toEqual({ values: ['a'], hasMore: false });
    expect(await made.watch('prompts', () => {}, ctx)).toBe(handle);
    expect(given).toEqual([{ ...request, prompt: 'p' }, 'prompts']);
  });

  const sampling: InputRequest = {
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: link }], maxTokens: 1 },
  };
  const samplingPublished = { ...sampling, params: { messages: [{ role: 'user', content: published }], maxTokens: 1 } };

  it('has published URIs in questions that it returns, and does not change its state', async () => {
    const asked = { resultType: 'input_required', inputRequests: { q: sampling }, requestState: 'memo:x', extra: 1 };
    expect((await call(async () => asked)).result).toEqual({ ...asked, inputRequests: { q: samplingPublished } });
    expect((await call(async () => asked, undefined, 'none')).result).toBe(asked);
  });

  it('has published URIs in questions that it asks while it works', async () => {
    const sent: unknown[] = [];
    const client = {
      elicitation: false,
      sampling: true,
      roots: false,
      ask: async (request: InputRequest) => void sent.push(request),
    };
    const { given } = await call(async () => ({ content: [] }), undefined, undefined, { ...detached(ctx), client });
    await (given[1] as Invocation).client.ask?.(sampling, ctx.signal);
    expect(sent).toEqual([samplingPublished]);
  });
});

describe('errors of a mounted server', () => {
  const error = new PeerError(
    { code: -32002, message: 'memo:x is gone', data: { uri: 'memo:x', hint: 'memo:x' } },
    'u',
  );

  it('have its URIs in their data, and their code and words as they came, from every method', async () => {
    const fail = () => Promise.reject(error);
    const { server } = serverOf({
      listTools: fail,
      callTool: fail,
      listPrompts: fail,
      getPrompt: fail,
      completePrompt: fail,
    });
    const made = publish(server);
    const request = { name: 'docs_x' };
    for (const run of [
      () => made.listTools({ limit: 1 }, ctx),
      () => made.callTool(request, detached(ctx)),
      () => made.listPrompts({ limit: 1 }, ctx),
      () => made.getPrompt(request, detached(ctx)),
      () => made.completePrompt({ prompt: 'docs_x', argument: 'a', value: '', known: {} }, ctx),
    ]) {
      const refused = await run().catch((thrown: unknown) => thrown);
      expect(refused).toBeInstanceOf(PeerError);
      expect(refused).toMatchObject({
        uri: 'u',
        wire: { code: -32002, message: 'memo:x is gone', data: { uri: 'docs+memo:x', hint: 'memo:x' } },
      });
    }
    await expect(publish(server, 'none').callTool(request, detached(ctx))).rejects.toMatchObject({ wire: error.wire });
  });

  it('without data, and those that are none of its own, pass as they are', async () => {
    for (const each of [
      new PeerError({ code: -32603, message: 'Failed' }),
      new ResourceError('unavailable', 'Not now', { uri: 'memo:x' }),
      new TypeError('a bug'),
    ]) {
      await expect(call(() => Promise.reject(each))).rejects.toBe(each);
    }
  });
});
