/** Clients that are slow, or neither send nor take anything, cost a bounded part of the server, for a bounded time. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { Log } from '../../src/core/context.ts';
import { wrapProvider } from '../../src/core/layer.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpLimits, type HttpOptions, type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { ERAS, type Era } from '../e2e/harness.ts';
import { ENVELOPE, INITIALIZE, JSON_HEADERS, messageOf, post } from '../e2e/raw.ts';
import { until, within } from '../e2e/waiting.ts';
import { authority, signed } from './certificates.ts';
import { MEBIBYTE } from './served.ts';

/** More bytes than the system buffers for a connection. */
const BIG = 40 * MEBIBYTE;

/** Resources with long names, so that their updates are long. */
const LONG = Array.from({ length: 40 }, (_, index) => `${'x'.repeat(30_000)}-${index}`);

interface Serving extends AsyncDisposable {
  readonly http: HttpServing;
  readonly port: number;
  /** The warnings and errors in the log. */
  readonly lines: readonly string[];
  /** Resolves when the log has a line with this text. */
  told(text: string): Promise<unknown>;
  /** The number of open watches. */
  readonly watches: number;
  /** The number of reads of `never.txt`, which last until they are cancelled. */
  readonly waiting: number;
  /** Changes every resource with a long name. */
  change(): void;
}

const open: AsyncDisposable[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

async function serve(limits: Partial<HttpLimits>, options: HttpOptions = {}): Promise<Serving> {
  const lines: string[] = [];
  const note = (message: string, facts?: object): void => void lines.push(`${message} ${JSON.stringify(facts ?? {})}`);
  const log: Log = { debug: () => {}, info: () => {}, warn: note, error: note };
  const memory = memoryProvider({
    name: 'memory',
    resources: {
      'a.txt': { text: 'hello' },
      'never.txt': { text: 'late' },
      'big.txt': { text: 'x'.repeat(BIG) },
      ...Object.fromEntries(LONG.map((name) => [name, { text: '0' }])),
    },
  });
  let watches = 0;
  let waiting = 0;
  const provider = wrapProvider(memory, {
    async read(uri, want, ctx) {
      if (!uri.endsWith('never.txt')) return memory.read(uri, want, ctx);
      waiting++;
      await new Promise<void>((resolve) => {
        if (ctx.signal.aborted) resolve();
        else ctx.signal.addEventListener('abort', () => resolve(), { once: true });
      });
      waiting--;
      throw ctx.signal.reason;
    },
    async watch(uri, onChange, ctx) {
      const handle = await memory.watch?.(uri, onChange, ctx);
      if (handle === undefined) throw new Error('memory can be watched');
      watches++;
      return {
        async [Symbol.asyncDispose]() {
          watches--;
          await handle[Symbol.asyncDispose]();
        },
      };
    },
  });
  const vitrine = createVitrine({
    mounts: [{ name: 'memory', provider, prefix: 'none' }],
    limits: { maxReadBytes: BIG },
    changes: { coalesceMs: 1 },
  });
  const serving = await serveHttp(vitrine, { port: 0, log, limits, ...options });
  open.push({
    async [Symbol.asyncDispose]() {
      await serving.close();
      await vitrine.close();
    },
  });
  let round = 0;
  return {
    http: serving,
    port: serving.port,
    lines,
    told: (text) => until(() => lines.some((line) => line.includes(text)), `"${text}" in the log`),
    get watches() {
      return watches;
    },
    get waiting() {
      return waiting;
    },
    change() {
      round++;
      for (const name of LONG) memory.set(name, { text: String(round) });
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

interface Dialled {
  readonly socket: Socket;
  /** The text that was received so far, or its beginning. */
  readonly received: () => string;
  readonly closed: Promise<unknown>;
}

/** Opens a connection. If `reads` is false, it reads nothing until the test resumes it. */
async function dial(port: number, { reads = true } = {}): Promise<Dialled> {
  const socket = connect({ port, host: '127.0.0.1' });
  return dialled(socket, 'connect', reads);
}

async function dialled(socket: Socket, event: string, reads: boolean): Promise<Dialled> {
  sockets.push(socket);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  await within(once(socket, event), 'a connection');
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    if (text.length < MEBIBYTE) text += chunk.toString('latin1');
  });
  if (!reads) socket.pause();
  return { socket, received: () => text, closed };
}

/** The bytes of a request, with these headers in addition to the usual ones. */
function wire(method: string, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = { Host: 'localhost', ...JSON_HEADERS, 'Content-Length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

const modernHeaders = (method: string, name?: string): Record<string, string> => ({
  'MCP-Protocol-Version': '2026-07-28',
  'Mcp-Method': method,
  ...(name !== undefined && { 'Mcp-Name': name }),
});

/** Opens a session in the era, if it has sessions. Gives the headers of later requests. */
async function begin(era: Era, { http: { url } }: Serving): Promise<Record<string, string>> {
  if (era === 'modern') return {};
  const { headers } = await until(async () => {
    const answer = await post(url, 'legacy', 'initialize', INITIALIZE).catch(() => undefined);
    return answer?.status === 200 && answer;
  }, 'a session');
  return { 'Mcp-Session-Id': String(headers['mcp-session-id']), 'MCP-Protocol-Version': '2025-11-25' };
}

/** The bytes of a request of an era. */
function asking(era: Era, session: Record<string, string>, method: string, params: object, name?: string): string {
  const inEra = era === 'modern' ? { ...params, _meta: ENVELOPE } : params;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: inEra });
  return wire('POST', body, era === 'modern' ? modernHeaders(method, name) : session);
}

/** Checks that other clients are answered; on a busy machine perhaps not at once, because the limits in the test are short. */
async function answers({ http: { url } }: Serving): Promise<void> {
  const uri = 'memory:///a.txt';
  const answer = await until(async () => {
    const given = await post(url, 'modern', 'resources/read', { uri }, { 'mcp-name': uri }).catch(() => undefined);
    return given?.status === 200 && given;
  }, 'an answer for somebody else');
  expect(messageOf(answer).result).toMatchObject({ contents: [{ text: 'hello' }] });
}

/** Writes a byte now and then, until the connection ends. */
function trickle({ socket, closed }: Dialled, bytes: string): Promise<unknown> {
  let at = 0;
  const timer = setInterval(() => socket.write(bytes[at++ % bytes.length] ?? ' '), 20);
  return within(closed, 'the end of a slow connection').finally(() => clearInterval(timer));
}

describe('requests that take too long to arrive [SEC-RES-3]', () => {
  it('are ended in their headers, whether bytes come or not', async () => {
    const serving = await serve({ headersMs: 100 });
    const silent = await dial(serving.port);
    const half = await dial(serving.port);
    half.socket.write('POST /mcp HTTP/1.1\r\nHost: loc');
    const slow = await dial(serving.port);
    slow.socket.write('POST /mcp HTTP/1.1\r\nX-Long: ');
    await Promise.all([within(silent.closed, 'the end'), within(half.closed, 'the end'), trickle(slow, 'x')]);
    expect(half.received()).toMatch(/^(HTTP\/1\.1 408 |$)/);
    await answers(serving);
    expect(serving.lines).toEqual([]);
  });

  it.each(ERAS)('are ended in their body, %s', async (era) => {
    const serving = await serve({ headersMs: 100, requestMs: 200 });
    const session = await begin(era, serving);
    const slow = await dial(serving.port);
    const whole = asking(era, session, 'resources/list', { padding: 'x'.repeat(10_000) });
    slow.socket.write(whole.slice(0, -9_000));
    await trickle(slow, 'x');
    await answers(serving);
    // The log does not blame the server.
    expect(serving.lines).toEqual([]);
  });

  it('are ended before they begin if the TLS handshake does not finish', async () => {
    await using folder = await temporaryFolder();
    const pair = await signed(await authority());
    await folder.write('cert.pem', pair.cert);
    await folder.write('key.pem', pair.key);
    const tls = { cert: folder.at('cert.pem'), key: folder.at('key.pem') };
    const serving = await serve({ headersMs: 100 }, { tls });
    const { closed } = await dial(serving.port);
    await within(closed, 'the end of a handshake');
  });

  it('are ended when no request follows: connections are not kept for ever', async () => {
    const serving = await serve({ keepAliveMs: 100 });
    const { socket, closed, received } = await dial(serving.port);
    socket.write(wire('POST', '{}').replace('/mcp', '/nowhere'));
    await within(closed, 'the end of an idle connection');
    expect(received()).toContain('HTTP/1.1 404');
  });
});

describe('clients that never read [SEC-RES-4]', () => {
  const CUT = 'a client that does not read is cut off';

  it.each(ERAS)('are cut off during a long answer, %s', async (era) => {
    const serving = await serve({ unreadMs: 200 });
    const uri = 'memory:///big.txt';
    const session = await begin(era, serving);
    const reader = await dial(serving.port, { reads: false });
    reader.socket.write(asking(era, session, 'resources/read', { uri }, uri));
    await serving.told(CUT);
    reader.socket.resume();
    await within(reader.closed, 'the end of the connection');
    expect(reader.socket.bytesRead).toBeLessThan(BIG);
    await answers(serving);
  });

  it('are cut off over TLS, too', async () => {
    await using folder = await temporaryFolder();
    const pair = await signed(await authority());
    await folder.write('cert.pem', pair.cert);
    await folder.write('key.pem', pair.key);
    const tls = { cert: folder.at('cert.pem'), key: folder.at('key.pem') };
    const serving = await serve({ unreadMs: 200 }, { tls });
    const raw = connectTls({ port: serving.port, host: '127.0.0.1', rejectUnauthorized: false });
    const reader = await dialled(raw, 'secureConnect', false);
    const uri = 'memory:///big.txt';
    reader.socket.write(asking('modern', {}, 'resources/read', { uri }, uri));
    await serving.told(CUT);
    reader.socket.resume();
    await within(reader.closed, 'the end of the connection');
    expect(reader.socket.bytesRead).toBeLessThan(BIG);
  });

  it('are told from those that read slowly, which are not cut off while they go on', async () => {
    const serving = await serve({ unreadMs: 60_000 });
    const uri = 'memory:///big.txt';
    const reader = await dial(serving.port, { reads: false });
    reader.socket.write(asking('modern', {}, 'resources/read', { uri }, uri));
    await until(() => reader.socket.readableLength > 0, 'the begin of the answer');
    reader.socket.resume();
    await until(() => reader.socket.bytesRead > BIG, 'the whole answer');
    expect(serving.lines).toEqual([]);
  });

  /** Opens a stream of updates of an era, and stops reading. */
  async function listen(era: Era, serving: Serving): Promise<{ reader: Dialled; session: Record<string, string> }> {
    const uris = LONG.map((name) => `memory:///${name}`);
    const session = await begin(era, serving);
    const reader = await dial(serving.port);
    if (era === 'modern') {
      reader.socket.write(
        asking(era, session, 'subscriptions/listen', { notifications: { resourceSubscriptions: uris } }),
      );
      await until(() => reader.received().includes('notifications/subscriptions/acknowledged'), 'the stream');
    } else {
      for (const uri of uris) await post(serving.http.url, era, 'resources/subscribe', { uri }, session);
      reader.socket.write(wire('GET', '', { ...session, accept: 'text/event-stream' }));
      await until(() => reader.received().includes('text/event-stream'), 'the stream');
    }
    reader.socket.pause();
    return { reader, session };
  }

  /** Changes resources until the event has happened. */
  const changeUntil = (serving: Serving, happened: () => boolean, what: string): Promise<unknown> =>
    until(() => {
      serving.change();
      return happened();
    }, what);

  it.each(ERAS)('of updates are cut off when too many bytes wait for them, %s', async (era) => {
    const serving = await serve({ maxUnreadBytes: MEBIBYTE, unreadMs: 600_000 });
    const { reader, session } = await listen(era, serving);
    expect(serving.watches).toBe(LONG.length);
    await changeUntil(serving, () => serving.lines.some((line) => line.includes(CUT)), 'the end of the stream');
    reader.socket.resume();
    await within(reader.closed, 'the end of the connection');
    if (era === 'modern') {
      await until(() => serving.watches === 0, 'the end of the watches');
    } else {
      // The session goes on without its stream, and can open another one.
      const again = await dial(serving.port);
      again.socket.write(wire('GET', '', { ...session, accept: 'text/event-stream' }));
      await until(() => again.received().startsWith('HTTP/1.1 200'), 'another stream');
    }
    await answers(serving);
  });

  it.each(ERAS)('of updates are cut off when bytes wait for too long, %s', async (era) => {
    const serving = await serve({ unreadMs: 200 });
    const { reader } = await listen(era, serving);
    await changeUntil(serving, () => serving.lines.some((line) => line.includes(CUT)), 'the end of the stream');
    reader.socket.resume();
    await within(reader.closed, 'the end of the connection');
    if (era === 'modern') await until(() => serving.watches === 0, 'the end of the watches');
    await answers(serving);
  });
});

describe('connections [SEC-RES-4]', () => {
  it('are limited in number, and have room again when one ends', async () => {
    const serving = await serve({ maxConnections: 3 });
    const taken = await Promise.all([dial(serving.port), dial(serving.port), dial(serving.port)]);
    const refused = await dial(serving.port);
    await within(refused.closed, 'the end of the connection that is too many');
    expect(serving.lines).toEqual([expect.stringContaining('connections are refused')]);
    taken[0].socket.destroy();
    await answers(serving);
    expect(taken[1].socket.closed).toBe(false);
  });

  it('have a limit for each address', async () => {
    const serving = await serve({ maxConnectionsPerAddress: 2 });
    const taken = await Promise.all([dial(serving.port), dial(serving.port)]);
    const refused = await dial(serving.port);
    await within(refused.closed, 'the end of the connection that is too many');
    expect(serving.lines).toEqual([expect.stringContaining('connections of one address are refused')]);
    taken[0].socket.destroy();
    await answers(serving);
  });

  it('carry a limited number of requests that are not answered yet', async () => {
    const serving = await serve({ maxPipelined: 4 });
    const request = (uri: string): string => asking('modern', {}, 'resources/read', { uri }, uri);
    const { socket, closed } = await dial(serving.port);
    socket.write(request('memory:///never.txt').repeat(4));
    await until(() => serving.waiting === 4, 'four reads');
    socket.write(request('memory:///never.txt'));
    await within(closed, 'the end of the connection');
    await until(() => serving.waiting === 0, 'the end of the reads');
    const polite = await dial(serving.port);
    polite.socket.write(request('memory:///a.txt').repeat(4));
    await until(() => polite.received().split('"hello"').length === 5, 'four answers');
  });
});

describe('headers [SEC-RES-3]', () => {
  it.each([
    ['many', (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`X-H-${at}`, '1'])), 101],
    ['long', (length: number) => ({ 'X-Long': 'x'.repeat(length) }), 17_000],
  ])('that are too %s are refused with 431', async (_what, headers, size) => {
    const serving = await serve({});
    const { socket, received, closed } = await dial(serving.port);
    socket.write(wire('POST', '{}', headers(size)));
    await within(closed, 'the end of the connection');
    expect(received()).toMatch(/^HTTP\/1\.1 431 /);
    await answers(serving);
  });
});
