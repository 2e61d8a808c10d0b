/** Servers that lie, stall, or never end: each read fails with an error, and the next read works. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../../src/core/context.ts';
import { httpProvider } from '../../../src/providers/http/index.ts';
import { get, serveWeb } from './looking.ts';
import { type Answer, content } from './site.ts';

const QUICK = { connectTimeoutSeconds: 1, headersTimeoutSeconds: 0.2, idleTimeoutSeconds: 0.2, timeoutSeconds: 1 };

describe('a status', () => {
  it.each([
    [404, {}, 'not-found', {}],
    [410, {}, 'not-found', {}],
    [401, {}, 'denied', {}],
    [403, {}, 'denied', {}],
    [429, { 'retry-after': '7' }, 'limited', { retryAfterMs: 7_000 }],
    [503, { 'retry-after': '2' }, 'unavailable', { retryAfterMs: 2_000 }],
    [503, { 'retry-after': '99999999' }, 'unavailable', { retryAfterMs: 3_600_000 }],
    [504, {}, 'timeout', {}],
    [500, {}, 'unavailable', {}],
    [418, {}, 'unavailable', {}],
    [304, {}, 'unavailable', {}],
    [206, {}, 'unavailable', {}],
  ])('of %i %o is refused with %s', async (status, headers, code, details) => {
    await using web = await serveWeb(({ origin }) => ({ http: `${origin}/a` }));
    web.site.on('/a', (_request, response) => response.writeHead(status, headers).end());
    const uri = `${web.site.origin}/a`;
    await expect(get(web.provider, uri)).rejects.toMatchObject({ code, details, uri });
  });
});

/** Starts a server that writes its own bytes to each connection, whatever is requested. */
async function serveRaw(write: (socket: Socket) => void): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => write(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Writes again and again until the connection closes. */
function endless(socket: Socket, chunk: string, everyMs = 0): void {
  const next = (): void => {
    if (!socket.destroyed && socket.writable) socket.write(chunk, () => setTimeout(next, everyMs));
  };
  next();
}

const OK = 'HTTP/1.1 200 OK\r\n';

describe('a server that', () => {
  it.each<[string, (socket: Socket) => void, string]>([
    ['never answers', () => {}, 'timeout'],
    [
      'never ends its headers',
      (socket) => {
        socket.write(OK);
        endless(socket, 'X-A: b\r\n', 20);
      },
      'timeout',
    ],
    ['has a header that is too long', (socket) => void socket.write(`${OK}X-A: ${'a'.repeat(200_000)}`), 'unavailable'],
    ['begins and stops', (socket) => void socket.write(`${OK}Content-Length: 10\r\n\r\nabc`), 'timeout'],
    ['sends less than its length', (socket) => void socket.end(`${OK}Content-Length: 10\r\n\r\nabc`), 'unavailable'],
    ['has an invalid length', (socket) => void socket.end(`${OK}Content-Length: ten\r\n\r\nabc`), 'unavailable'],
    [
      'says two lengths',
      (socket) => void socket.end(`${OK}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`),
      'unavailable',
    ],
    ['does not speak HTTP', (socket) => void socket.end('220 mail.example ESMTP\r\n'), 'unavailable'],
    ['hangs up', (socket) => void socket.destroy(), 'unavailable'],
    [
      'breaks off a chunk',
      (socket) => void socket.end(`${OK}Transfer-Encoding: chunked\r\n\r\nff\r\nabc`),
      'unavailable',
    ],
    [
      'goes on without end',
      (socket) => {
        socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
        endless(socket, `10000\r\n${'x'.repeat(65_536)}\r\n`);
      },
      'too-large',
    ],
    [
      'sends single bytes without end',
      (socket) => {
        socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
        endless(socket, '1\r\nx\r\n', 20);
      },
      'timeout',
    ],
  ])('%s causes an error', async (_what, write, code) => {
    const server = await serveRaw(write);
    const hurry = code === 'timeout' ? QUICK : {};
    const provider = await httpProvider({ http: server.url, ...hurry, maxBytes: 1_000_000 });
    try {
      await expect(get(provider, server.url)).rejects.toMatchObject({ code, uri: server.url });
    } finally {
      await provider.close?.();
      await server.close();
    }
  });

  it('sends more than its Content-Length is refused or cut there, and the rest is not used', async () => {
    const server = await serveRaw((socket) => void socket.end(`${OK}Content-Length: 3\r\n\r\nabcSMUGGLED`));
    const provider = await httpProvider({ http: server.url });
    try {
      const got = await get(provider, server.url).catch((error: unknown) => error);
      expect(got instanceof Error ? 'refused' : (got as { text: string }).text).toMatch(/^(?:abc|refused)$/);
    } finally {
      await provider.close?.();
      await server.close();
    }
  });
});

const BOMB = gzipSync(Buffer.alloc(50_000_000));

const packed =
  (bytes: Uint8Array, encoding: string): Answer =>
  (_request, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(bytes);

describe('a packed answer', () => {
  it.each<[string, Answer, string]>([
    ['that is a bomb', packed(BOMB, 'gzip'), 'too-large'],
    ['that is a bomb in a bomb', packed(gzipSync(BOMB), 'gzip, gzip'), 'unavailable'],
    ['that is broken', packed(BOMB.subarray(0, 500), 'gzip'), 'unavailable'],
    ['that is not packed', packed(Buffer.from('plain'), 'gzip'), 'unavailable'],
    ['that is packed with another method', packed(deflateRawSync('x'), 'br'), 'unavailable'],
    ['in an unknown way', packed(Buffer.from('x'), 'zstd'), 'unavailable'],
  ])('%s causes an error, and the next read works', async (_what, answer, code) => {
    await using web = await serveWeb(({ origin }) => ({ http: [`${origin}/a`, `${origin}/b`], maxBytes: 1_000_000 }));
    web.site.on('/a', answer);
    web.site.on('/b', content('fine'));
    await expect(get(web.provider, `${web.site.origin}/a`)).rejects.toMatchObject({ code });
    expect((await get(web.provider, `${web.site.origin}/b`)).text).toBe('fine');
  });
});

describe('a window', () => {
  it.each<[string, Record<string, string>]>([
    ['of other bytes', { 'content-range': 'bytes 5-8/100' }],
    ['without a range', {}],
    ['with an invalid range', { 'content-range': 'bytes 9-8/100' }],
    ['past the end', { 'content-range': 'bytes 0-3/2' }],
    ['of packed bytes', { 'content-range': 'bytes 0-3/100', 'content-encoding': 'gzip' }],
  ])('%s is refused', async (_what, headers) => {
    await using web = await serveWeb(({ origin }) => ({ http: `${origin}/a`, head: false }));
    web.site.on('/a', (_request, response) => response.writeHead(206, headers).end('abcd'));
    const range = { offset: 0, length: 4 };
    await expect(get(web.provider, `${web.site.origin}/a`, { range })).rejects.toMatchObject({ code: 'unavailable' });
  });
});

it('a content over the limit of the caller is refused before it is sent [SEC-RES-3]', async () => {
  await using web = await serveWeb(({ origin }) => ({ http: `${origin}/a` }), content('x'.repeat(100_000)));
  await expect(get(web.provider, `${web.site.origin}/a`, { maxBytes: 99_999 })).rejects.toMatchObject({
    code: 'too-large',
  });
  expect((await get(web.provider, `${web.site.origin}/a`, { maxBytes: 100_000 })).text).toHaveLength(100_000);
});

it('a caller who leaves ends the request [RES-7]', async () => {
  const caller = new AbortController();
  await using web = await serveWeb(({ origin }) => ({ http: `${origin}/a` }));
  const gone = new Promise<void>((resolve) => {
    web.site.on('/a', (_request, response) => {
      response.once('close', resolve);
      caller.abort(new Error('The caller is gone'));
    });
  });
  const reading = web.provider.read(
    `${web.site.origin}/a`,
    { maxBytes: 10, maxChildren: 1 },
    createContext({ signal: caller.signal }),
  );
  await expect(reading).rejects.toThrow('The caller is gone');
  await gone;
});
