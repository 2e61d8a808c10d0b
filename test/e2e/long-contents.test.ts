/** Contents that are sent in pieces: over every transport, the bytes are those of an answer that is written as a whole. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { filesProvider } from '../../src/providers/files/index.ts';
import { createEndpoint, type HttpOptions, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type VitrineOptions } from '../../src/vitrine.ts';
import { temporaryFolder } from './folders.ts';
import { ERAS, type Era } from './harness.ts';
import { ENVELOPE, http, INITIALIZE, JSON_HEADERS, post, startStdio } from './raw.ts';
import { until, within } from './waiting.ts';

const MEBIBYTE = 1_048_576;

/** All characters that JSON escapes, and characters of each length, at odd positions. A text does not begin with control characters. */
const PROSE = Array.from(
  { length: 9_000 },
  (_, at) => `${at} "é" \\ ${at > 7_000 ? '\u0001' : ''}\t☃ 𝄞 ${'x'.repeat(at % 37)}\n`,
).join('');
const NOISE = Buffer.from(Array.from({ length: 300_001 }, (_, at) => (at * 7 + 128) % 256));

const FILES = {
  'prose.txt': PROSE,
  'late.txt': Buffer.concat([Buffer.from(PROSE), Buffer.from([0xe2, 0x98])]),
  'noise.bin': NOISE,
  'noise-1.bin': NOISE.subarray(1),
  'noise-2.bin': NOISE.subarray(2),
  'many/a.txt': PROSE,
  'many/b.bin': NOISE,
  'many/c.txt': 'short',
};

interface Item {
  readonly uri: string;
  readonly text?: string;
  readonly blob?: string;
}

const READS: readonly (readonly [string, object, (contents: readonly Item[]) => void])[] = [
  ['a text', { uri: 'file:///prose.txt' }, ([item]) => expect(item?.text === PROSE).toBe(true)],
  [
    'a file that is no text because of its last bytes',
    { uri: 'file:///late.txt' },
    ([item]) => expect(item?.blob === FILES['late.txt'].toString('base64')).toBe(true),
  ],
  ...(['noise.bin', 'noise-1.bin', 'noise-2.bin'] as const).map(
    (name) =>
      [
        `${name} of ${FILES[name].byteLength} bytes`,
        { uri: `file:///${name}` },
        ([item]: readonly Item[]) => expect(item?.blob === FILES[name].toString('base64')).toBe(true),
      ] as const,
  ),
  [
    'several contents of one answer',
    { uri: 'file:///many' },
    (contents) => {
      expect(contents.map(({ uri }) => uri)).toEqual(['a.txt', 'b.bin', 'c.txt'].map((each) => `file:///many/${each}`));
      expect(contents[0]?.text === PROSE).toBe(true);
      expect(contents[1]?.blob === NOISE.toString('base64')).toBe(true);
    },
  ],
  [
    'a window that ends within a character',
    { uri: 'file:///prose.txt', _meta: { 'vitrine/range': { offset: 0, length: endInSnowman() } } },
    ([item]) =>
      expect(
        item?.text ===
          Buffer.from(PROSE)
            .subarray(0, endInSnowman() - 2)
            .toString(),
      ).toBe(true),
  ],
  [
    'a window that begins within a character',
    { uri: 'file:///prose.txt', _meta: { 'vitrine/range': { offset: endInSnowman(), length: 100_000 } } },
    ([item]) => expect(Buffer.from(item?.blob ?? '', 'base64')).toHaveLength(100_000),
  ],
  [
    'lines',
    { uri: 'file:///prose.txt#L100-L8000' },
    ([item]) => expect(item?.text === `${PROSE.split('\n').slice(99, 8_000).join('\n')}\n`).toBe(true),
  ],
];

/** A position two bytes into a character of three bytes, within the text. */
function endInSnowman(): number {
  return Buffer.from(PROSE).indexOf('☃', 150_000) + 2;
}

/** Checks that an answer is JSON as `JSON.stringify` writes it, and checks its contents. */
function check(json: string, contents: (contents: readonly Item[]) => void): void {
  const message = JSON.parse(json);
  expect(JSON.stringify(message) === json).toBe(true);
  contents(message.result.contents);
}

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

async function serve(
  files: Record<string, string | Buffer>,
  limits: VitrineOptions['limits'] = {},
  more: HttpOptions = {},
) {
  const folder = await temporaryFolder(files);
  const vitrine = createVitrine({
    mounts: [{ name: 'f', provider: await filesProvider({ path: folder.path }), prefix: 'none' }],
    limits,
  });
  const serving = await serveHttp(vitrine, { port: 0, ...more });
  const endpoint = createEndpoint(vitrine);
  open.push(folder, {
    async [Symbol.asyncDispose]() {
      await endpoint.close();
      await serving.close();
      await vitrine.close();
    },
  });
  return { url: serving.url, port: serving.port, endpoint };
}

/** The headers of a read, in a session if the era has sessions. */
async function headersIn(era: Era, url: string, uri: string): Promise<Record<string, string>> {
  if (era === 'modern') return { 'mcp-name': uri };
  const { headers } = await post(url, era, 'initialize', INITIALIZE);
  return { 'mcp-session-id': String(headers['mcp-session-id']), 'mcp-protocol-version': '2025-11-25' };
}

describe.each(ERAS)('long contents, %s', (era) => {
  it.each(READS)('over HTTP: %s', async (_, params, contents) => {
    const { url } = await serve(FILES);
    const { uri, _meta } = params as { uri: string; _meta?: object };
    const headers = await headersIn(era, url, uri);
    const inEra = era === 'modern' ? { uri, _meta: { ...ENVELOPE, ..._meta } } : params;
    const ofEra = era === 'modern' ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/read' } : {};
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'a "name"', method: 'resources/read', params: inEra });
    const answer = await http(url, { headers: { ...JSON_HEADERS, ...ofEra, ...headers }, body });
    expect(answer.headers['content-length']).toBe(`${Buffer.byteLength(answer.text)}`);
    expect(answer.headers['transfer-encoding']).toBeUndefined();
    if (era === 'modern') return check(answer.text, contents);
    expect(answer.text.startsWith('event: message\ndata: {')).toBe(true);
    expect(answer.text.endsWith('}\n\n')).toBe(true);
    check(answer.text.slice('event: message\ndata: '.length, -2), contents);
  });

  it.each(['embedded', 'plain', 'window'])('of a tool that reads with as: %s', async (as) => {
    const { url } = await serve(FILES);
    const headers = { ...(await headersIn(era, url, 'read')) };
    const args = { uri: 'file:///prose.txt', as, ...(as === 'window' && { max_bytes: 300_000 }) };
    const answer = await post(url, era, 'tools/call', { name: 'read', arguments: args }, headers);
    expect(answer.headers['content-length']).toBe(`${Buffer.byteLength(answer.text)}`);
    const json = era === 'modern' ? answer.text : answer.text.slice('event: message\ndata: '.length, -2);
    const message = JSON.parse(json);
    expect(JSON.stringify(message) === json).toBe(true);
    const texts = JSON.stringify(message.result.content);
    const wanted = as === 'window' ? Buffer.from(PROSE).subarray(0, 299_990).toString().slice(0, -2) : PROSE;
    expect(texts.includes(JSON.stringify(wanted).slice(1, -1))).toBe(true);
  });

  it('over standard output, between other lines', async () => {
    await using folder = await temporaryFolder(FILES);
    await using server = startStdio(era, [folder.path]);
    if (era === 'legacy') await server.request(1, 'initialize', INITIALIZE);
    else await server.request(1, 'server/discover');
    const wholes = READS.filter(([, params]) => !('_meta' in params));
    const asked = wholes.flatMap(([, params], index) => [
      server.request(10 + index, 'resources/read', params as Record<string, unknown>),
      server.request(100 + index, 'resources/metadata', { uri: 'file:///prose.txt' }),
    ]);
    await Promise.all(asked);
    server.end();
    expect(await server.exited).toEqual({ code: 0, signal: null });
    for (const [index, [, , contents]] of wholes.entries()) {
      const line = server.lines.find((each) => JSON.parse(each).id === 10 + index);
      check(String(line), contents);
    }
  });
});

it.each(READS)('through fetch: %s', async (_, params, contents) => {
  const { endpoint } = await serve(FILES);
  const { uri, _meta } = params as { uri: string; _meta?: object };
  const headers = {
    ...JSON_HEADERS,
    host: 'localhost',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'resources/read',
    'mcp-name': uri,
  };
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'resources/read',
    params: { uri, _meta: { ...ENVELOPE, ..._meta } },
  };
  const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(message) });
  check(await (await endpoint.fetch(request)).text(), contents);
});

describe('clients that do not take a long content', () => {
  const BIG = 48 * MEBIBYTE;
  const limits = { maxReadBytes: BIG, maxHeldBytes: MEBIBYTE };

  /** Requests the file, and reads only the beginning of the answer. */
  async function ask(port: number) {
    const params = { uri: 'file:///big.txt', _meta: ENVELOPE };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params });
    const headers = {
      Host: 'localhost',
      ...JSON_HEADERS,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'resources/read',
      'Mcp-Name': params.uri,
      'Content-Length': Buffer.byteLength(body),
    };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`POST /mcp HTTP/1.1\r\n${head.join('')}\r\n${body}`);
    await within(once(socket, 'readable'), 'the beginning of the answer');
    return socket;
  }

  it('hold its memory as long as they are connected, and no longer', async () => {
    const { url, port } = await serve({ 'big.txt': 'x'.repeat(BIG), 'other.txt': PROSE }, limits);
    const socket = await ask(port);
    const other = post(
      url,
      'modern',
      'resources/read',
      { uri: 'file:///other.txt' },
      { 'mcp-name': 'file:///other.txt' },
    );
    socket.destroy();
    const { text } = await other;
    check(text, ([item]) => expect(item?.text === PROSE).toBe(true));
  });

  it('are cut off when their time is over', async () => {
    const lines: string[] = [];
    const note = (message: string): void => void lines.push(message);
    const log = { debug: () => {}, info: () => {}, warn: note, error: note };
    const { port } = await serve({ 'big.txt': 'x'.repeat(BIG) }, limits, { log, limits: { unreadMs: 200 } });
    const socket = await ask(port);
    await until(() => lines.includes('a client that does not read is cut off'), 'the cut');
    socket.destroy();
  });

  it('get all of it if they read slowly', async () => {
    const { port } = await serve({ 'big.txt': 'x'.repeat(BIG) }, limits);
    const sockets = [await ask(port)];
    const [first] = sockets;
    let bytes = 0;
    first?.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
      first.pause();
      setImmediate(() => first.resume());
    });
    await until(() => bytes > BIG, 'the whole answer');
    first?.destroy();
  });
});

it('bytes for one client are never those of another one, however many clients leave', async () => {
  const SIZES = [300_001, 700_000, 1_500_000, 2_500_003];
  const textOf = (index: number): string => `${index}-`.repeat((SIZES[index % SIZES.length] ?? 0) / 2);
  const names = Array.from({ length: 8 }, (_, index) => `${index}.${index % 2 === 0 ? 'txt' : 'bin'}`);
  // A byte that is not text makes the content base64.
  const contents = names.map((name, index) => `${name.endsWith('.bin') ? '\u0000' : ''}${textOf(index)}`);
  const { url, endpoint } = await serve(Object.fromEntries(names.map((name, index) => [name, contents[index] ?? ''])), {
    maxHeldBytes: 8 * MEBIBYTE,
  });

  async function read(index: number, over: 'HTTP' | 'fetch', leaves: boolean): Promise<void> {
    const uri = `file:///${names[index]}`;
    const leaving = new AbortController();
    const request = new Request(over === 'HTTP' ? url : 'http://localhost/mcp', {
      method: 'POST',
      headers: {
        ...JSON_HEADERS,
        ...(over === 'fetch' && { host: 'localhost' }),
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'resources/read',
        'mcp-name': uri,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri, _meta: ENVELOPE } }),
      signal: leaving.signal,
    });
    const response = await (over === 'HTTP' ? fetch(request) : endpoint.fetch(request));
    if (leaves) {
      const reader = response.body?.getReader();
      for (let chunks = index; chunks > 0; chunks--) await reader?.read();
      await reader?.cancel();
      leaving.abort();
      return;
    }
    const { result } = (await response.json()) as { result: { contents: [Item] } };
    const [{ text, blob }] = result.contents;
    const found = text ?? Buffer.from(blob ?? '', 'base64').toString('utf8');
    if (found !== contents[index]) throw new Error(`${uri} over ${over} has something else in it`);
  }

  const turns = Array.from({ length: 96 }, (_, turn) => turn);
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      for (let turn = turns.shift(); turn !== undefined; turn = turns.shift())
        await read((turn * 5) % names.length, turn % 4 === 3 ? 'fetch' : 'HTTP', turn % 3 === 0);
    }),
  );
});
