/** All declared capabilities work, and no others are declared. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { failure } from './answers.ts';
import { temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, MATRIX, MUSEUM } from './harness.ts';

interface Listed {
  readonly resources: readonly { readonly uri: string; readonly capabilities: object }[];
}

const NOTES = { resources: { 'a.md': '# A', 'deep/b.md': '# B' } };

/** A web page that is served during a test. */
async function page(): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((_request, response) => response.end('{"a":1}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/data.json`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

describe.each(MATRIX)('declared capabilities over $transport, $era', ({ transport, era }) => {
  async function configured(mounts: object, use: (on: Connected) => Promise<void>): Promise<void> {
    await using folder = await temporaryFolder({ 'docs/a.md': 'a' });
    await using on = await connect(transport, era, ['--config', await writeConfig(folder, { mounts })]);
    await use(on);
  }

  it('have no logging if nothing logs [SEC-CAP-3]', async () => {
    await using on = await connect(transport, era, [MUSEUM]);
    expect(on.client.getServerCapabilities()?.tools).toBeDefined();
    expect(on.client.getServerCapabilities()?.logging).toBeUndefined();
    if (era === 'legacy')
      expect(await failure(on.request('logging/setLevel', { level: 'info' }))).toMatchObject({ code: -32_601 });
  });

  it('have no subscriptions if there are only literals, which cannot change [2093-3, SEC-CAP-1]', () =>
    configured({ notes: NOTES }, async (on) => {
      expect(on.client.getServerCapabilities()?.resources).toEqual({ listChanged: true });
      const { resources } = await on.request<Listed & Record<string, unknown>>('resources/list');
      expect(resources.map(({ uri }) => uri)).toContain('notes+memory:///deep/b.md');
      for (const { capabilities } of resources) expect(capabilities).toMatchObject({ subscribe: false });
    }));

  it('have subscriptions if there is a folder beside them', () =>
    configured({ notes: NOTES, docs: './docs' }, async (on) => {
      expect(on.client.getServerCapabilities()?.resources).toMatchObject({ subscribe: true, listChanged: true });
    }));

  it('of a web root say that it can be listed, and it can [2093-4]', async () => {
    await using web = await page();
    await configured({ web: { http: web.url, allowPrivate: ['127.0.0.0/8'] } }, async (on) => {
      const uri = 'web+http:///';
      const { resource } = await on.request<{ resource: object }>('resources/metadata', { uri });
      expect(resource).toMatchObject({ uri, capabilities: { list: true, subscribe: false } });
      const { resources } = await on.request<Listed & Record<string, unknown>>('resources/list', { uri });
      expect(resources.map((each) => each.uri)).toEqual([`web+${web.url}`]);
      expect((await failure(on.request('resources/read', { uri }))).message).toContain('list it');
    });
  });
});
