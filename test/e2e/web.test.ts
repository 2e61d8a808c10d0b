/** Web resources over the wire: a typed URL, and a configuration with feeds, templates and an API. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { content, JSON_TYPE, startSite } from '../providers/http/site.ts';
import { missing } from './answers.ts';
import { connect, connectHttp, DIAGONAL, MUSEUM, startHttp } from './harness.ts';

interface Listed {
  readonly resources: readonly { readonly uri: string; readonly size?: number }[];
}
interface Read {
  readonly contents: readonly { readonly uri: string; readonly text?: string; readonly mimeType?: string }[];
}

describe.each(DIAGONAL)('over $transport in the $era era', ({ transport, era }) => {
  it('a URL of the web on the command line is a resource under its own URI [RES-1, RES-5]', async () => {
    await using site = await startSite();
    site.on('/data.json', content('{"a":1}', { ...JSON_TYPE, etag: '"1"' }));
    const url = `${site.origin}/data.json`;
    await using connection = await connect(transport, era, [url]);
    const { resources } = await connection.request<Listed>('resources/list');
    expect(resources).toMatchObject([
      { uri: url, name: 'data.json', mimeType: 'application/json', size: 7, capabilities: { list: false } },
    ]);
    const { contents } = await connection.request<Read>('resources/read', { uri: url });
    expect(contents).toMatchObject([{ uri: url, text: '{"a":1}', mimeType: 'application/json' }]);
    const outside = `${site.origin}/other.json`;
    const read = connection.request('resources/read', { uri: outside });
    await expect(read).rejects.toMatchObject(missing(era, outside));
  });

  it('a configuration names pages, feeds, templates and APIs [RES-3, RES-5]', async () => {
    await using site = await startSite();
    const items = [{ id: '1', url: '/story', title: 'A story', date_published: '2026-11-01T10:00:00Z' }];
    const feed = { version: 'https://jsonfeed.org/version/1.1', title: 'News', items };
    site.on('/feed', content(JSON.stringify(feed), { 'content-type': 'application/feed+json' }));
    site.on('/story', content('<h1>Once</h1>', { 'content-type': 'text/html' }));
    site.on('/items/blue', content('{"colour":"blue"}', JSON_TYPE));
    site.on('/api', content(JSON.stringify({ openapi: '3.1.0', paths: { '/rooms': { get: {} } } }), JSON_TYPE));
    site.on('/rooms', content('[1]', JSON_TYPE));
    const folder = await mkdtemp(join(tmpdir(), 'vitrine-web-'));
    try {
      const http = {
        news: { url: `${site.origin}/feed`, feed: true },
        items: {
          urlTemplate: `${site.origin}/items/{colour}`,
          variables: { colour: { values: ['blue', 'brown', 'red'] } },
        },
        museum: { openapi: `${site.origin}/api` },
      };
      const config = { mounts: { web: { http, headers: { 'X-Key': '$' + '{HTTP_TEST_KEY:-standin}' } } } };
      await writeFile(join(folder, 'vitrine.json'), JSON.stringify(config));
      await using connection = await connect(transport, era, [join(folder, 'vitrine.json')]);
      const { resources } = await connection.request<Listed>('resources/list');
      expect(resources.map(({ uri }) => uri.replace(site.origin, ''))).toEqual([
        'web+/feed',
        'web+/rooms',
        'web+/story',
      ]);
      const read = async (path: string) => {
        const { contents } = await connection.request<Read>('resources/read', { uri: `web+${site.origin}${path}` });
        return contents[0]?.text;
      };
      expect(await read('/story')).toBe('<h1>Once</h1>');
      expect(await read('/items/blue')).toBe('{"colour":"blue"}');
      expect(await read('/rooms')).toBe('[1]');
      const uri = `web+${site.origin}/items/{colour}`;
      const completed = await connection.request<{ readonly completion: object }>('completion/complete', {
        ref: { type: 'ref/resource', uri },
        argument: { name: 'colour', value: 'b' },
      });
      expect(completed.completion).toMatchObject({ values: ['blue', 'brown'] });
      await expect(read('/items/..%2frooms')).rejects.toMatchObject({ code: -32602 });
      expect(new Set(site.asked.map(({ headers }) => headers['x-key']))).toEqual(new Set(['standin']));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

it('changes are reported to subscribers [RES-4]', async () => {
  await using site = await startSite();
  site.on('/a.txt', content('one', { 'content-type': 'text/plain', etag: '"1"' }));
  const folder = await mkdtemp(join(tmpdir(), 'vitrine-web-'));
  try {
    const uri = `web+${site.origin}/a.txt`;
    const config = { mounts: { web: { http: `${site.origin}/a.txt`, pollSeconds: 0.05 } } };
    await writeFile(join(folder, 'vitrine.json'), JSON.stringify(config));
    await using connection = await connect('stdio', 'legacy', [join(folder, 'vitrine.json')]);
    const told = new Promise<unknown>((resolve) => {
      connection.onMessage((message) => {
        if ('method' in message && message.method === 'notifications/resources/updated') resolve(message.params);
      });
    });
    await connection.request('resources/subscribe', { uri });
    site.on('/a.txt', content('two', { 'content-type': 'text/plain', etag: '"2"' }));
    expect(await told).toMatchObject({ uri });
    const { contents } = await connection.request<Read>('resources/read', { uri });
    expect(contents[0]?.text).toBe('two');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('a URL of an MCP server on the command line is still that server', async () => {
  await using upstream = await startHttp([MUSEUM]);
  await using gateway = await startHttp([upstream.url]);
  await using connection = await connectHttp('modern', gateway);
  const { resources } = await connection.request<Listed>('resources/list');
  expect(resources.some(({ uri }) => uri.startsWith('file:///'))).toBe(true);
});
