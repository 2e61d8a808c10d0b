/** Signing in to the explorer at a real authorization server: what each person sees, and what is refused. */
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { filesProvider } from '../../src/providers/files/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { type Listening, listening } from '../gateway/authorization/servers.ts';
import { freePort } from '../services/programs.ts';
import { browserOf, CLIENT_ID, plainly, startPeople } from './people.ts';

let folder: Folder;
let people: Listening;
let others: Listening;
let vitrine: Vitrine;
let serving: HttpServing;
let origin: string;

beforeAll(async () => {
  folder = await temporaryFolder({ 'all/a.md': 'for all', 'press/b.md': 'for the press' });
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  people = await startPeople(`${origin}/mcp`);
  others = await startPeople(`${origin}/mcp`);
  vitrine = createVitrine({
    mounts: [{ name: 'docs', prefix: 'none', provider: await filesProvider({ path: folder.path }) }],
    access: {
      rules: [
        { effect: 'hide', uris: ['file:///press', 'file:///press/**'], who: { subjects: ['bo'] } },
        { effect: 'allow', who: 'authenticated' },
      ],
    },
  });
  serving = await serveHttp(vitrine, {
    port,
    auth: { resource: `${origin}/mcp`, issuers: [{ issuer: people.origin }] },
    explorer: { signIn: { clientId: CLIENT_ID } },
  });
});

afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
  for (const each of [people, others, folder]) await each?.[Symbol.asyncDispose]();
});

const INITIALIZE = {
  method: 'POST',
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }),
};
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

describe('signing in', () => {
  it('leads through the issuer back to the requested page, and each person sees another tree', async () => {
    const ada = browserOf('ada');
    const page = await ada.open(`${origin}/view/file/press/b.md?from=4`);
    expect(page).toMatchObject({ status: 200, url: new URL(`${origin}/view/file/press/b.md?from=4`) });
    expect(page.text).toContain('the press');
    expect(page.text).toContain('<bdi class="soft">ada</bdi>');
    const asked = page.way.find(({ pathname }) => pathname === '/auth')?.searchParams;
    expect(asked?.get('code_challenge_method')).toBe('S256');
    expect(asked?.get('resource')).toBe(`${origin}/mcp`);
    expect(asked?.get('nonce')).toMatch(/./);
    const bo = browserOf('bo');
    const home = await bo.open(`${origin}/view/file/`);
    expect(home.text).toContain('/view/file/all');
    expect(home.text).not.toContain('press');
    expect((await bo.open(`${origin}/view/file/press/b.md`)).status).toBe(404);
    expect((await ada.open(`${origin}/view/file/`)).text).toContain('/view/file/press');
  });

  it('lets pages of this server use the endpoint, and no other page', async () => {
    const ada = browserOf('ada');
    await ada.open(`${origin}/`);
    const ask = async (headers: Record<string, string>): Promise<number> =>
      (
        await plainly(`${origin}/mcp`, {
          ...INITIALIZE,
          headers: { ...JSON_HEADERS, cookie: ada.cookiesOf(origin), ...headers },
        })
      ).status;
    expect(await ask({ origin })).toBe(200);
    expect(await ask({})).toBe(401);
    expect(await ask({ origin: 'http://127.0.0.1:1' })).toBe(401);
    expect(await ask({ origin, 'sec-fetch-site': 'same-site' })).toBe(401);
  });

  it('is ended only by a form of a page of this server', async () => {
    const ada = browserOf('ada');
    await ada.open(`${origin}/`);
    const cookies = ada.cookiesOf(origin);
    for (const headers of [{}, { origin: 'http://127.0.0.1:1' }, { origin: 'null', 'sec-fetch-site': 'cross-site' }])
      expect((await ada.send(`${origin}/explorer/sign-out`, headers)).status).toBe(403);
    expect((await ada.open(`${origin}/explorer/sign-out`)).status).toBe(403);
    const out = await ada.send(`${origin}/explorer/sign-out`, { origin });
    expect(out.text).toContain('Signed out');
    const old = await plainly(origin, { headers: { accept: 'text/html', cookie: cookies } });
    expect(old.status).not.toBe(200);
  });

  it('is not offered to programs', async () => {
    for (const headers of [{ accept: '*/*' }, { accept: 'text/html', authorization: 'Bearer x' }])
      expect((await plainly(origin, { headers })).status).toBe(401);
    expect((await plainly(origin, { method: 'HEAD', headers: { accept: 'text/html' } })).status).toBe(401);
  });
});

describe('a sign-in', () => {
  it('is refused with another state, issuer or code, after a denial, in another browser, and a second time', async () => {
    const changes: readonly ((url: URL) => URL)[] = [
      (url) => changed(url, 'state', 'another'),
      (url) => changed(url, 'iss', others.origin),
      (url) => changed(url, 'code', 'another'),
      (url) =>
        new URL(
          `${url.origin}${url.pathname}?error=access_denied&state=${url.searchParams.get('state')}&iss=${people.origin}`,
        ),
    ];
    for (const change of changes) {
      const ada = browserOf('ada');
      const page = await ada.open(`${origin}/`, change);
      expect(page.status).toBe(403);
      expect(page.text).toContain('Not signed in');
      expect(ada.cookiesOf(origin)).not.toContain('vitrine-session');
    }
    let answered: URL | undefined;
    const ada = browserOf('ada');
    await ada.open(`${origin}/`, (url) => (answered = url));
    expect((await browserOf('eve').open(answered ?? '')).status).toBe(403);
    expect((await ada.open(answered ?? '')).status).toBe(403);
  });

  it('never leads to another server', async () => {
    const ada = browserOf('ada');
    for (const to of [
      '//evil.example/',
      'https://evil.example/',
      '/\\evil.example',
      '/.//evil.example',
      '/mcp',
      '/explorer/sign-out@evil.example',
    ]) {
      const page = await ada.open(`${origin}/explorer/sign-in?to=${encodeURIComponent(to)}`);
      expect(page.url.origin).toBe(origin);
    }
    const page = await ada.open(`${origin}/explorer/sign-in?to=${encodeURIComponent('/view/file/all')}`);
    expect(page.url.href).toBe(`${origin}/view/file/all`);
  });
});

it('a session ends when its token expires, and another sign-in begins the next one', async () => {
  const ada = browserOf('ada');
  await ada.open(`${origin}/`);
  const cookie = ada.cookiesOf(origin);
  const look = () => plainly(`${origin}/`, { headers: { accept: 'text/html', cookie } });
  const call = () => plainly(`${origin}/mcp`, { ...INITIALIZE, headers: { ...JSON_HEADERS, origin, cookie } });
  expect((await look()).status).toBe(200);
  expect((await call()).status).toBe(200);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_620_000 });
  try {
    const ended = await look();
    expect(ended.status).toBe(303);
    expect(new URL(ended.location ?? '')).toMatchObject({ origin: people.origin, pathname: '/auth' });
    expect((await call()).status).toBe(401);
    const page = await ada.open(`${origin}/view/file/all`);
    expect(page).toMatchObject({ status: 200, url: new URL(`${origin}/view/file/all`) });
    expect(page.way.map(({ href }) => href)).toContainEqual(expect.stringContaining(`${people.origin}/auth?`));
    expect(page.text).toContain('<bdi class="soft">ada</bdi>');
    // The new session needs no further sign-in, and does not revive the old one.
    expect((await ada.open(`${origin}/`)).way).toHaveLength(1);
    expect((await look()).status).toBe(303);
  } finally {
    vi.useRealTimers();
  }
});

describe('an issuer that is not trusted', () => {
  it('cannot be the one of the sign-in', async () => {
    const auth = { resource: `${origin}/mcp`, issuers: [{ issuer: people.origin }] };
    for (const issuer of [others.origin, `${people.origin}/`]) {
      const started = serveHttp(vitrine, { port: 0, auth, explorer: { signIn: { clientId: CLIENT_ID, issuer } } });
      await expect(started).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringContaining('auth.issuers'),
      });
    }
  });

  it('cannot answer in place of the one at which the sign-in began', async () => {
    const ada = browserOf('ada');
    let answer = new URL(origin);
    const leaves = (url: URL): URL => {
      answer = url;
      return new URL('/explorer/signed-out', url);
    };
    const left = await ada.open(`${origin}/`, leaves);
    const begun = left.way.find((url) => url.origin === people.origin && url.pathname === '/auth');
    await browserOf('ada').open(new URL(`/auth${begun?.search}`, others.origin), leaves);
    expect(answer.searchParams.get('iss')).toBe(others.origin);
    expect(answer.searchParams.get('code')).toMatch(/./);
    for (const url of [answer, changed(answer, 'iss', people.origin), without(answer, 'iss')]) {
      const page = await ada.open(url);
      expect(page.status).toBe(403);
      expect(page.text).toContain('Not signed in');
      expect(ada.cookiesOf(origin)).not.toContain('vitrine-session');
    }
  });

  it.each([
    { trusted: false, status: 403, shown: 'does not accept the token' },
    { trusted: true, status: 200, shown: '<bdi class="soft">ada</bdi>' },
  ])(
    'gives a token for a sign-in only if it is trusted, also if a trusted one passes it on (trusted: $trusted)',
    async (each) => {
      const port = await freePort();
      const at = `http://127.0.0.1:${port}`;
      await using issuer = await startPeople(`${at}/mcp`);
      await using passing = await startPassing(issuer.origin);
      const server = await serveHttp(vitrine, {
        port,
        auth: {
          resource: `${at}/mcp`,
          issuers: [{ issuer: passing.origin }, ...(each.trusted ? [{ issuer: issuer.origin }] : [])],
        },
        explorer: { signIn: { clientId: CLIENT_ID, issuer: passing.origin, scopes: [] } },
      });
      try {
        const page = await browserOf('ada').open(`${at}/`, (url) => without(url, 'iss'));
        expect(page.status).toBe(each.status);
        expect(page.text).toContain(each.shown);
      } finally {
        await server.close();
      }
    },
  );
});

it('refuses a sign-in whose token is for another audience than the configured one', async () => {
  const port = await freePort();
  const at = `http://127.0.0.1:${port}`;
  await using issuer = await startPeople(`${at}/mcp`);
  const auth = { resource: `${at}/mcp`, issuers: [{ issuer: issuer.origin, audience: 'https://another.example' }] };
  const server = await serveHttp(vitrine, { port, auth, explorer: { signIn: { clientId: CLIENT_ID } } });
  try {
    const page = await browserOf('ada').open(`${at}/`);
    expect(page.status).toBe(403);
    expect(page.text).toContain('does not accept the token');
  } finally {
    await server.close();
  }
});

function changed(url: URL, name: string, value: string): URL {
  const other = new URL(url);
  other.searchParams.set(name, value);
  return other;
}

function without(url: URL, name: string): URL {
  const other = new URL(url);
  other.searchParams.delete(name);
  return other;
}

/** An issuer that sends people to another one, and passes on its tokens as its own. */
const startPassing = (issuer: string): Promise<Listening> =>
  listening((own) => async (request, response) => {
    const url = new URL(request.url ?? '', issuer);
    if (url.pathname === '/auth')
      return response.writeHead(303, { location: changed(url, 'scope', 'openid').href }).end();
    response.setHeader('content-type', 'application/json');
    if (url.pathname !== '/token')
      return response.end(
        JSON.stringify({ issuer: own, authorization_endpoint: `${own}/auth`, token_endpoint: `${own}/token` }),
      );
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await plainly(url, { method: 'POST', headers, body: await text(request) });
    // An ID token would name the other issuer.
    return response.end(JSON.stringify({ ...JSON.parse(answer.text), id_token: undefined }));
  });
