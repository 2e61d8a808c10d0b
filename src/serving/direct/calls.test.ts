/** Calls on the direct path: one run each, and the answers of the SDK's own path. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SILENT } from '../../core/context.ts';
import { PeerError, ResourceError } from '../../core/errors.ts';
import type { MountedServer } from '../../core/mounted-server.ts';
import { definePrompt } from '../../core/prompt.ts';
import { defineTool, type ToolOutcome } from '../../core/tool.ts';
import { elicitation, inputRequired } from '../../protocol/input-required.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { createVitrine, type Vitrine } from '../../vitrine.ts';
import { createModern, type Modern } from '../modern/index.ts';
import { createDirect, type Direct } from './index.ts';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  [CAPABILITIES]: { elicitation: {} },
};

interface Message {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const message = (method: string, params: object, meta: object = {}): Message =>
  ({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: { ...ENVELOPE, ...meta } } }) as Message;
const callOf = (name: string, args: object = {}, meta: object = {}): Message =>
  message('tools/call', { name, arguments: args }, meta);
const promptOf = (name: string): Message => message('prompts/get', { name });

function requestOf(sent: Message, headers: Record<string, string> = {}, signal?: AbortSignal): Request {
  return new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': sent.method,
      'Mcp-Name': String(sent.params.name),
      ...headers,
    },
    body: JSON.stringify(sent),
    ...(signal !== undefined && { signal }),
  });
}

/** Tools by what they give. */
const OUTCOMES: Readonly<Record<string, () => unknown>> = {
  text: () => 'noon',
  structured: () => ({ content: [{ type: 'text', text: '{}' }], structuredContent: { hour: 12 } }),
  meta: () => ({ content: [], _meta: { 'example/more': 1 } }),
  failing: () => ({ content: [{ type: 'text', text: 'no' }], isError: true }),
  throwing: () => {
    throw new ResourceError('denied', 'Not you');
  },
  image: () => ({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }),
  link: () => ({ content: [{ type: 'resource_link', uri: 'memory:///a', name: 'a', size: 3 }] }),
};

/** The same of a mounted server, where nothing has been looked at before. */
const SERVER_OUTCOMES: Readonly<Record<string, () => unknown>> = {
  ...OUTCOMES,
  text: () => ({ content: [{ type: 'text', text: 'noon' }] }),
  messages: () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'noon' } }], description: 'Time' }),
  throwing: () => {
    throw new PeerError({ code: -32_602, message: 'No such tool', data: { more: true } });
  },
  lacking: () => {
    throw new PeerError({ code: -32_021, message: 'Needs more', data: { requiredCapabilities: { sampling: {} } } });
  },
  contentless: () => ({ structuredContent: { hour: 12 } }),
  list: () => ({ content: [], structuredContent: [12] }),
  broken: () => ({ content: [{ type: 'text', text: 7 }] }),
  annotated: () => ({ content: [{ type: 'text', text: 'noon', annotations: { priority: 9 } }] }),
  unknown: () => ({ content: [{ type: 'song' }] }),
  flagged: () => ({ content: [], isError: 'yes' }),
  other: () => ({ content: [], resultType: 'other' }),
  more: () => ({ content: [], hour: 12 }),
  mute: () => ({ resultType: 'input_required' }),
  samples: () => inputRequired({ a: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } }),
};

describe('a call on the direct path', () => {
  const runs: string[] = [];
  const ran = (name: string): void => void runs.push(name);
  const waiters: (() => void)[] = [];
  let engine: Vitrine;
  let direct: Direct;
  let modern: Modern;

  beforeEach(() => {
    runs.length = 0;
    const tools = Object.entries(OUTCOMES).map(([name, outcome]) =>
      defineTool({
        name,
        inputSchema: { type: 'object' },
        run: () => {
          ran(name);
          return outcome() as ToolOutcome;
        },
      }),
    );
    const asking = defineTool({
      name: 'asking',
      inputSchema: { type: 'object' },
      run(_args, { state, answers, seal }) {
        ran('asking');
        if (state !== undefined) return JSON.stringify([state, answers]);
        return inputRequired({ who: elicitation('Who?', { type: 'object', properties: {} }) }, seal({ asked: 1 }));
      },
    });
    const routed = defineTool({
      name: 'routed',
      inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
      run: () => {
        ran('routed');
        return 'routed';
      },
    });
    const waiting = defineTool({
      name: 'waiting',
      inputSchema: { type: 'object' },
      run: (_args, { signal }) =>
        new Promise<string>((resolve) => {
          waiters.push(() => resolve('late'));
          signal.addEventListener('abort', () => ran('aborted'), { once: true });
        }),
    });
    const prompt = definePrompt({
      name: 'greet',
      get: () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }] }),
    });
    const server: MountedServer = {
      features: { tools: true, prompts: true, completion: false },
      listTools: async () => ({ tools: [] }),
      callTool: async ({ name }, { requestId }) => {
        ran(name);
        if (name === 'bug') throw new Error(requestId);
        return SERVER_OUTCOMES[name]?.() as never;
      },
      headerParameters: async () => [],
      listPrompts: async () => ({ prompts: [] }),
      getPrompt: async ({ name }) => {
        ran(name);
        return SERVER_OUTCOMES[name]?.() as never;
      },
      completePrompt: async () => ({ values: [], hasMore: false }),
      watch: async () => ({ async [Symbol.asyncDispose]() {} }),
    };
    engine = createVitrine({
      mounts: [
        { name: 'memory', provider: memoryProvider({ resources: { a: { text: 'a' } } }), prefix: 'none' },
        { name: 'up', provider: memoryProvider({ resources: {} }), server },
      ],
      tools: [...tools, asking, routed, waiting],
      prompts: [prompt],
    });
    direct = createDirect(engine, SILENT);
    modern = createModern(engine, SILENT);
  });
  afterEach(async () => {
    for (const finish of waiters.splice(0)) finish();
    direct.close();
    await modern.close();
    await engine.close();
  });

  /** As the endpoint does it. */
  async function send(
    sent: Message,
    headers?: Record<string, string>,
  ): Promise<{ taken: boolean; response: Response }> {
    const request = requestOf(sent, headers);
    const answer = await direct.answer(request, sent);
    return { taken: answer !== undefined, response: answer ?? (await modern.handle(request, sent)) };
  }

  const contentOf = async (response: Response): Promise<unknown> => ({
    status: response.status,
    type: response.headers.get('content-type'),
    body: await response.json(),
  });

  it('that fails for no known reason is known by one request id, in the log and to the client', async () => {
    const logged: unknown[] = [];
    const log = { ...SILENT, error: (_message: string, facts?: object) => void logged.push(facts) };
    await modern.close();
    modern = createModern(engine, log);
    const { response } = await send(callOf('up_bug'));
    const { error } = (await response.json()) as { error: { data: { requestId: string } } };
    expect(logged).toMatchObject([{ requestId: error.data.requestId, error: { message: error.data.requestId } }]);
  });

  const upstream = (method: typeof callOf | typeof promptOf) =>
    Object.keys(SERVER_OUTCOMES).map((name): [string, Message] => [`${name} of a server`, method(`up_${name}`)]);
  it.each<[string, Message, Record<string, string>?]>([
    ...Object.keys(OUTCOMES).map((name): [string, Message] => [name, callOf(name)]),
    ...upstream(callOf),
    ...upstream(promptOf).map(([name, sent]): [string, Message] => [`prompt ${name}`, sent]),
    ['a tool that is not there', callOf('nope')],
    ['a prompt', promptOf('greet')],
    ['a prompt that is not there', promptOf('nope')],
    ['a question that the client cannot be asked', callOf('asking', {}, { [CAPABILITIES]: {} })],
    ['a header that agrees', callOf('routed', { region: 'eu' }), { 'Mcp-Param-Region': 'eu' }],
    ['a header that differs', callOf('routed', { region: 'eu' }), { 'Mcp-Param-Region': 'us' }],
    ['a header that is missing', callOf('routed', { region: 'eu' })],
    ['another name in the header', callOf('text'), { 'Mcp-Name': 'image' }],
    ['arguments of the wrong type', message('tools/call', { name: 'text', arguments: [] })],
    ['capabilities of the wrong type', callOf('text', {}, { [CAPABILITIES]: { sampling: 5 } })],
    [
      'capabilities with odd parts',
      callOf('text', {}, { [CAPABILITIES]: { elicitation: { form: { applyDefaults: 5 } } } }),
    ],
    ['capabilities with more', callOf('text', {}, { [CAPABILITIES]: { extensions: { 'a/b': { c: [1] } } } })],
    ['state of another server', message('tools/call', { name: 'text', requestState: 'altered' })],
  ])('%s: is answered as the SDK does, and runs once', async (_name, sent, headers) => {
    const { response } = await send(sent, headers);
    const own = runs.splice(0);
    const expected = await modern.handle(requestOf(sent, headers), sent);
    expect(await contentOf(response)).toEqual(await contentOf(expected));
    expect(own).toEqual(runs);
  });

  it.each(['text', 'structured', 'meta', 'failing', 'up_text', 'up_structured'])('%s needs no SDK', async (name) => {
    expect((await send(callOf(name))).taken).toBe(true);
  });

  it.each<[string, Message]>([
    ['reports of progress', callOf('text', {}, { progressToken: 1 })],
    ['log messages', callOf('text', {}, { 'io.modelcontextprotocol/logLevel': 'debug' })],
    ['answers beforehand', message('tools/call', { name: 'text', inputResponses: {} })],
    ['a task', message('tools/call', { name: 'text', task: {} })],
  ])('with %s is left to the SDK, and has not run', async (_name, sent) => {
    expect(await direct.answer(requestOf(sent), sent)).toBeUndefined();
    expect(runs).toEqual([]);
  });

  it('that asks its client runs once for the question, and once with the answer [MRTR]', async () => {
    const sent = callOf('asking', { b: 1, a: [2] });
    const { result } = (await (await send(sent)).response.json()) as { result: Record<string, unknown> };
    expect(runs).toEqual(['asking']);
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { who: { method: 'elicitation/create' } },
    });
    const inputResponses = { who: { action: 'accept', content: {} } };
    const again = { ...sent, params: { ...sent.params, inputResponses, requestState: result.requestState } };
    const second = (await (await send(again)).response.json()) as { result: { content: [{ text: string }] } };
    expect(JSON.parse(second.result.content[0].text)).toEqual([{ asked: 1 }, inputResponses]);
    expect(runs).toEqual(['asking', 'asking']);
    const other = { ...again, params: { ...again.params, arguments: { b: 2 } } };
    expect(await (await send(other)).response.json()).toMatchObject({ error: { code: -32_602 } });
    expect(runs).toHaveLength(2);
  });

  const begun = (): Promise<unknown> => vi.waitFor(() => expect(waiters).toHaveLength(1));

  it('whose client has gone is told so, and is not waited for', async () => {
    const gone = new AbortController();
    const sent = callOf('waiting');
    const answer = direct.answer(requestOf(sent, {}, gone.signal), sent);
    await begun();
    gone.abort();
    expect((await answer)?.status).toBe(499);
    expect(runs).toEqual(['aborted']);
  });

  it('ends with the endpoint, and none begins after that', async () => {
    const sent = callOf('waiting');
    const answer = direct.answer(requestOf(sent), sent);
    await begun();
    direct.close();
    expect((await answer)?.status).toBe(499);
    expect(runs).toEqual(['aborted']);
    expect(await direct.answer(requestOf(callOf('text')), callOf('text'))).toBeUndefined();
  });
});
