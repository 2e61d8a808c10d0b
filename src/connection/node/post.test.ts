import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createIntake } from '../intake.ts';
import { postMessage } from './post.ts';

const MESSAGE = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'wind' } };
const ANSWER = { jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: 'wöund' }] } };
const PROGRESS = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 7, progress: 1 } };
const MAX_BYTES = 100_000;
const EVENTS = { 'Content-Type': 'text/event-stream' };

const event = (message: object, end = '\n'): string =>
  `event: message${end}data: ${JSON.stringify(message)}${end}${end}`;

/** Runs a function with a server that always answers in one way. */
async function against<T>(answer: RequestListener, run: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
}

const intake = createIntake({ maxMessageBytes: MAX_BYTES }, { cutOff: () => {} });

async function send(url: string, init: RequestInit = {}, headers: Record<string, string> = {}): Promise<Response> {
  const sent = postMessage(
    url,
    { body: JSON.stringify(MESSAGE), redirect: 'manual', ...init },
    new Headers({ 'content-type': 'application/json', ...headers }),
    intake,
  );
  if (sent === undefined) throw new Error('It was not sent');
  return sent;
}

describe('a request', () => {
  it('has the body, and the given headers', async () => {
    await against(
      async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        const { 'mcp-session-id': session, 'content-length': length } = request.headers;
        const body = Buffer.concat(chunks).toString('utf8');
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ method: request.method, session, length, body }));
      },
      async (url) => {
        const body = JSON.stringify({ text: 'wöund' });
        const seen = await (await send(url, { body }, { 'Mcp-Session-Id': 'one' })).json();
        expect(seen).toEqual({ method: 'POST', session: 'one', length: `${Buffer.byteLength(body)}`, body });
      },
    );
  });

  it('uses an open connection again', async () => {
    const sockets = new Set<unknown>();
    await against(
      (request, response) => {
        sockets.add(request.socket);
        response.writeHead(200, EVENTS).end(event(ANSWER));
      },
      async (url) => {
        for (let round = 0; round < 3; round++) {
          await (await send(url)).json();
          // The end of the stream comes after its answer.
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    );
    expect(sockets.size).toBeLessThan(3);
  });

  it('is one message: any other request is left to fetch', () => {
    const headers = new Headers({ 'content-type': 'application/json' });
    const left = (init: RequestInit, given = headers): unknown =>
      postMessage('http://127.0.0.1:9/', init, given, intake);
    expect(left({ body: '{}' })).toBeUndefined();
    expect(left({ body: new URLSearchParams(), redirect: 'manual' })).toBeUndefined();
    expect(left({ body: 'a=b', redirect: 'manual' }, new Headers())).toBeUndefined();
  });
});

describe('an answer', () => {
  it.each([
    ['JSON', { 'Content-Type': 'application/json; charset=utf-8' }, JSON.stringify(ANSWER)],
    ['one event', EVENTS, event(ANSWER)],
    ['one event with lines as Windows has them', EVENTS, event(ANSWER, '\r\n')],
    ['one event with an id', EVENTS, `id: 1\n${event(ANSWER)}`],
  ])('is the message, if that is everything: %s', async (_, headers, body) => {
    await against(
      (_request, response) => response.writeHead(200, { ...headers, 'Mcp-Session-Id': 'one' }).end(body),
      async (url) => {
        const response = await send(url);
        expect(response.ok).toBe(true);
        expect(response.headers.get('content-type')).toBe('application/json');
        expect(response.headers.get('Mcp-Session-Id')).toBe('one');
        expect(await response.json()).toEqual(ANSWER);
      },
    );
  });

  it('may come in pieces', async () => {
    const bytes = Buffer.from(event(ANSWER));
    await against(
      async (_request, response) => {
        response.writeHead(200, EVENTS);
        for (const byte of bytes) await new Promise<unknown>((sent) => response.write(Buffer.from([byte]), sent));
        response.end();
      },
      async (url) => expect(await (await send(url)).json()).toEqual(ANSWER),
    );
  });

  it('may be compressed', async () => {
    await against(
      (_request, response) =>
        response
          .writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' })
          .end(gzipSync(JSON.stringify(ANSWER))),
      async (url) => expect(await (await send(url)).json()).toEqual(ANSWER),
    );
  });

  it.each([
    ['another message comes first', `${event(PROGRESS)}${event(ANSWER)}`],
    ['the stream begins with an event without data', `id: 1\ndata:\n\n${event(ANSWER)}`],
    ['a second message comes along', `${event(ANSWER)}${event(PROGRESS)}`],
    ['it says when to come back', `retry: 10\n${event(ANSWER)}`],
    ['it ends within an event', 'event: message\ndata: {"jsonrpc"'],
    ['it is empty', ''],
  ])('is a stream with all its bytes, if %s', async (_, body) => {
    await against(
      (_request, response) => response.writeHead(200, EVENTS).end(body),
      async (url) => {
        const response = await send(url);
        expect(response.headers.get('content-type')).toBe('text/event-stream');
        expect(response.body).not.toBeNull();
        expect(await response.text()).toBe(body);
      },
    );
  });

  it('is a stream for a listen request, whatever comes first', async () => {
    await against(
      (_request, response) => response.writeHead(200, EVENTS).end(event(ANSWER)),
      async (url) => {
        const response = await send(url, {}, { 'Mcp-Method': 'subscriptions/listen' });
        expect(await response.text()).toBe(event(ANSWER));
      },
    );
  });

  it.each([202, 307, 400, 401, 500])('has its status: %i', async (status) => {
    await against(
      (_request, response) =>
        response
          .writeHead(status, { 'WWW-Authenticate': 'Bearer', Location: '/other' })
          .end(status === 202 ? '' : 'why'),
      async (url) => {
        const response = await send(url);
        expect(response.status).toBe(status);
        expect(response.headers.get('www-authenticate')).toBe('Bearer');
        expect(response.headers.get('location')).toBe('/other');
        expect(await response.text()).toBe(status === 202 ? '' : 'why');
      },
    );
  });
});

describe('a failure', () => {
  it('is a TypeError, as with fetch, if nobody listens', async () => {
    const gone = await against(
      (_request, response) => response.end(),
      async (url) => url,
    );
    await expect(send(gone)).rejects.toThrow(TypeError);
  });

  it('is a TypeError, as with fetch, for truncated JSON', async () => {
    await against(
      (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' });
        response.write('{', () => response.destroy());
      },
      async (url) => expect(send(url)).rejects.toThrow(TypeError),
    );
  });

  it('is a TypeError, as with fetch, for truncated compressed JSON', async () => {
    await against(
      (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
        response.write(gzipSync(JSON.stringify(ANSWER)).subarray(0, 20), () => response.destroy());
      },
      async (url) => expect(send(url)).rejects.toThrow(TypeError),
    );
  });

  it('breaks the stream after its earlier events: a truncated event', async () => {
    await against(
      (_request, response) => {
        response.writeHead(200, EVENTS);
        response.write('data: {', () => response.destroy());
      },
      async (url) => {
        const reader = (await send(url)).body?.getReader();
        expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: {');
        await expect(reader?.read()).rejects.toThrow();
      },
    );
  });

  it('is the reason of the signal, before and during a request', async () => {
    const reason = new Error('enough');
    await expect(send('http://127.0.0.1:9/', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const caller = new AbortController();
    let closed: Promise<unknown> | undefined;
    await against(
      (request) => {
        closed = once(request.socket, 'close');
        caller.abort(reason);
      },
      async (url) => {
        await expect(send(url, { signal: caller.signal })).rejects.toBe(reason);
        await closed;
      },
    );
  });
});
