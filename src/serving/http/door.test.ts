/** The door over real HTTP: the key, the cookie, pages of other origins, and other users of the machine. */
import { execFile } from 'node:child_process';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { accountOf } from '../../../test/services/programs.ts';
import { createDoor, type Door } from './door.ts';

let door: Door;
let server: Server;
let origin: string;

beforeEach(async () => {
  door = createDoor();
  server = createServer((request, response) => {
    const { status = 200, headers, body } = door.answer(request) ?? {};
    response.writeHead(status, headers).end(body ?? 'inside');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(origin + path, { redirect: 'manual', headers, method });

/** Sends the request with a client that adds no headers. */
const statusOf = (headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(origin, { headers }, (answer) => resolve(answer.resume().statusCode))
      .once('error', reject)
      .end();
  });

/** Exchanges the key for the cookie. */
async function enter(): Promise<string> {
  const answer = await get(door.entry);
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toBe('/');
  const [cookie = '', ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ');
  expect(attributes).toEqual(['Path=/', 'HttpOnly', 'SameSite=Strict']);
  return cookie;
}

it('lets in the person with the key, once', async () => {
  expect((await get('/')).status).toBe(401);
  expect((await get(`${door.entry}x`)).status).toBe(401);
  expect((await get(door.entry, {}, 'HEAD')).status).toBe(401);
  const cookie = await enter();
  expect(await (await get('/mcp', { cookie: `a=b; ${cookie}` }, 'POST')).text()).toBe('inside');
  expect((await get('/', { cookie: `${cookie}x` })).status).toBe(401);
  expect((await get('/', { cookie: cookie.replace('vitrine-', 'vitrine-0') })).status).toBe(401);
  const again = await get(door.entry);
  expect(again.status).toBe(401);
  expect(await again.text()).toContain('works once');
  expect((await get(door.entry, { cookie })).headers.get('location')).toBe('/');
});

it('answers a browser that comes from another site with a page that leads on, in place of a redirect', async () => {
  const answer = await get(door.entry, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('set-cookie')).toContain('SameSite=Strict');
  expect(await answer.text()).toContain('content="0;url=/"');
});

it('refuses requests of pages of other origins, even of another port, unless they only lead here', async () => {
  const cookie = await enter();
  for (const [headers, status] of [
    [{ origin: 'http://127.0.0.1:1' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }, 403],
    [{ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' }, 200],
    [{ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', origin }, 200],
    [{ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }, 200],
  ] as const)
    expect(await statusOf({ ...headers, cookie })).toBe(status);
});

it('refuses the key from another user of the machine, who may have seen it', async () => {
  const other = accountOf(['nobody']);
  const script = `fetch(process.argv[1], { redirect: 'manual' }).then(({ status }) => console.log(status))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script, origin + door.entry], {
    ...other,
    cwd: '/',
    env: {},
  });
  expect(stdout.trim()).toBe(other === undefined ? '303' : '401');
  if (other !== undefined) await enter();
});
