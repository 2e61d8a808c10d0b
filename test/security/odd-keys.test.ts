/** Keys that a client chooses are only keys, even those that every JavaScript object inherits. */
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResourceClient } from '../../src/client/index.ts';
import {
  createVitrine,
  definePrompt,
  defineTool,
  elicitation,
  type HttpServing,
  inputRequired,
  serveHttp,
  type Vitrine,
} from '../../src/index.ts';
import { eraOf } from '../client/scripted.ts';
import { ERAS, type Era } from '../e2e/harness.ts';
import { ENVELOPE } from '../e2e/raw.ts';

const ODD = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'] as const;

/** Gives the values that a handler got under the keys, and all its keys. */
const seen = (record: Readonly<Record<string, unknown>>): object => ({
  keys: Object.keys(record).sort(),
  found: ['confirm', ...ODD].filter((key) => record[key] !== undefined).sort(),
});

/** An object of these keys, as JSON makes it: all are own properties. */
const own = (entries: readonly (readonly [string, unknown])[]): Record<string, unknown> => Object.fromEntries(entries);

const asking = defineTool({
  name: 'asking',
  inputSchema: { type: 'object' },
  run: (_args, { answers, state, seal }) => {
    if (state !== undefined) return JSON.stringify(seen(answers));
    const questions = ['confirm', ...ODD].map((key) => [
      key,
      elicitation(`${key}?`, { type: 'object', properties: {} }),
    ]);
    return inputRequired(Object.fromEntries(questions), seal({ asked: true }));
  },
});

const taking = defineTool({
  name: 'taking',
  inputSchema: {
    type: 'object',
    properties: own(ODD.map((key) => [key, { type: 'string' }])),
    required: ['constructor', 'hasOwnProperty'],
    additionalProperties: false,
  },
  run: (args) => JSON.stringify(Object.keys(args as object).sort()),
});

const prompt = definePrompt({
  name: 'odd',
  arguments: [
    { name: 'constructor', required: true },
    { name: 'toString', required: false },
  ],
  complete: (_argument, _value, known) => [JSON.stringify(seen(known))],
  get: (values) => ({ messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(seen(values)) } }] }),
});

let vitrine: Vitrine;
let serving: HttpServing;
beforeAll(async () => {
  vitrine = createVitrine({ mounts: [], resourceTools: false, tools: [asking, taking], prompts: [prompt] });
  serving = await serveHttp(vitrine, { port: 0 });
});
afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
});

async function withClient<T>(era: Era, run: (client: Client) => Promise<T>): Promise<T> {
  await using resources = createResourceClient({ url: serving.url, ...eraOf[era] });
  return await run((await resources.client()) as Client);
}

const textOf = (result: unknown): string =>
  (result as { content: readonly { text: string }[] }).content[0]?.text ?? JSON.stringify(result);

/** A raw call, for keys that a JavaScript client may lose. */
async function call(params: string): Promise<Record<string, unknown>> {
  const meta = JSON.stringify({ ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } });
  const response = await fetch(serving.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'asking',
    },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asking","arguments":{},${params}"_meta":${meta}}}`,
  });
  const { result } = (await response.json()) as { result: Record<string, unknown> };
  return result;
}

describe('answers to questions, in the modern era', () => {
  const ACCEPTED = '{"action":"accept","content":{"confirm":true}}';

  async function answered(inputResponses: string): Promise<unknown> {
    const { requestState } = await call('');
    const result = await call(`"inputResponses":${inputResponses},"requestState":${JSON.stringify(requestState)},`);
    return JSON.parse(textOf(result));
  }

  it.each<[string, string, readonly string[]]>([
    ['no answer', '{}', []],
    ['one below __proto__', `{"__proto__":{"confirm":${ACCEPTED}}}`, ['__proto__']],
    ['one below constructor', `{"constructor":{"prototype":{"confirm":${ACCEPTED}}}}`, ['constructor']],
    ['one beside __proto__', `{"__proto__":{"toString":${ACCEPTED}},"confirm":${ACCEPTED}}`, ['__proto__', 'confirm']],
    ...ODD.map((key): [string, string, readonly string[]] => [`one to ${key}`, `{"${key}":${ACCEPTED}}`, [key]]),
  ])('are the answers that were sent: %s', async (_, sent, keys) => {
    expect(await answered(sent)).toEqual({ keys, found: keys });
  });
});

describe('answers to questions, in the legacy era', () => {
  it('are under the requested keys', async () => {
    const capabilities = { elicitation: {} };
    await using resources = createResourceClient({
      url: serving.url,
      clientOptions: { ...eraOf.legacy.clientOptions, capabilities },
    });
    const client = (await resources.client()) as Client;
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
    const keys = ['confirm', ...ODD].sort();
    expect(JSON.parse(textOf(await client.callTool({ name: 'asking', arguments: {} })))).toEqual({ keys, found: keys });
  });
});

describe.each(ERAS)('in the %s era', (era) => {
  it('arguments of a tool that were not sent are missing', async () => {
    await withClient(era, async (client) => {
      const refused = await client.callTool({ name: 'taking', arguments: {} }).catch((error: unknown) => error);
      expect(refused).toMatchObject(refused instanceof Error ? { code: -32602 } : { isError: true });
      const given = own(['constructor', 'hasOwnProperty', 'toString'].map((key) => [key, 'x']));
      expect(textOf(await client.callTool({ name: 'taking', arguments: given }))).toBe(
        '["constructor","hasOwnProperty","toString"]',
      );
    });
  });

  it('arguments of a prompt are only those that the client sent', async () => {
    await withClient(era, async (client) => {
      const get = (args: Record<string, unknown>) =>
        client.getPrompt({ name: 'odd', arguments: args as Record<string, string> });
      await expect(get({})).rejects.toMatchObject({ code: -32602 });
      await expect(
        get(
          own([
            ['hasOwnProperty', 'x'],
            ['constructor', 'y'],
          ]),
        ),
      ).rejects.toMatchObject({ code: -32602 });
      const { messages } = await get(own([['constructor', 'x']]));
      expect(JSON.parse(textOf({ content: messages.map(({ content }) => content) }))).toEqual({
        keys: ['constructor'],
        found: ['constructor'],
      });
    });
  });

  it('known arguments of a completion are those that were sent', async () => {
    await withClient(era, async (client) => {
      const complete = async (args: Record<string, unknown>): Promise<unknown> => {
        const { completion } = await client.complete({
          ref: { type: 'ref/prompt', name: 'odd' },
          argument: { name: 'constructor', value: '' },
          context: { arguments: args as Record<string, string> },
        });
        return JSON.parse(completion.values[0] ?? '');
      };
      expect(await complete({})).toEqual({ keys: [], found: [] });
      for (const key of ODD.slice(1)) expect(await complete(own([[key, 'x']]))).toEqual({ keys: [key], found: [key] });
    });
  });
});
