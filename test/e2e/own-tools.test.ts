/** Custom tools and prompts: their results arrive complete, and their questions are answered, in both eras. */
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
import { ENVELOPE, INITIALIZE } from './raw.ts';
import { until } from './waiting.ts';

const loose = z.looseObject({});
const NOTHING = { type: 'object' } as const;

interface Running extends AsyncDisposable {
  readonly client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
}

const versionNegotiation = { legacy: { mode: 'legacy' }, modern: { mode: { pin: '2026-07-28' } } } as const;

/** A server with these tools and prompts, and a client that supports every question. */
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

/** All fields of a resource, with an unknown one. */
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

describe.each(ERAS)('custom tools, %s', (era) => {
  it('return embedded resources and links with all their fields [2093-1, CB-4]', async () => {
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

  it('with invalid schemas are left out, and do not affect others', async () => {
    const good = tool('good', () => 'well');
    const bad = (name: string, schemas: object): Tool => ({ ...tool(name, () => 'badly'), ...schemas }) as Tool;
    const tools = [
      bad('bad-input', { inputSchema: { type: 'nothing' } }),
      good,
      bad('bad-output', { outputSchema: { type: 'object', properties: 5 } }),
      bad('bad-header', { inputSchema: { type: 'object', 'x-mcp-header': 'Top' } }),
      bad('throwing', { inputSchema: { '~standard': { version: 1, vendor: 'none', validate: () => ({}) } } }),
    ];
    await using server = await running(era, tools);
    const listed = await server.client.request({ method: 'tools/list', params: {} }, loose);
    expect((listed.tools as readonly { name: string }[]).map(({ name }) => name)).toEqual(['good']);
    expect(textOf(await server.call('good'))).toBe('well');
    for (const name of ['bad-input', 'bad-output', 'bad-header', 'throwing', 'none'])
      await expect(server.call(name)).rejects.toMatchObject({ code: -32_602, message: expect.stringContaining(name) });
  });

  it('have the annotations of a block moved to its resource, however the block was made [2093-9]', async () => {
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

  it('report growing progress, at once for a few steps, and at a limited rate for many [SEC-UTIL-3]', async () => {
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

  it('report nothing after their result [SEC-UTIL-3]', async () => {
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

  it('ask the user until the form is valid, and accept a refusal [SEC-SAMP-2]', async () => {
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
