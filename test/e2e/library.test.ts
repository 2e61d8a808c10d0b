/** The engine as a library: a custom provider, with URIs of any scheme, and the official client. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  createEndpoint,
  createVitrine,
  type Mount,
  notFound,
  notListable,
  type Resource,
  type ResourceProvider,
  serveHttp,
  textBytes,
} from '../../src/index.ts';
import type { ListAnswer, ReadAnswer } from './answers.ts';
import { ERAS, type Era } from './harness.ts';

/** URIs without a tree, an authority or slashes, and one with all of them. */
const URIS = ['urn:isbn:0451450523', 'memo:x', 'tag:example.org,2026:a(b)', 'x-y.z+w://user@host:80/p?q=1#f'];

/** The smallest provider: no watch, no templates, only the three required methods. */
function shelf(uris: readonly string[]): ResourceProvider {
  const describe = (uri: string): Resource => ({
    uri,
    name: `the one called ${uri}`,
    mimeType: 'text/plain',
    capabilities: { list: false, subscribe: false },
  });
  const find = (uri: string): Resource => {
    if (!uris.includes(uri)) throw notFound(uri);
    return describe(uri);
  };
  return {
    name: 'shelf',
    features: {
      schemes: [...new Set(uris.map((uri) => uri.slice(0, uri.indexOf(':'))))],
      watch: false,
      templates: false,
      completion: false,
      search: false,
      ranges: false,
    },
    async list(uri) {
      if (uri !== undefined) throw notListable(find(uri).uri);
      return { resources: uris.map(describe) };
    },
    metadata: async (uri) => find(uri),
    async read(uri) {
      const resource = find(uri);
      return [
        { resource: { ...resource, size: 5 }, content: textBytes('plain') },
        { resource: { ...resource, mimeType: 'text/html', size: 11 }, content: textBytes('<b>rich</b>') },
      ];
    },
  };
}

interface Session extends AsyncDisposable {
  request<T>(method: string, params?: Record<string, unknown>): Promise<T>;
  readonly client: Client;
}

async function connect(url: string, era: Era): Promise<Session> {
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    client,
    request: async <T>(method: string, params: Record<string, unknown> = {}) =>
      (await client.request({ method, params }, z.looseObject({}))) as T,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Serves mounts while `run` runs. */
async function serving(mounts: readonly Mount[], era: Era, run: (session: Session) => Promise<void>): Promise<void> {
  const vitrine = createVitrine({ mounts });
  const server = await serveHttp(vitrine, { port: 0 });
  try {
    await using session = await connect(server.url, era);
    await run(session);
  } finally {
    await server.close();
    await vitrine.close();
  }
}

describe.each(ERAS)('a custom provider, %s', (era) => {
  it.each(['none', 'name'] as const)(
    'is listed, described and read under URIs of any scheme, prefix: %s [RES-1]',
    async (prefix) => {
      const published = (uri: string): string => (prefix === 'none' ? uri : `shelf+${uri}`);
      await serving([{ name: 'shelf', provider: shelf(URIS), prefix }], era, async ({ request }) => {
        const { resources } = await request<ListAnswer>('resources/list');
        expect(resources.map(({ uri }) => uri)).toEqual(URIS.map(published));
        for (const { uri } of resources) {
          const { resource } = await request<{ resource: Resource }>('resources/metadata', { uri });
          expect(resource.uri).toBe(uri);
          const { contents } = await request<ReadAnswer>('resources/read', { uri });
          expect(contents.map((item) => item.uri)).toEqual([uri, uri]);
        }
      });
    },
  );

  it('may give several formats of one content, all under the requested URI [2093-6]', async () => {
    await serving([{ name: 'shelf', provider: shelf(URIS), prefix: 'none' }], era, async ({ request }) => {
      const { contents } = await request<ReadAnswer>('resources/read', { uri: 'memo:x' });
      expect(contents).toMatchObject([
        { uri: 'memo:x', name: 'the one called memo:x', mimeType: 'text/plain', size: 5, text: 'plain' },
        { uri: 'memo:x', name: 'the one called memo:x', mimeType: 'text/html', size: 11, text: '<b>rich</b>' },
      ]);
    });
  });

  it('makes the server declare only the capabilities that the provider supports [SEC-CAP-1, 2093-3]', async () => {
    await serving([{ name: 'shelf', provider: shelf(URIS), prefix: 'none' }], era, async ({ client, request }) => {
      expect(client.getServerCapabilities()?.resources).toEqual({});
      expect(client.getServerCapabilities()).not.toHaveProperty('completions');
      expect(await request('resources/templates/list')).toMatchObject({ resourceTemplates: [] });
    });
  });

  it('can be added to an existing HTTP server', async () => {
    const vitrine = createVitrine({ mounts: [{ name: 'shelf', provider: shelf(URIS) }] });
    const endpoint = createEndpoint(vitrine);
    const server = createServer(getRequestListener((request) => endpoint.fetch(request)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      await using session = await connect(`http://127.0.0.1:${port}/anywhere`, era);
      expect((await session.request<ListAnswer>('resources/list')).resources).toHaveLength(URIS.length);
    } finally {
      await endpoint.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await vitrine.close();
    }
  });
});
