/** Tools and prompts of one's own: what they give arrives whole, and what they ask for is answered, in both eras. */
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  accepted,
  type CallToolResult,
  createVitrine,
  definePrompt,
  defineTool,
  type EmbeddedResource,
  elicitation,
  inputRequired,
  linkBlock,
  type Prompt,
  refused,
  resourceBlock,
  sampledText,
  sampling,
  serveHttp,
  serveStdio,
  type Tool,
} from '../../src/index.ts';
import { ERAS, type Era } from './harness.ts';
import { until } from './waiting.ts';

const loose = z.looseObject({});
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1.0.0' } };

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

const NOTHING = { type: 'object' } as const;

interface Running extends AsyncDisposable {
  readonly client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
}

const versionNegotiation = { legacy: { mode: 'legacy' }, modern: { mode: { pin: '2026-07-28' } } } as const;

/** A server with these tools and prompts, and a client that can be asked for everything. */
async function running(era: Era, tools: readonly Tool[], prompts: readonly Prompt[] = []): Promise<Running> {
  const vitrine = createVitrine({ mounts: [], resourceTools: false, tools, prompts });
  const serving = await serveHttp(vitrine, { port: 0 });
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: versionNegotiation[era], capabilities: { elicitation: {}, sampling: {} } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(serving.url)));
  return {
    client,
    call: async (name, args = {}) =>
      (await client.request(
        { method: 'tools/call', params: { name, arguments: args } },
        loose,
      )) as unknown as CallToolResult,
    async [Symbol.asyncDispose]() {
      await client.close();
      await serving.close();
      await vitrine.close();
    },
  };
}

const tool = (name: string, run: Tool['run']): Tool => defineTool({ name, inputSchema: NOTHING, run: run as never });

/** Everything that is said of a resource, with a field that nobody knows. */
const SAID = {
  uri: 'memo:full',
  name: 'full',
  title: 'All of it',
  description: 'With every field',
  mimeType: 'text/plain',
  size: 3,
  icons: [{ src: 'data:image/png;base64,', sizes: ['48x48'] }],
  annotations: { audience: ['user'], lastModified: '2026-01-01T00:00:00Z' },
  capabilities: { list: false, subscribe: true },
  _meta: { 'example.com/key': 1 },
  'x-unknown': { kept: true },
} as const;

const textOf = (result: CallToolResult): string =>
  result.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('');

describe.each(ERAS)('tools of one’s own, %s', (era) => {
  it('give embedded resources and links with all that is said of them [2093-1, CB-4]', async () => {
    const whole = tool('whole', () => ({
      content: [resourceBlock({ ...SAID, text: 'abc' }), linkBlock(SAID)],
      structuredContent: { count: 2 },
    }));
    await using server = await running(era, [whole]);
    const result = await server.call('whole');
    expect(result.content).toEqual([
      { type: 'resource', resource: { ...SAID, text: 'abc' } },
      { type: 'resource_link', ...SAID },
    ]);
    expect(result.structuredContent).toEqual({ count: 2 });
  });

  it('send the annotations of a block as those of its resource, however the block was made [2093-9]', async () => {
    const annotations = { priority: 1, audience: ['assistant'] } as const;
    const made = resourceBlock({ ...SAID, text: 'abc' }, { annotations, _meta: { own: 1 } });
    const written = { type: 'resource', resource: { ...SAID, text: 'abc' }, annotations, _meta: { own: 1 } };
    const expected = {
      type: 'resource',
      resource: { ...SAID, text: 'abc', annotations: { priority: 1, ...SAID.annotations } },
      _meta: { own: 1 },
    };
    const blocks = [made, written as EmbeddedResource];
    const prompt = definePrompt({
      name: 'annotated',
      get: () => ({ messages: blocks.map((content) => ({ role: 'user', content })) }),
    });
    await using server = await running(era, [tool('annotated', () => ({ content: blocks }))], [prompt]);
    expect((await server.call('annotated')).content).toEqual([expected, expected]);
    const got = await server.client.request({ method: 'prompts/get', params: { name: 'annotated' } }, loose);
    expect(got.messages).toEqual([
      { role: 'user', content: expected },
      { role: 'user', content: expected },
    ]);
  });

  it('report progress that grows, at once when it is short, and not without end when it is not [SEC-UTIL-3]', async () => {
    const counting = tool('counting', (_args: never, { progress }) => {
      for (let done = 1; done <= 500; done++) progress(done, 500, `step ${done}\u001b[31m`);
      return 'counted';
    });
    await using server = await running(era, [counting]);
    const reports: { progress: number }[] = [];
    await server.client.request({ method: 'tools/call', params: { name: 'counting', arguments: {} } }, loose, {
      onprogress: (report) => void reports.push(report),
    });
    expect(reports.slice(0, 3)).toEqual(
      [1, 2, 3].map((each) => ({ progress: each, total: 500, message: `step ${each}` })),
    );
    expect(reports.at(-1)?.progress).toBe(500);
    expect(reports.length).toBeLessThan(50);
    expect(reports.map((each) => each.progress)).toEqual(reports.map((each) => each.progress).sort((a, b) => a - b));
  });

  it('report nothing once they have answered [SEC-UTIL-3]', async () => {
    let late = (): void => {};
    const leaking = tool('leaking', (_args: never, { progress, notify }) => {
      late = () => {
        progress(2);
        notify('error', 'too late');
      };
      progress(1);
      return 'answered';
    });
    const vitrine = createVitrine({ mounts: [], resourceTools: false, tools: [leaking] });
    const [input, output] = [new PassThrough(), new PassThrough()];
    const serving = serveStdio(vitrine, { input, output });
    const lines: { id?: number; method?: string; params?: { progress?: number } }[] = [];
    const reading = createInterface({ input: output });
    reading.on('line', (line) => void lines.push(JSON.parse(line)));
    const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const answered = (id: number) => until(() => lines.some((line) => line.id === id), `the answer to ${id}`);
    const _meta = { progressToken: 'p', ...(era === 'modern' && ENVELOPE) };
    try {
      if (era === 'legacy') {
        send({ id: 1, method: 'initialize', params: INITIALIZE });
        await answered(1);
        send({ method: 'notifications/initialized' });
      }
      send({ id: 2, method: 'tools/call', params: { name: 'leaking', arguments: {}, _meta } });
      await answered(2);
      late();
      send({ id: 3, method: 'tools/list', params: { ...(era === 'modern' && { _meta: ENVELOPE }) } });
      await answered(3);
      const told = lines.filter((line) => line.method !== undefined);
      expect(told).toMatchObject([{ method: 'notifications/progress', params: { progress: 1 } }]);
    } finally {
      await serving.close();
      await vitrine.close();
      reading.close();
    }
  });

  const FORM = z.object({ name: z.string().min(2) });
  const ask = elicitation('Who is it?', {
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
  });
  const asking = tool('asking', async (_args: never, { answers }) => {
    if (refused(answers.who)) return 'Then not';
    const form = await accepted(answers.who, FORM);
    return form === undefined ? inputRequired({ who: ask }) : `Hello, ${form.name}`;
  });

  it('ask the user until the form fits, and take no for an answer [SEC-SAMP-2]', async () => {
    await using server = await running(era, [asking]);
    const answers: unknown[] = [
      { action: 'accept', content: { name: 'X' } },
      { action: 'accept', content: { name: 'Xenia' } },
      { action: 'decline' },
    ];
    server.client.setRequestHandler('elicitation/create', () => answers.shift() as never);
    expect(textOf(await server.call('asking'))).toBe('Hello, Xenia');
    expect(textOf(await server.call('asking'))).toBe('Then not');
    expect(answers).toEqual([]);
  });

  it('keep state from one round to the next', async () => {
    const rounds = tool('rounds', (_args: never, { answers, state, seal }) => {
      const said = [...((state as readonly string[] | undefined) ?? []), sampledText(answers.model)].filter(Boolean);
      if (said.length === 3) return said.join(' ');
      const messages = [{ role: 'user', content: { type: 'text', text: `word ${said.length + 1}` } }] as const;
      return inputRequired({ model: sampling({ messages, maxTokens: 5 }) }, seal(said));
    });
    await using server = await running(era, [rounds]);
    server.client.setRequestHandler('sampling/createMessage', ({ params }) => {
      const [message] = params.messages;
      const asked = message?.content as { text: string };
      return { role: 'assistant', model: 'test', content: { type: 'text', text: `${asked.text}!` } };
    });
    expect(textOf(await server.call('rounds'))).toBe('word 1! word 2! word 3!');
  });
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly result?: Record<string, unknown>; readonly error?: { code: number; message: string } };
}

async function callRaw(
  url: string,
  params: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': String(params.name),
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { arguments: {}, ...params, _meta: ENVELOPE },
    }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}

describe('the state of a tool that asks', () => {
  const asking = tool('asking', (_args: never, { state, seal }) =>
    state === undefined
      ? inputRequired({ who: elicitation('Who?', { type: 'object', properties: {} }) }, seal({ secret: 'in here' }))
      : `the state was ${JSON.stringify(state)}`,
  );

  it('comes back as it was sealed; altered, or of another request, it is an error of the request', async () => {
    const vitrine = createVitrine({ mounts: [], resourceTools: false, tools: [asking] });
    const serving = await serveHttp(vitrine, { port: 0 });
    try {
      const first = await callRaw(serving.url, { name: 'asking' });
      const requestState = String(first.body.result?.requestState);
      expect(Buffer.from(requestState, 'base64url').toString('latin1')).not.toContain('in here');
      const inputResponses = { who: { action: 'accept', content: {} } };
      const again = await callRaw(serving.url, { name: 'asking', inputResponses, requestState });
      expect(again.body.result?.content).toEqual([{ type: 'text', text: 'the state was {"secret":"in here"}' }]);
      const middle = requestState.length >> 1;
      const altered = `${requestState.slice(0, middle)}${requestState[middle] === 'x' ? 'y' : 'x'}${requestState.slice(middle + 1)}`;
      for (const params of [
        { name: 'asking', inputResponses, requestState: `${requestState}A` },
        { name: 'asking', inputResponses, requestState: altered },
        { name: 'asking', inputResponses, requestState, arguments: { other: 1 } },
      ]) {
        const refusedState = await callRaw(serving.url, params);
        expect(refusedState.body.error?.code).toBe(-32602);
        expect(refusedState.body.result).toBeUndefined();
      }
    } finally {
      await serving.close();
      await vitrine.close();
    }
  });
});

describe('arguments that HTTP clients repeat in headers', () => {
  const routed = defineTool({
    name: 'routed',
    inputSchema: {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        options: {
          type: 'object',
          properties: {
            level: { type: 'integer', 'x-mcp-header': 'Level' },
            dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
          },
        },
      },
    },
    run: (args) => JSON.stringify(args),
  });
  const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

  const CASES: readonly [what: string, args: unknown, headers: Record<string, string>, accepted: boolean][] = [
    ['as they are', { region: 'eu' }, { 'Mcp-Param-Region': 'eu' }, true],
    ['encoded', { region: ' für 日本 ' }, { 'Mcp-Param-Region': encoded(' für 日本 ') }, true],
    ['in other letters of the header', { region: 'eu' }, { 'MCP-PARAM-REGION': 'eu' }, true],
    ['that only look encoded', { region: '=?base64?eu' }, { 'Mcp-Param-Region': '=?base64?eu' }, true],
    ['deep down', { options: { level: 42, dry: false } }, { 'Mcp-Param-Level': '42', 'Mcp-Param-Dry': 'false' }, true],
    ['as another spelling of the number', { options: { level: 42 } }, { 'Mcp-Param-Level': '42.0' }, true],
    ['null, without a header', { region: null }, {}, true],
    ['absent, without a header', {}, {}, true],
    ['of a header that no argument has', {}, { 'Mcp-Param-Other': 'x' }, true],
    ['that differ', { region: 'eu' }, { 'Mcp-Param-Region': 'us' }, false],
    ['that differ in case', { region: 'eu' }, { 'Mcp-Param-Region': 'EU' }, false],
    ['without their header', { region: 'eu' }, {}, false],
    ['without their header, one of two', { region: 'eu', options: { level: 1 } }, { 'Mcp-Param-Region': 'eu' }, false],
    ['absent, with a header', {}, { 'Mcp-Param-Region': 'eu' }, false],
    ['of another number', { options: { level: 42 } }, { 'Mcp-Param-Level': '43' }, false],
    ['with base64 that is cut short', { region: 'Hello' }, { 'Mcp-Param-Region': '=?base64?SGVsbG8?=' }, false],
    ['with base64 that is none', { region: 'Hello' }, { 'Mcp-Param-Region': '=?base64?SGVs!!!bG8=?=' }, false],
    ['with base64 of no UTF-8', { region: '\ufffd' }, { 'Mcp-Param-Region': '=?base64?/w==?=' }, false],
  ];

  it('are what the headers say, or the call is refused with -32020', async () => {
    const vitrine = createVitrine({ mounts: [], resourceTools: false, tools: [routed] });
    const serving = await serveHttp(vitrine, { port: 0 });
    try {
      for (const [what, args, headers, passes] of CASES) {
        const answer = await callRaw(serving.url, { name: 'routed', arguments: args }, headers);
        const expected = passes ? [200, undefined, undefined] : [400, -32020, 7];
        const { error } = answer.body;
        expect([answer.status, error?.code, error && (answer.body as { id?: number }).id], what).toEqual(expected);
      }
    } finally {
      await serving.close();
      await vitrine.close();
    }
  });
});

describe('a tool that hangs up', () => {
  const HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

  it('answers the client that comes back with what it saw last, and nobody else', async () => {
    let finish = (): void => {};
    const slow = tool('slow', async (_args: never, invocation) => {
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      invocation.hangUp();
      await finished;
      return 'worth the wait';
    });
    const vitrine = createVitrine({ mounts: [], resourceTools: false, tools: [slow] });
    const serving = await serveHttp(vitrine, { port: 0, resume: { retryMs: 5 } });
    const post = (
      id: number,
      method: string,
      params: object,
      headers: Record<string, string> = {},
    ): Promise<Response> =>
      fetch(serving.url, {
        method: 'POST',
        headers: { ...HEADERS, ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      });
    try {
      const open = async (): Promise<Record<string, string>> => {
        const response = await post(1, 'initialize', INITIALIZE);
        await response.text();
        return { 'Mcp-Session-Id': response.headers.get('mcp-session-id') ?? '', 'MCP-Protocol-Version': '2025-11-25' };
      };
      const [session, other] = [await open(), await open()];
      const broken = await (await post(2, 'tools/call', { name: 'slow', arguments: {} }, session)).text();
      expect(broken).toMatch(/^id: (\S+)\nretry: 5\ndata: ?\n\n$/);
      const last = /id: (\S+)/.exec(broken)?.[1] ?? '';
      const comeBack = (headers: Record<string, string>, id: string): Promise<Response> =>
        fetch(serving.url, { headers: { ...headers, Accept: 'text/event-stream', 'Last-Event-ID': id } });
      const stranger = await comeBack(other, last);
      expect(stranger.status).toBe(400);
      const waiting = await comeBack(session, last);
      finish();
      expect(await waiting.text()).toContain('worth the wait');
    } finally {
      finish();
      await serving.close();
      await vitrine.close();
    }
  });
});
