/** Servers of both SDKs that were taught SEP-2093: with raw requests, the client helpers, and behind the gateway. */

import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  listChildren,
  RESOURCE_HIERARCHY_EXTENSION,
  RESOURCE_HIERARCHY_SCHEMAS,
  resourceMetadata,
  serveResourceHierarchy,
} from 'vitrine/sep-2093';
import { checkHierarchyLaw, RESOURCE_HIERARCHY_LAWS } from 'vitrine/sep-2093/testing';
import { failure } from '../e2e/answers.ts';
import { temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Connected, connect, connectHttp, ERAS } from '../e2e/harness.ts';
import { startStranger } from '../gateway/strangers/link.ts';
import { fixtureOf, listen, MAIN, reach, WAYS } from './reaching.ts';
import { shelf } from './shelf.mjs';

describe.each(WAYS)('a server of SDK $sdk over $transport, $era', (way) => {
  let on: Connected;
  beforeAll(async () => {
    on = await reach(way);
  });
  afterAll(async () => on.close());

  it.each(RESOURCE_HIERARCHY_LAWS)('$name', (law) => checkHierarchyLaw(law, () => fixtureOf(on)));

  it('declares the extension, and answers with names, flags and precise errors [2093-3, 2093-4]', async () => {
    expect(on.client.getServerCapabilities()).toMatchObject({
      resources: {},
      extensions: { [RESOURCE_HIERARCHY_EXTENSION]: {} },
    });
    const { resource } = await on.request('resources/metadata', { uri: 'shelf:///drawer/1' });
    expect(resource).toEqual({
      ...{ uri: 'shelf:///drawer/1', name: '1', mimeType: 'text/plain', size: 6 },
      capabilities: { list: false, subscribe: false },
    });
    RESOURCE_HIERARCHY_SCHEMAS.ReadResourceMetadataResult.parse({ resource });
    RESOURCE_HIERARCHY_SCHEMAS.ListResourcesResult.parse(await on.request('resources/list'));
    RESOURCE_HIERARCHY_SCHEMAS.ReadResourceResult.parse(await on.request('resources/read', { uri: 'shelf:///report' }));
    const refusals = [
      ['resources/list', 'shelf:///none', 'not-found'],
      ['resources/list', 'shelf:///report', 'not-listable'],
      ['resources/metadata', 'shelf:///none', 'not-found'],
      ['resources/read', 'shelf:///none', 'not-found'],
    ] as const;
    for (const [method, uri, reason] of refusals) {
      expect(await failure(on.request(method, { uri }))).toMatchObject({ code: -32_602, data: { uri, reason } });
    }
    expect(await failure(on.request('resources/list', { cursor: 'none' }))).toMatchObject({ code: -32_602 });
    for (const params of [{}, { uri: 7 }, { uri: '' }]) await failure(on.request('resources/metadata', params));
  });

  it('is used by the client helpers with its own methods [2093-4, 2093-11]', async () => {
    const children = listChildren(on.client, 'shelf:///drawer');
    const uris: string[] = [];
    for (let next = await children.next(); ; next = await children.next()) {
      if (next.done === true) {
        expect(next.value).toMatchObject({ via: 'scoped-list', stopped: 'end', pages: 2 });
        break;
      }
      uris.push(next.value.uri);
    }
    expect(uris).toEqual([1, 2, 3, 4].map((number) => `shelf:///drawer/${number}`));
    expect(await resourceMetadata(on.client, 'shelf:///report')).toMatchObject({
      source: 'metadata',
      resource: { title: 'Report', size: 8 },
    });
    await expect(listChildren(on.client, 'shelf:///report').next()).rejects.toMatchObject({ code: 'not-listable' });
  });

  it('keeps all of it behind the gateway [2093-15]', async () => {
    await using folder = await temporaryFolder({});
    await using server = way.transport === 'http' ? await listen(way) : undefined;
    const mount = server === undefined ? { command: process.execPath, args: [MAIN, way.sdk] } : { url: server.url };
    const config = await writeConfig(folder, { tools: 'off', icons: 'off', mounts: { taught: mount } });
    await using gateway = await connect('http', 'modern', ['--config', config]);
    for (const law of RESOURCE_HIERARCHY_LAWS) await checkHierarchyLaw(law, () => fixtureOf(gateway, 'taught+'));
    // The extension has no windows: Vitrine cuts them itself.
    const uri = 'taught+shelf:///drawer/1';
    const _meta = { 'vitrine/range': { offset: 5, length: 1 } };
    expect(await gateway.request('resources/read', { uri, _meta })).toMatchObject({ contents: [{ uri, text: '1' }] });
  });
});

describe.each(ERAS)('an older server, %s', (era) => {
  it('is used by the client helpers with the methods that it has [2093-11]', async () => {
    await using server = await startStranger('older', { transport: 'http', era });
    await using on = await connectHttp(era, { url: String(server.mount.url), output: () => '' });
    expect(await resourceMetadata(on.client, 'old:/one')).toMatchObject({
      source: 'list',
      resource: { uri: 'old:/one', title: 'Listed with a title' },
    });
    await expect(listChildren(on.client, 'old:/one').next()).rejects.toMatchObject({ code: 'not-listable' });
  });
});

describe.each([
  ['v1', () => new McpServerV1({ name: 'rooms', version: '1.0.0' })],
  ['v2', () => new McpServer({ name: 'rooms', version: '1.0.0' })],
] as const)('an McpServer of SDK %s', (_sdk, make) => {
  it('is taught through its server, and cannot be taught after it was connected', async () => {
    const mcp = make();
    serveResourceHierarchy(mcp, shelf);
    const transport = { start: async () => {}, send: async () => {}, close: async () => {} };
    await mcp.connect(transport as never);
    expect(() => serveResourceHierarchy(mcp, shelf)).toThrow(/after connecting/);
    await mcp.close();
  });
});
