/** Custom tools over raw HTTP: sealed state, arguments in headers, and answers for clients that reconnect. */
import { describe, expect, it } from 'vitest';
import { createVitrine, defineTool, elicitation, inputRequired, serveHttp, type Tool } from '../../src/index.ts';
import { ENVELOPE, INITIALIZE } from './raw.ts';

const tool = (name: string, run: Tool['run']): Tool =>
  defineTool({ name, inputSchema: { type: 'object' }, run: run as never });

const _meta = { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };

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
      params: { arguments: {}, ...params, _meta },
    }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}

describe('the state of a tool that asks questions', () => {
  const asking = tool('asking', (_args: never, { state, seal }) =>
    state === undefined
      ? inputRequired({ who: elicitation('Who?', { type: 'object', properties: {} }) }, seal({ secret: 'in here' }))
      : `the state was ${JSON.stringify(state)}`,
  );

  it('is sent back as it was sealed; if it was altered, or belongs to another request, the request fails', async () => {
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

  it('agree with the headers, or the call is refused with -32020', async () => {
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

describe('a tool that closes the stream', () => {
  const HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

  it('has its answer given to the client that reconnects with its last event id, and to nobody else', async () => {
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
