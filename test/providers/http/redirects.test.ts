/** Redirects: each hop is checked, none leads to another scheme, and only the configured origin gets credentials. */
import { describe, expect, it } from 'vitest';
import { authority, signed } from '../../security/certificates.ts';
import { get, serveWeb } from './looking.ts';
import { type Answer, content, startSite } from './site.ts';

const to =
  (location: string, status = 302): Answer =>
  (_request, response) =>
    response.writeHead(status, { location }).end('moved');

const SECRETS = {
  headers: { Authorization: 'Bearer topsecret', 'X-Api-Key': 'keysecret' },
  query: { token: 'querysecret' },
};

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('with status %i leads on', async (status) => {
    await using web = await serveWeb(({ origin }) => ({ http: `${origin}/a` }));
    web.site.on('/a', to('b', status));
    web.site.on('/b', content('there'));
    const { text, resource } = await get(web.provider, `${web.site.origin}/a`);
    expect(text).toBe('there');
    expect(resource.uri).toBe(`${web.site.origin}/a`);
  });

  it.each([
    ['to another scheme', 'ftp://files.example/', 'unavailable'],
    ['to a file', 'file:///etc/passwd', 'unavailable'],
    ['to data', 'data:text/plain,hello', 'unavailable'],
    ['to https', 'https://secure.example/?q=querysecret', 'unavailable'],
    ['to a URL with a user', 'http://me:pass@127.0.0.1/', 'unavailable'],
    ['to nothing', 'http://', 'unavailable'],
    ['to an address that is not public', 'http://10.0.0.1/', 'denied'],
    ['to another port of this machine', 'http://127.0.0.1:9/', 'denied'],
    ['to the address where clouds keep credentials', 'http://169.254.169.254/latest/meta-data/', 'denied'],
    ['to this machine by another name', 'http://[::1]:9/', 'denied'],
    ['to itself', '/a', 'unavailable'],
  ])('%s is not followed', async (_what, location, code) => {
    await using web = await serveWeb(({ origin }) => ({ http: `${origin}/a`, ...SECRETS }));
    web.site.on('/a', to(location));
    const error = await get(web.provider, `${web.site.origin}/a`).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect(String((error as Error).message)).not.toMatch(/secret|169\.254|passwd|10\.0\.0\.1/);
  });

  it('is followed as often as is allowed, and not once more', async () => {
    await using web = await serveWeb(({ origin }) => ({ http: [`${origin}/0`, `${origin}/1`], maxRedirects: 3 }));
    for (let hop = 0; hop < 4; hop++) web.site.on(`/${hop}`, to(`/${hop + 1}`));
    web.site.on('/4', content('there'));
    expect((await get(web.provider, `${web.site.origin}/1`)).text).toBe('there');
    await expect(get(web.provider, `${web.site.origin}/0`)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('credentials', () => {
  const secretsIn = (asked: { readonly headers: object; readonly path: string }): string =>
    JSON.stringify([asked.headers, asked.path])
      .match(/topsecret|keysecret|querysecret/g)
      ?.join(' ') ?? '';

  it('go to the configured origin, and follow redirects within it', async () => {
    await using web = await serveWeb(({ origin }) => ({ http: `${origin}/a?x=1`, ...SECRETS }));
    web.site.on('/a', to('/b'));
    web.site.on('/b', content('there'));
    await get(web.provider, `${web.site.origin}/a?x=1`);
    expect(web.site.asked.map(secretsIn)).toEqual(Array(2).fill('topsecret keysecret querysecret'));
    expect(web.site.asked[0]?.path).toBe('/a?x=1&token=querysecret');
  });

  it('go to no other origin, and not back after a redirect through another one', async () => {
    await using elsewhere = await startSite();
    await using web = await serveWeb(({ origin }) => ({ http: `${origin}/a`, ...SECRETS, allowPrivate: true }));
    web.site.on('/a', to(`${elsewhere.origin}/b`));
    elsewhere.on('/b', to(`${web.site.origin}/c`));
    web.site.on('/c', content('there'));
    expect((await get(web.provider, `${web.site.origin}/a`)).text).toBe('there');
    expect(elsewhere.asked.map(secretsIn)).toEqual(['']);
    expect(web.site.asked.map(secretsIn)).toEqual(['topsecret keysecret querysecret', '']);
  });

  it('go only with the requests for the entry that has them', async () => {
    await using other = await startSite(content('other'));
    await using web = await serveWeb(
      ({ origin }) => ({
        http: [{ url: `${origin}/a`, ...SECRETS }, { url: `${other.origin}/b` }, { url: `${origin}/plain` }],
        head: true,
      }),
      content('own'),
    );
    for (const url of [`${web.site.origin}/a`, `${other.origin}/b`, `${web.site.origin}/plain`])
      await get(web.provider, url);
    expect(other.asked.map(secretsIn)).toEqual(['']);
    expect(web.site.asked.map(secretsIn)).toEqual(['topsecret keysecret querysecret', '']);
  });

  it('of a whole mount are refused if its resources have several origins', async () => {
    const http = ['https://a.example/', 'https://b.example/'];
    await expect(serveWeb(() => ({ http, ...SECRETS }))).rejects.toMatchObject({ code: 'invalid' });
  });

  it('are in no error message', async () => {
    await using web = await serveWeb(({ origin }) => ({ http: `${origin}/a`, ...SECRETS }));
    for (const status of [400, 401, 403, 404, 410, 429, 500, 502, 503]) {
      web.site.on('/a', (_request, response) => response.writeHead(status, { 'x-echo': 'topsecret' }).end('topsecret'));
      const error = (await get(web.provider, `${web.site.origin}/a`).catch((thrown: unknown) => thrown)) as Error;
      expect(error.name).toBe('ResourceError');
      expect(JSON.stringify([error, error.message, String(error.cause)])).not.toMatch(/secret/);
    }
  });
});

describe('over TLS', () => {
  it('a certificate is accepted when its authority is known, and never otherwise', async () => {
    const by = await authority();
    const tls = await signed(by);
    await using known = await serveWeb(({ origin }) => ({ http: `${origin}/a`, ca: by.cert }), content('safe'), tls);
    expect((await get(known.provider, `${known.site.origin}/a`)).text).toBe('safe');
    await using unknown = await serveWeb(({ origin }) => ({ http: `${origin}/a` }), content('safe'), tls);
    await expect(get(unknown.provider, `${unknown.site.origin}/a`)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The certificate of the web server is not accepted',
    });
    expect(unknown.site.asked).toHaveLength(0);
  });

  it('no redirect leads to http', async () => {
    const by = await authority();
    const tls = await signed(by);
    await using clear = await startSite(content('clear'));
    await using web = await serveWeb(
      ({ origin }) => ({ http: `${origin}/a`, ca: by.cert, ...SECRETS }),
      undefined,
      tls,
    );
    web.site.on('/a', to(`${clear.origin}/b`));
    await expect(get(web.provider, `${web.site.origin}/a`)).rejects.toMatchObject({ code: 'unavailable' });
    expect(clear.asked).toHaveLength(0);
  });
});
