/** The check that runs with every test finds internals in errors, however the errors reach this process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { internalsIn } from './internals.ts';
import { forgetSent } from './sent.ts';
import { takeWrong } from './setup.ts';

const failing = (message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32_603, message, data: { requestId: 'r' } } });
const LEAK = 'connect ECONNREFUSED 127.0.0.1:5432';

describe('a bad error is detected', () => {
  let server: Server;
  let url = '';
  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume();
      const stream = request.url === '/stream';
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
      response.end(stream ? `event: message\ndata: ${failing(LEAK)}\n\n` : failing(LEAK));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => void server.close());

  const seen = (): readonly string[] => [...new Set(takeWrong().map(({ what }) => what))];

  it.each(['', 'stream'])('through fetch: /%s', async (path) => {
    await (await fetch(url + path)).text();
    expect(seen()).toEqual(['an error of the system']);
  });

  it('through node:http', async () => {
    const [response] = (await once(get(url), 'response')) as [import('node:http').IncomingMessage];
    for await (const _chunk of response);
    expect(seen()).toEqual(['an error of the system']);
  });

  it('but not an echo of a request', async () => {
    await (await fetch(url, { method: 'POST', body: JSON.stringify({ uri: LEAK }) })).text();
    expect(seen()).toEqual([]);
    await (await fetch(url + encodeURIComponent('x ECONNREFUSED'))).text();
    await (await fetch(url)).text();
    new Request(url, { method: 'POST', body: LEAK });
    new Response(failing(LEAK));
    expect(seen()).toEqual([]);
    forgetSent();
    await (await fetch(url)).text();
    expect(seen()).toEqual(['an error of the system']);
  });

  it('on the standard output of a program, in pieces, too', async () => {
    const message = failing(LEAK);
    const program = `process.stdout.write(${JSON.stringify(message.slice(0, 40))});
      setTimeout(() => process.stdout.write(${JSON.stringify(`${message.slice(40)}\n`)}), 50)`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.resume();
    await once(child, 'close');
    expect(seen()).toEqual(['an error of the system']);
  });

  it('in a response that this process makes, and in its stream', async () => {
    expect(await new Response(failing(LEAK)).text()).toContain(LEAK);
    expect(seen()).toEqual(['an error of the system']);
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(`data: ${failing(LEAK)}\n\n`));
        controller.close();
      },
    });
    expect(await new Response(stream).text()).toContain(LEAK);
    expect(seen()).toEqual(['an error of the system']);
  });

  it('in the result of a tool', () => {
    const result = { isError: true, content: [{ type: 'text', text: LEAK }] };
    new Response(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
    expect(seen()).toEqual(['an error of the system']);
  });
});

describe('internals', () => {
  it.each([
    [`cannot open ${import.meta.dirname}/x`, 'a path of this machine'],
    ['boom\n    at read (/srv/app/x.js:1:2)', 'a frame of a stack'],
    ['in node_modules/x', 'a module'],
    ['ENOENT: no such file', 'an error of the system'],
    ['syntax error in SELECT secret FROM t', 'SQL'],
    [`Bearer ${'x'.repeat(20)} is not accepted`, 'a token'],
    ["Cannot read properties of undefined (reading 'x')", 'a thrown value of the language'],
    ['red \u001b[31m', 'control characters'],
  ])('include %j', (message, what) => {
    expect(internalsIn({ code: 1, message })).toContain(what);
  });

  it.each([
    'Resource not found',
    'The operation took longer than 30000 ms',
    'There is no tool named "x"; tools/list has them',
    'Internal error; the server log has the cause under this request id',
  ])('do not include %s', (message) => {
    expect(internalsIn({ code: 1, message, data: { uri: 'file:///a.md' } })).toBeUndefined();
  });

  it('are not what the client has sent, even in part; tokens are, and so is text beyond what was sent', () => {
    const path = `${import.meta.dirname}/x`;
    const wasSent = (fragment: string): boolean => `file://${path}?ENOENT`.includes(fragment);
    expect(internalsIn({ message: `${path}: ENOENT` }, [], wasSent)).toBeUndefined();
    expect(internalsIn({ message: `${path}/y` }, [], wasSent)).toContain('a path');
    expect(internalsIn({ message: `${path}: EACCES` }, [], wasSent)).toContain('an error of the system');
    expect(internalsIn({ message: `Bearer ${'x'.repeat(20)}` }, [], () => true)).toContain('a token');
  });

  it('do not include what the client sent itself', () => {
    const uri = `file://${import.meta.dirname}/x`;
    expect(internalsIn({ message: `no ${uri}`, data: { uri } }, [uri])).toBeUndefined();
  });
});
