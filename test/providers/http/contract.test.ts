/** Web resources under the provider contract: named one by one, and as the changing entries of a feed. */
import { createHash } from 'node:crypto';
import { encodeSegment } from '../../../src/core/uri.ts';
import { httpProvider } from '../../../src/providers/http/index.ts';
import { providerContract } from '../../../src/testing/provider-contract.ts';
import { type Answer, content, startSite } from './site.ts';

const etagOf = (bytes: Uint8Array): string => `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`;
const pathOf = (name: string): string => `/pages/${encodeSegment(name)}`;
const MODIFIED = 'Sun, 01 Nov 2026 10:00:00 GMT';

const flat = (seed: ReadonlyMap<string, Uint8Array>): Map<string, Uint8Array> =>
  new Map([...seed].map(([path, bytes]) => [path.slice(path.lastIndexOf('/') + 1), bytes]));

providerContract('web, named', async (seed) => {
  const leaves = flat(new Map([...seed].filter(([path]) => /^(?:odd|sizes)\/[^/]+$/.test(path))));
  const site = await startSite();
  for (const [name, bytes] of leaves) {
    const said = { etag: etagOf(bytes), 'last-modified': MODIFIED, 'content-type': 'text/plain' };
    site.on(pathOf(name), content(bytes, said));
  }
  const uriOf = (name: string): string => site.origin + pathOf(name);
  const provider = await httpProvider({
    http: [
      ...[...leaves.keys()].map((name) => ({ url: uriOf(name), name })),
      {
        urlTemplate: `${site.origin}/items/{id}`,
        variables: { id: { values: ['one', 'two', 'a b/c'.replace('/', '-')] } },
      },
    ],
  });
  const close = async (): Promise<void> => {
    await provider.close?.();
    await site.close();
  };
  for (const id of ['one', 'two', 'a%20b-c']) site.on(`/items/${id}`, content(id));
  return { provider, leaves, roots: [...leaves.keys()], uriOf, close };
});

providerContract('web, in feeds', async (seed) => {
  const leaves = new Map(
    [...seed]
      .filter(([path]) => /^(?:many|sizes|odd\/(?=[%#日w]))\/?[^/]+$/.test(path))
      .map(([path, bytes]) => [`feed/${path.slice(path.indexOf('/') + 1)}`, bytes]),
  );
  const live = new Map(leaves);
  const nameOf = (path: string): string => path.slice('feed/'.length);
  const answer: Answer = (request, response) => {
    if (request.url === '/feed.json') {
      const items = [...live.keys()].map((path) => ({
        id: path,
        url: pathOf(nameOf(path)),
        title: nameOf(path),
        date_published: '2026-11-01T10:00:00Z',
      }));
      const feed = Buffer.from(JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', title: 'All', items }));
      content(feed, { etag: etagOf(feed), 'content-type': 'application/feed+json' })(request, response);
      return;
    }
    const found = [...live].find(([path]) => pathOf(nameOf(path)) === request.url);
    if (found === undefined) response.writeHead(404).end();
    else content(found[1], { etag: etagOf(found[1]) })(request, response);
  };
  const site = await startSite(answer);
  const provider = await httpProvider({ http: [{ url: `${site.origin}/feed.json` }], pollSeconds: 0.02 });
  return {
    provider,
    leaves,
    roots: ['feed'],
    uriOf: (path) => site.origin + (path === 'feed' ? '/feed.json' : pathOf(nameOf(path))),
    mutate: {
      create: (path, text) => void live.set(path, Buffer.from(text)),
      replace: (path, text) => void live.set(path, Buffer.from(text)),
      remove: (path) => void live.delete(path),
    },
    patienceMs: 20_000,
    close: async () => {
      await provider.close?.();
      await site.close();
    },
  };
});
