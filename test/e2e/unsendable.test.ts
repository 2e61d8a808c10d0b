/** A tool returns a value that JSON cannot express. The call fails with a server error, and other calls are not affected. */
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createVitrine, defineTool, type HttpServing, serveHttp, serveStdio, type Vitrine } from '../../src/index.ts';
import { ERAS, type Era } from './harness.ts';
import { ENVELOPE, http, INITIALIZE, JSON_HEADERS, post } from './raw.ts';
import { until } from './waiting.ts';

const circular: Record<string, unknown> = {};
circular.self = circular;

const NOTHING = { type: 'object' } as const;
const THINGS = {
  'a number that JSON does not have': { n: 1n },
  'a circle': circular,
  'an object that refuses to be written': {
    toJSON() {
      throw new Error('secret');
    },
  },
};

const tools = [
  ...Object.entries(THINGS).map(([, thing], at) =>
    defineTool({ name: `gives-${at}`, inputSchema: NOTHING, run: () => ({ content: [], structuredContent: thing }) }),
  ),
  ...Object.entries(THINGS).map(([, thing], at) =>
    defineTool({
      name: `tells-${at}`,
      inputSchema: NOTHING,
      run(_input, invocation) {
        invocation.notify('error', thing);
        return 'done';
      },
    }),
  ),
];

let vitrine: Vitrine;
let serving: HttpServing;

beforeEach(async () => {
  vitrine = createVitrine({ mounts: [], resourceTools: false, tools });
  serving = await serveHttp(vitrine, { port: 0 });
});

afterEach(async () => {
  await serving.close();
  await vitrine.close();
});

const META = { ...ENVELOPE, 'io.modelcontextprotocol/logLevel': 'debug' };

/** The answer to a call over HTTP. */
async function overHttp(era: Era, name: string): Promise<Record<string, unknown>> {
  const params = { name, arguments: {} };
  if (era === 'modern') {
    const of = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { ...params, _meta: META } });
    return lastOf((await http(serving.url, { headers: { ...JSON_HEADERS, ...of }, body })).text);
  }
  const begun = await post(serving.url, 'legacy', 'initialize', INITIALIZE, {});
  const session = { 'mcp-session-id': String(begun.headers['mcp-session-id']) };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
  return lastOf((await http(serving.url, { headers: { ...JSON_HEADERS, ...session }, body })).text);
}

/** The last message of an answer, which is alone or in a stream. */
const lastOf = (text: string): Record<string, unknown> =>
  JSON.parse(text.startsWith('{') ? text : (text.trim().split('data: ').at(-1) ?? '')) as Record<string, unknown>;

/** The answer to a call over pipes. */
async function overPipes(era: Era, name: string): Promise<Record<string, unknown>> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const pipes = serveStdio(vitrine, { input, output });
  const say = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  if (era === 'legacy') say({ id: 0, method: 'initialize', params: INITIALIZE });
  const _meta = era === 'modern' ? { _meta: META } : {};
  say({ id: 7, method: 'tools/call', params: { name, arguments: {}, ..._meta } });
  await until(() => text.includes('"id":7'), 'the answer');
  await pipes.close();
  return lastOf(text.trim().split('\n').at(-1) ?? '');
}

const WAYS = { HTTP: overHttp, pipes: overPipes } as const;

for (const era of ERAS) {
  for (const [over, call] of Object.entries(WAYS)) {
    for (const [at, what] of Object.keys(THINGS).entries()) {
      it(`${what} in a result makes only that call fail, ${era}, over ${over}`, async () => {
        const answer = await call(era, `gives-${at}`);
        expect(answer).toMatchObject({ id: 7, error: { code: -32_603 } });
        expect(JSON.stringify(answer)).not.toContain('secret');
        expect(await call(era, 'tells-0')).toHaveProperty('result');
      });

      it(`${what} in a log message does not make the call fail, ${era}, over ${over}`, async () => {
        expect(await call(era, `tells-${at}`)).toMatchObject({ id: 7, result: { content: [{ text: 'done' }] } });
      });
    }
  }
}
