/** The same servers on the official SDK, v1 and v2, mounted over stdio. The SDK writes the messages, and the gateway keeps their fields. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResourceClient } from '../../../src/client/index.ts';
import { type Folder, temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { type Connected, connect, DIAGONAL, type Era } from '../../e2e/harness.ts';
import { answer } from './link.ts';

const OFFICIAL = fileURLToPath(new URL('./official.mjs', import.meta.url));

/** The v1 SDK has only the 2025 era. */
const SDKS = [
  { sdk: 'v1', era: '2025' },
  { sdk: 'v2', era: '2025' },
  { sdk: 'v2', era: '2026' },
] as const;

const PAIRS = SDKS.flatMap((server) => DIAGONAL.map((client) => ({ client, server })));

const MISSING: Readonly<Record<Era, number>> = { legacy: -32_002, modern: -32_602 };

const NOTE = { list: false, subscribe: false, seek: true, 'vendor.example/depth': { of: [2, null] } };
const ICONS = [{ src: 'https://stranger.example/report.png', sizes: ['48x48'] }];
const REPORT = {
  uri: 'sep+shelf:///report',
  title: 'Quarterly report',
  mimeType: 'text/markdown',
  size: 8,
  icons: ICONS,
  capabilities: { list: false, subscribe: false },
  'x-vendor': ['kept'],
};

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe.each(PAIRS)(
  'for a client over $client.transport, $client.era, with a server of SDK $server.sdk in $server.era,',
  ({ client, server: { sdk, era } }) => {
    let folder: Folder;
    let on: Connected;
    beforeAll(async () => {
      folder = await temporaryFolder();
      const names = ['sep', 'older', 'icons'];
      const mounts = Object.fromEntries(
        names.map((name) => [name, { command: process.execPath, args: [OFFICIAL, sdk, name], era }]),
      );
      const config = await writeConfig(folder, { tools: 'off', icons: 'off', mounts });
      on = await connect(client.transport, client.era, ['--config', config]);
    });
    afterAll(async () => {
      await on?.close();
      await folder?.[Symbol.asyncDispose]();
    });

    const ask = (method: string, uri: string) => on.request(method, { uri: uri.replace('/', '+shelf:///') });

    it('the era of the mount is used, and the server keeps its own identity [973-1, 973-3]', async () => {
      const { contents } = await on.request<{ contents: readonly [{ text: string }] }>('resources/read', {
        uri: 'vitrine+state:///upstreams',
      });
      const state = JSON.parse(contents[0].text);
      expect(state.icons).toMatchObject({
        era: era === '2026' ? '2026-07-28' : era,
        websiteUrl: 'https://stranger.example/about',
        icons: [{ sizes: ['48x48', '96x96'], theme: 'dark' }, { sizes: ['any'] }],
      });
    });

    it('resources are described, with correct flags and unknown fields [2093-2, 2093-3, 2093-8, 2093-11]', async () => {
      expect(await ask('resources/metadata', 'sep/report')).toMatchObject({ resource: REPORT });
      // The server declares no subscriptions.
      expect(await ask('resources/metadata', 'sep/note/3')).toMatchObject({ resource: { capabilities: NOTE } });
      const one = {
        uri: 'older+old:/one',
        title: 'Listed with a title',
        capabilities: { list: false, subscribe: false },
      };
      expect(await on.request('resources/metadata', { uri: one.uri })).toMatchObject({ resource: one });
    });

    it('containers are listed and read, and a list of any other resource is refused [2093-1, 2093-4, 2093-5, 2093-6]', async () => {
      expect(await ask('resources/read', 'sep/')).toMatchObject({
        contents: [1, 2].map((number) => ({ name: `Note ${number}`, capabilities: NOTE, text: `text ${number}` })),
      });
      expect(await ask('resources/list', 'sep/')).toMatchObject({
        resources: [{ name: 'A mirror of the shelf' }, { name: 'report' }, { name: 'Note 1' }],
      });
      expect(await ask('resources/read', 'sep/report')).toMatchObject({
        contents: [
          { ...REPORT, text: '# Report' },
          { ...REPORT, mimeType: 'text/html', size: 15, text: '<h1>Report</h1>' },
        ],
      });
      expect(await answer(on, 'resources/list', 'sep+shelf:///report')).toMatchObject({
        error: { code: -32_602, data: { reason: 'not-listable' } },
      });
      for (const method of ['read', 'metadata', 'list']) {
        expect(await answer(on, `resources/${method}`, 'sep+shelf:///none'), method).toMatchObject({
          error: { code: MISSING[client.era], data: { uri: 'sep+shelf:///none' } },
        });
      }
    });

    it('several URIs in one read make a container, and annotations move to the resource [2093-7, 2093-9, 2093-13]', async () => {
      const uri = 'older+old:/day';
      const { contents } = await on.request<{ contents: readonly { uri: string }[] }>('resources/read', { uri });
      expect(contents.map((item) => item.uri)).toEqual(['9h', '12h', '12h', '20h'].map((hour) => `${uri}/${hour}`));
      expect(await on.request('resources/list', { uri })).toMatchObject({ resources: [{}, {}, {}] });
      const { content } = await on.request<{ content: readonly object[] }>('tools/call', {
        name: 'sep_show',
        arguments: {},
      });
      expect(content).toMatchObject([{ resource: { annotations: { audience: ['user'], priority: 0.5 } } }]);
      expect(content[0]).not.toHaveProperty('annotations');
    });

    it('a cyclic tree is walked once, and flat lists stay flat [2093-10, 2093-12]', async () => {
      await using resources = createResourceClient(on.client);
      const walk = resources.walk('sep+shelf:///');
      const found = await all(walk);
      expect(found).toHaveLength(7);
      expect(walk.report).toMatchObject({ stopped: { visited: 2 }, complete: true });
      await expect(all(resources.list('older+old:/one'))).rejects.toMatchObject({ code: 'not-listable' });
    });

    it('icons have their sizes as an array everywhere [973-2, 973-3]', async () => {
      for (const list of ['tools/list', 'prompts/list', 'resources/templates/list', 'resources/list']) {
        const listed = JSON.stringify(await on.request(list));
        expect(listed, list).toContain('"sizes":["48x48","96x96"]');
        expect(listed, list).not.toMatch(/"sizes":"/);
      }
    });
  },
);
