/** A client learns the identity and the capabilities of the server when it connects, and all declared capabilities work. */
import { isJSONRPCResultResponse } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure } from './answers.ts';
import { temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, DIAGONAL, MATRIX, MUSEUM, MUSEUM_CONFIG } from './harness.ts';

const COMPLETION = {
  ref: { type: 'ref/resource', uri: 'museum+file:///{+path}' },
  argument: { name: 'path', value: '' },
};

describe.each(MATRIX)('introduction over $transport, $era', ({ transport, era }) => {
  let museum: Connected;
  beforeAll(async () => {
    museum = await connect(transport, era, ['--config', MUSEUM_CONFIG]);
  });
  afterAll(() => museum.close());

  it('has the identity: name, title, description, website and version [973-1]', () => {
    expect(museum.client.getServerVersion()).toMatchObject({
      name: 'museum',
      title: 'The Vitrine Museum of Small Machines',
      description: 'An exhibition of real and varied files, served as MCP resources.',
      websiteUrl: 'https://vitrine.invalid/museum',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
  });

  it('has icons with their sizes as an array, although the configuration has one string [973-1, 973-3]', () => {
    expect(museum.client.getServerVersion()?.icons).toEqual([
      { src: expect.stringMatching(/^data:image\/svg\+xml;base64,/), mimeType: 'image/svg+xml', sizes: ['any'] },
    ]);
  });

  it('has instructions', () => {
    expect(museum.client.getInstructions()).toContain('museum+file:///README.md');
  });

  it('declares resources with the supported features, and the extensions by name [SEC-CAP-1]', () => {
    expect(museum.client.getServerCapabilities()).toMatchObject({
      resources: { subscribe: true, listChanged: true },
      completions: {},
      extensions: {
        'vitrine/resource-metadata': {},
        'sep-2093/resource-hierarchy': {},
        'vitrine/resource-directories': {},
      },
    });
  });

  it.each([
    ['resources', 'resources/list', {}],
    ['resources', 'resources/templates/list', {}],
    ['resources', 'resources/read', { uri: 'museum+file:///README.md' }],
    ['resources', 'resources/metadata', { uri: 'museum+file:///' }],
    ['resources', 'resources/directory/read', { uri: 'museum+file:///' }],
    ['completions', 'completion/complete', COMPLETION],
    ['tools', 'tools/list', {}],
    ['prompts', 'prompts/list', {}],
  ] as const)('declares %s exactly when it answers %s [SEC-CAP-1]', async (capability, method, params) => {
    const declared = Object.keys(museum.client.getServerCapabilities() ?? {}).includes(capability);
    // The client refuses to send requests for undeclared capabilities, so this is sent raw.
    const answer = sendAnyway(museum, method, params);
    if (declared) await expect(answer).resolves.toBeTypeOf('object');
    else expect((await failure(answer)).code).toBe(-32601);
  });

  if (era === 'legacy') {
    it('is followed by an answer to ping', async () => {
      await expect(museum.client.ping()).resolves.toEqual({});
    });

    it('agrees on the newest revision of its era', () => {
      expect(museum.client.getNegotiatedProtocolVersion()).toBe('2025-11-25');
    });

    it('has no field of the newer era [2093-11]', async () => {
      await museum.request('resources/list');
      expect(lastResult(museum)).not.toHaveProperty('resultType');
      expect(lastResult(museum)).not.toHaveProperty('_meta');
    });
  } else {
    it('is the same in server/discover, however often that is sent [973-1, 973-3]', async () => {
      await museum.client.discover();
      expect(lastResult(museum)).toMatchObject({
        supportedVersions: ['2026-07-28'],
        capabilities: museum.client.getServerCapabilities(),
        instructions: museum.client.getInstructions(),
        resultType: 'complete',
        _meta: { 'io.modelcontextprotocol/serverInfo': museum.client.getServerVersion() },
      });
    });

    it('is repeated in results with name and version only, without the icons', async () => {
      await museum.request('resources/list');
      expect(lastResult(museum)).toMatchObject({
        resultType: 'complete',
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'museum', version: expect.any(String) } },
      });
      expect(JSON.stringify(lastResult(museum)._meta)).not.toContain('icons');
    });
  }
});

describe.each(DIAGONAL)('introduction of other servers over $transport, $era', ({ transport, era }) => {
  it('has the name vitrine, or that of --name, and nothing else', async () => {
    await using plain = await connect(transport, era, [MUSEUM]);
    await using named = await connect(transport, era, [MUSEUM, '--name', 'team docs']);
    expect(plain.client.getServerVersion()).toEqual({ name: 'vitrine', version: expect.any(String) });
    expect(named.client.getServerVersion()).toEqual({ name: 'team docs', version: expect.any(String) });
    expect(plain.client.getInstructions()).toBeUndefined();
  });

  it('accepts sizes as an array, too, and several icons with themes [973-1, 973-3]', async () => {
    const icons = [
      { src: 'https://icons.example/light.png', mimeType: 'image/png', sizes: ['48x48', '96x96'], theme: 'light' },
      { src: 'https://icons.example/dark.png', sizes: '48x48 96x96', theme: 'dark' },
      { src: 'https://icons.example/plain.svg' },
    ];
    await using folder = await temporaryFolder({ 'data/a.txt': 'a' });
    const config = await writeConfig(folder, { server: { icons }, mounts: { data: './data' } });
    await using server = await connect(transport, era, ['--config', config]);
    expect(server.client.getServerVersion()?.icons).toEqual([
      icons[0],
      { src: 'https://icons.example/dark.png', sizes: ['48x48', '96x96'], theme: 'dark' },
      { src: 'https://icons.example/plain.svg' },
    ]);
  });

  it('declares no subscriptions, in any place, if nothing can be watched [SEC-CAP-1, 2093-3]', async () => {
    await using folder = await temporaryFolder({ 'data/a.txt': 'a' });
    const config = await writeConfig(folder, { mounts: { data: { path: './data', watch: false } } });
    await using server = await connect(transport, era, ['--config', config]);
    expect(server.client.getServerCapabilities()?.resources).toEqual({ listChanged: true });
    const { resource } = await server.request<{ resource: object }>('resources/metadata', {
      uri: 'data+file:///a.txt',
    });
    expect(resource).toMatchObject({ capabilities: { list: false, subscribe: false } });
    if (era === 'legacy') {
      const { code } = await failure(sendAnyway(server, 'resources/subscribe', { uri: 'data+file:///a.txt' }));
      expect(code).toBe(-32601);
    } else {
      const listening = await server.client.listen({
        resourcesListChanged: true,
        resourceSubscriptions: ['data+file:///a.txt'],
      });
      expect(listening.honoredFilter.resourcesListChanged).toBe(true);
      expect(listening.honoredFilter.resourceSubscriptions ?? []).toEqual([]);
      await listening.close();
    }
  });
});

/** The latest raw result, with the fields that the SDK removes. */
function lastResult(on: Connected): Record<string, unknown> {
  const results = on.received.filter(isJSONRPCResultResponse);
  return results.at(-1)?.result ?? {};
}

/** Sends requests that the client would refuse to send. */
function sendAnyway(on: Connected, method: string, params: Record<string, unknown> = {}): Promise<unknown> {
  Object.assign(on.client, { assertCapabilityForMethod: () => {} });
  return on.request(method, params);
}
