/** Feeds of every format: entries are children, pages of the feed's origin are served, and no feed leads elsewhere. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { until } from '../../e2e/waiting.ts';
import { ctx, get, serveWeb } from './looking.ts';
import { content, type Site } from './site.ts';

const rss = ({ origin }: Site): string => `<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>News</title>
<item><title>Own &amp; near</title><link>${origin}/own</link><guid>1</guid>
  <pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate><description>&lt;p&gt;A page of ours&lt;/p&gt;</description></item>
<item><title>Far away</title><link>https://elsewhere.example/story</link><guid>far 1</guid>
  <pubDate>Tue, 03 Nov 2026 10:00:00 GMT</pubDate>
  <content:encoded><![CDATA[<p>All of <b>it</b></p>]]></content:encoded></item>
<item><title>Inside</title><link>http://169.254.169.254/latest/</link><guid>inside</guid></item>
<item><title>Script</title><link>javascript:alert(1)</link><guid>script</guid></item>
<item><description>nothing to call it by</description></item>
</channel></rss>`;

const atom = ({ origin }: Site): string => `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>
<entry><title>Own &amp; near</title><id>1</id><link rel="self" href="/self"/><link href="/own"/><updated>2026-11-02T10:00:00Z</updated>
  <summary>A page of ours</summary></entry>
<entry><title>Far away</title><id>far 1</id><link href="https://elsewhere.example/story"/><updated>2026-11-03T10:00:00Z</updated>
  <content type="html">&lt;p&gt;All of &lt;b&gt;it&lt;/b&gt;&lt;/p&gt;</content></entry>
<entry><title>Inside</title><id>inside</id><link href="http://169.254.169.254/latest/"/></entry>
<entry><title>Script</title><id>script</id><link href="javascript:alert(1)"/></entry>
<link rel="self" href="${origin}/feed"/></feed>`;

const rdf = ({ origin }: Site): string => `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><title>News</title></channel>
<item rdf:about="1"><title>Own &amp; near</title><link>${origin}/own</link><dc:date>2026-11-02T10:00:00Z</dc:date>
  <description>A page of ours</description></item></rdf:RDF>`;

const json = (): string =>
  JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: 'News',
    items: [
      { id: '1', url: '/own', title: 'Own & near', summary: 'A page of ours', date_published: '2026-11-02T10:00:00Z' },
      {
        id: 'far 1',
        url: 'https://elsewhere.example/story',
        title: 'Far away',
        content_html: '<p>All of <b>it</b></p>',
        date_published: '2026-11-03T10:00:00Z',
      },
      { id: 'inside', url: 'http://169.254.169.254/latest/', title: 'Inside' },
      { id: 'script', url: 'javascript:alert(1)', title: 'Script' },
    ],
  });

const FORMATS: readonly (readonly [string, (site: Site) => string, string])[] = [
  ['RSS', rss, 'application/rss+xml'],
  ['Atom', atom, 'application/atom+xml'],
  ['RDF', rdf, 'application/xml'],
  ['JSON Feed', json, 'application/feed+json'],
];

describe.each(FORMATS)('a feed in %s', (format, write, type) => {
  const open = async () => {
    const web = await serveWeb(({ origin }) => ({
      http: [{ url: `${origin}/feed`, ...(type === 'application/xml' && { feed: true }) }],
    }));
    web.site.on('/feed', content(write(web.site), { 'content-type': type, etag: '"1"' }));
    web.site.on('/own', content('<h1>Ours</h1>', { 'content-type': 'text/html; charset=utf-8' }));
    return web;
  };

  it('has its entries as children, the latest first [2093-4, RES-5]', async () => {
    await using web = await open();
    const { origin } = web.site;
    const { resources: roots } = await web.provider.list(undefined, { limit: 10 }, ctx);
    expect(roots).toMatchObject([
      { uri: `${origin}/feed`, mimeType: 'inode/directory', capabilities: { list: true, subscribe: true } },
    ]);
    const { resources } = await web.provider.list(`${origin}/feed`, { limit: 10 }, ctx);
    const own = resources.find(({ uri }) => uri === `${origin}/own`);
    expect(own).toEqual({
      uri: `${origin}/own`,
      name: 'Own & near',
      title: 'Own & near',
      description: 'A page of ours',
      annotations: { lastModified: '2026-11-02T10:00:00.000Z' },
      capabilities: { list: false, subscribe: true },
    });
    if (format === 'RDF') return;
    expect(resources.map(({ uri }) => uri.slice(origin.length))).toEqual([
      '/feed#entry-far%201',
      '/own',
      '/feed#entry-inside',
      '/feed#entry-script',
    ]);
  });

  it('leads to pages of its own origin, and has the texts of other entries', async () => {
    await using web = await open();
    const { origin } = web.site;
    const page = await get(web.provider, `${origin}/own`);
    expect(page).toMatchObject({ text: '<h1>Ours</h1>', resource: { mimeType: 'text/html', name: 'Own & near' } });
    const feed = await get(web.provider, `${origin}/feed`);
    expect(feed.text).toBe(write(web.site));
    expect(feed.resource.mimeType).toBe(type);
    if (format === 'RDF') return;
    const far = await get(web.provider, `${origin}/feed#entry-far%201`);
    expect(far.resource).toMatchObject({ mimeType: 'text/html', title: 'Far away' });
    expect(far.text).toContain('<a href="https://elsewhere.example/story">');
    expect(far.text).toContain('<p>All of <b>it</b></p>');
    expect((await get(web.provider, `${origin}/feed#entry-script`)).text).not.toContain('javascript:');
    expect(web.site.asked.map(({ path }) => path).filter((path) => !['/feed', '/own'].includes(path))).toEqual([]);
    await expect(get(web.provider, `${origin}/other`)).rejects.toMatchObject({ code: 'not-found' });
    await expect(get(web.provider, 'https://elsewhere.example/story')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('is requested again only with a condition', async () => {
    await using web = await open();
    for (let round = 0; round < 3; round++) await web.provider.list(`${web.site.origin}/feed`, { limit: 1 }, ctx);
    const asked = web.site.asked.filter(({ method }) => method === 'GET').map(({ status }) => status());
    expect(asked).toEqual([200, 304, 304]);
  });
});

const LAUGHS = `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "${'a'.repeat(1_000)}">${Array.from(
  { length: 9 },
  (_, level) => `<!ENTITY ${String.fromCharCode(98 + level)} "${`&${String.fromCharCode(97 + level)};`.repeat(10)}">`,
).join(
  '',
)}]><rss version="2.0"><channel><title>&j;</title><item><title>&j;</title><guid>1</guid></item></channel></rss>`;

it('an entry is unavailable, and not missing, if the server of a possible feed breaks off', async () => {
  let isBroken = true;
  await using web = await serveWeb(({ origin }) => ({ http: `${origin}/feed` }));
  const { origin } = web.site;
  web.site.on('/feed', (request, response) => {
    if (isBroken) request.socket.destroy();
    else content(rss(web.site), { 'content-type': 'application/rss+xml' })(request, response);
  });
  web.site.on('/own', content('ours', { 'content-type': 'text/plain' }));
  const uri = `${origin}/own`;
  const unavailable = { code: 'unavailable' };
  await expect(get(web.provider, uri)).rejects.toMatchObject(unavailable);
  await expect(web.provider.watch?.(uri, () => {}, ctx)).rejects.toMatchObject(unavailable);
  isBroken = false;
  expect((await get(web.provider, uri)).text).toBe('ours');
});

it.each([
  [404, 'not-found'],
  [405, 'not-found'],
  [429, 'limited'],
  [500, 'unavailable'],
  [503, 'unavailable'],
])('an entry of a possible feed that answers with %i is %s', async (status, code) => {
  await using web = await serveWeb(({ origin }) => ({ http: `${origin}/feed` }));
  web.site.on('/feed', (_request, response) => void response.writeHead(status).end());
  await expect(get(web.provider, `${web.site.origin}/own`)).rejects.toMatchObject({ code });
});

it('a feed stays one while its server fails', async () => {
  await using web = await serveWeb(({ origin }) => ({ http: `${origin}/feed`, ttlSeconds: 0 }));
  const uri = `${web.site.origin}/feed`;
  web.site.on('/feed', content(rss(web.site), { 'content-type': 'application/rss+xml' }));
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  expect(await web.provider.metadata(uri, ctx)).toMatchObject({ capabilities: { list: true } });
  web.site.on('/feed', (_request, response) => void response.writeHead(503).end());
  vi.setSystemTime(Date.now() + 6_000);
  await expect(web.provider.list(uri, { limit: 1 }, ctx)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(
    web.provider.read(uri, { maxBytes: 10, maxChildren: 1, range: { offset: 0 } }, ctx),
  ).rejects.toMatchObject({ code: 'invalid' });
  await expect(get(web.provider, `${web.site.origin}/own`)).rejects.toMatchObject({ code: 'unavailable' });
  web.site.on('/feed', content(rss(web.site), { 'content-type': 'application/rss+xml' }));
  vi.setSystemTime(Date.now() + 6_000);
  expect((await web.provider.list(uri, { limit: 9 }, ctx)).resources.length).toBeGreaterThan(0);
});

it('a feed whose server breaks off at the first look is watched for the default list once it answers', async () => {
  let isBroken = true;
  let channel = '<rss version="2.0"><channel><title>News</title></channel></rss>';
  await using web = await serveWeb(({ origin }) => ({ http: `${origin}/feed`, pollSeconds: 0.02 }));
  web.site.on('/feed', (request, response) => {
    if (isBroken) request.socket.destroy();
    else content(channel, { 'content-type': 'application/rss+xml' })(request, response);
  });
  let told = 0;
  await using _watch = await web.provider.watch?.(undefined, () => void told++, ctx);
  expect(new Set(web.site.asked.map(({ method }) => method))).toEqual(new Set(['HEAD']));
  isBroken = false;
  await until(() => web.site.asked.some(({ method }) => method === 'GET'), 'a look at the feed');
  channel = rss(web.site);
  await until(() => told > 0, 'a change of the list');
});

describe('a document', () => {
  it.each([
    ['a page', '<!doctype html><title>x</title>'],
    ['empty', ''],
    ['other JSON', '{"a":1}'],
    ['broken', '<rss version="2.0"><channel><item>'],
    ['a bomb of entities', LAUGHS],
    ['deep', `<rss version="2.0"><channel>${'<a>'.repeat(100_000)}`],
  ])('that is %s is no feed, or a feed with next to nothing', async (_what, text) => {
    await using web = await serveWeb(
      ({ origin }) => ({ http: [{ url: `${origin}/feed`, feed: true }] }),
      content(text),
    );
    const outcome = await web.provider
      .list(`${web.site.origin}/feed`, { limit: 10 }, ctx)
      .catch((thrown: unknown) => thrown);
    if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'ResourceError', code: 'unavailable' });
    else expect(JSON.stringify(outcome).length).toBeLessThan(5_000);
  });

  it('with an entity for a file of this machine shows nothing of the file', async () => {
    const text = `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<rss version="2.0"><channel><item><title>&x;</title><guid>1</guid></item></channel></rss>`;
    await using web = await serveWeb(
      ({ origin }) => ({ http: [{ url: `${origin}/feed`, feed: true }] }),
      content(text),
    );
    const outcome = await web.provider
      .list(`${web.site.origin}/feed`, { limit: 10 }, ctx)
      .catch((thrown: unknown) => String(thrown));
    expect(JSON.stringify(outcome)).not.toContain('root:');
  });

  it('that is too large is refused', async () => {
    await using web = await serveWeb(
      ({ origin }) => ({ http: [{ url: `${origin}/feed`, feed: true }] }),
      content(' '.repeat(3_000_000)),
    );
    await expect(web.provider.list(`${web.site.origin}/feed`, { limit: 1 }, ctx)).rejects.toMatchObject({
      code: 'too-large',
    });
  });
});

describe('the encoding of a feed [RFC 7303 3]', () => {
  const atomIn = (encoding: string | undefined): string =>
    `<?xml version="1.0"${encoding === undefined ? '' : ` encoding="${encoding}"`}?>` +
    '<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>Größe</title><id>1</id><link href="/a"/></entry></feed>';
  const swapped = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
  const UTF8_MARK = '\ufeff';

  it.each<[string, string, Buffer]>([
    ['the default', '', Buffer.from(atomIn(undefined))],
    ['the declaration', '', Buffer.from(atomIn('iso-8859-1'), 'latin1')],
    ['the header', '; charset=iso-8859-1', Buffer.from(atomIn(undefined), 'latin1')],
    ['the header against the declaration', '; charset=iso-8859-1', Buffer.from(atomIn('utf-8'), 'latin1')],
    ['the header with UTF-8 against the declaration', '; charset="UTF-8"', Buffer.from(atomIn('iso-8859-1'))],
    ['the mark against the header', '; charset=iso-8859-1', Buffer.from(UTF8_MARK + atomIn(undefined))],
    ['the mark against the declaration', '', Buffer.from(UTF8_MARK + atomIn('iso-8859-1'))],
    ['the mark of UTF-16, alone', '', Buffer.from(UTF8_MARK + atomIn(undefined), 'utf16le')],
    ['the mark of UTF-16 in the other order', '; charset=utf-16', swapped(UTF8_MARK + atomIn('UTF-16'))],
    ['the mark of UTF-16 against the header', '; charset=utf-8', swapped(UTF8_MARK + atomIn('UTF-16'))],
    ['the declaration if the header is wrong', '; charset=utf-8', Buffer.from(atomIn('iso-8859-1'), 'latin1')],
    ['the declaration if nobody knows the header', '; charset=x-own', Buffer.from(atomIn('iso-8859-1'), 'latin1')],
    ['the default if nobody knows the declaration', '', Buffer.from(atomIn('x-own'))],
  ])('is that of %s', async (_, charset, bytes) => {
    await using web = await serveWeb(
      ({ origin }) => ({ http: [{ url: `${origin}/feed`, feed: true }] }),
      content(bytes, { 'content-type': `application/atom+xml${charset}` }),
    );
    const { resources } = await web.provider.list(`${web.site.origin}/feed`, { limit: 10 }, ctx);
    expect(resources.map(({ title }) => title)).toEqual(['Größe']);
  });

  it('is looked at again when the server sends the same bytes with another charset', async () => {
    await using web = await serveWeb(({ origin }) => ({
      http: [{ url: `${origin}/feed`, feed: true }],
      ttlSeconds: 0,
    }));
    for (const [charset, title] of [
      ['windows-1252', 'Größe'],
      ['windows-1251', 'GrцЯe'],
    ]) {
      const headers = { 'content-type': `application/atom+xml; charset=${charset}` };
      web.site.on('/feed', content(Buffer.from(atomIn(undefined), 'latin1'), headers));
      const { resources } = await web.provider.list(`${web.site.origin}/feed`, { limit: 10 }, ctx);
      expect(resources.map((each) => each.title)).toEqual([title]);
    }
  });
});
