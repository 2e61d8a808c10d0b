/** Servers that follow SEP-2093, or are older, behind the gateway: every clause, for a client of each era. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Connected, ERAS, MATRIX, TRANSPORTS } from '../../e2e/harness.ts';
import { collectNotices, subscribe } from '../../e2e/notices.ts';
import { answer, connectToStranger, type StrangerWay } from './link.ts';

type Data = Readonly<Record<string, unknown>>;

interface Listed {
  readonly resources: readonly Data[];
  readonly nextCursor?: string;
}

const PAIRS = MATRIX.flatMap((client) =>
  TRANSPORTS.flatMap((transport) => ERAS.map((era) => ({ client, way: { transport, era } satisfies StrangerWay }))),
);

const MISSING = { legacy: -32_002, modern: -32_602 } as const;

const NOTE = { list: false, subscribe: true, seek: true, 'vendor.example/depth': { of: [2, null] } };
const CONTAINER = { list: true, subscribe: false };

const REPORT = {
  uri: 'stranger+shelf:///report',
  name: 'report',
  title: 'Quarterly report',
  description: 'In two formats',
  annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-02T03:04:05Z' },
  icons: [{ src: 'https://stranger.example/report.png', sizes: ['48x48'] }],
  capabilities: { list: false, subscribe: false },
  'x-vendor': ['kept'],
};

describe.each(PAIRS)(
  'for a client over $client.transport, $client.era, with a server over $way.transport, $way.era',
  ({ client, way }) => {
    /** Connects to a gateway with one such server, for the tests of a block. */
    function behind(name: string): () => Connected {
      let on: Connected | undefined;
      beforeAll(async () => {
        on = await connectToStranger(client, name, way);
        await on.reachable;
      });
      afterAll(async () => on?.close());
      return () => on ?? expect.fail('there is no client');
    }

    const using = (connected: () => Connected) => {
      const metadata = async (uri: string): Promise<Data> =>
        (await connected().request<{ resource: Data }>('resources/metadata', { uri })).resource;
      const read = async (uri: string): Promise<readonly Data[]> =>
        (await connected().request<{ contents: readonly Data[] }>('resources/read', { uri })).contents;
      const list = (params: Record<string, unknown> = {}): Promise<Listed> =>
        connected().request<Listed>('resources/list', params);
      /** How often metadata and contents were requested from the server. */
      async function counts(): Promise<readonly [number, number]> {
        const { content } = await connected().request<{ content: readonly [{ text: string }] }>('tools/call', {
          name: 'stranger_counts',
          arguments: {},
        });
        return JSON.parse(content[0].text);
      }
      const refusal = async (method: string, uri: string): Promise<Data> => {
        const { error } = (await answer(connected(), method, uri)) as { readonly error?: Data };
        return error ?? expect.fail(`${method} of ${uri} is answered`);
      };
      return { metadata, read, list, counts, refusal };
    };

    describe('that follows only the SEP [2093-15],', () => {
      const connected = behind('sep');
      const { metadata, read, list, counts, refusal } = using(connected);

      it('metadata comes from the server’s method, and causes no read [2093-2]', async () => {
        const [asked, reads] = await counts();
        expect(await metadata('stranger+shelf:///report')).toEqual({ ...REPORT, mimeType: 'text/markdown', size: 8 });
        // It is in no list that was requested.
        expect(await metadata('stranger+shelf:///note/3')).toEqual({
          ...{ uri: 'stranger+shelf:///note/3', name: 'Note 3', mimeType: 'text/plain', size: 6, capabilities: NOTE },
        });
        expect(await counts()).toEqual([asked + 2, reads]);
        expect(await refusal('resources/metadata', 'stranger+shelf:///none')).toMatchObject({
          code: MISSING[client.era],
        });
      });

      it('flags are passed on, unknown ones too, and unknown fields [2093-3, 2093-14, 2093-11]', async () => {
        const { resources } = await list();
        expect(resources.map(({ capabilities }) => capabilities)).toEqual([CONTAINER, REPORT.capabilities]);
        expect(resources[0]).toMatchObject({ 'x-vendor': { kept: true } });
        expect((await metadata('stranger+shelf:///note/1')).capabilities).toEqual(NOTE);
      });

      it('the type in a list is that of the first format, or that of a container [2093-8]', async () => {
        const { resources } = await list();
        expect(resources.map(({ mimeType }) => mimeType)).toEqual(['inode/directory', 'text/markdown']);
        expect((await read('stranger+shelf:///report')).map(({ mimeType }) => mimeType)).toEqual([
          'text/markdown',
          'text/html',
        ]);
        expect(await metadata('stranger+shelf:///')).toMatchObject({ mimeType: 'inode/directory' });
      });

      it('a container is listed in the pages of the server, and a list of any other resource is refused [2093-4]', async () => {
        const uri = 'stranger+shelf:///';
        const pages: (readonly unknown[])[] = [];
        for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
          const page: Listed = await list({ uri, ...(cursor !== undefined && { cursor }) });
          pages.push(page.resources.map(({ name }) => name));
          cursor = page.nextCursor;
        }
        expect(pages).toEqual([
          ['A mirror of the shelf', 'report', 'Note 1'],
          ['Note 2', 'Note 3', 'Note 4'],
          ['Note 5'],
        ]);
        const childless = await refusal('resources/list', 'stranger+shelf:///report');
        const missing = await refusal('resources/list', 'stranger+shelf:///none');
        expect(childless).toMatchObject({ code: -32_602, data: { reason: 'not-listable' } });
        expect(missing).toMatchObject({ code: MISSING[client.era], data: { uri: 'stranger+shelf:///none' } });
        expect(missing.message).not.toBe(childless.message);
      });

      it('contents have the fields that the server sent, and those known from its metadata [2093-1, 2093-3]', async () => {
        const uri = 'stranger+shelf:///note/2';
        await metadata(uri);
        expect(await read(uri)).toEqual([{ uri, name: 'Note 2', capabilities: NOTE, text: 'text 2' }]);
        // A name is always there, and no flag is invented.
        const other = 'stranger+shelf:///note/5';
        const [item] = await read(other);
        expect(item).toMatchObject({ uri: other, name: expect.stringMatching(/^(?:Note )?5$/), text: 'text 5' });
        expect([undefined, NOTE]).toContainEqual(item?.capabilities);
      });

      it('the read of a container gives children, each whole; an empty container has none [2093-5]', async () => {
        const note = { mimeType: 'text/plain', size: 6, capabilities: NOTE };
        expect(await read('stranger+shelf:///')).toEqual([
          { uri: 'stranger+shelf:///note/1', name: 'Note 1', ...note, text: 'text 1' },
          { uri: 'stranger+shelf:///note/2', name: 'Note 2', ...note, text: 'text 2' },
        ]);
        expect(await read('stranger+shelf:///loop')).toEqual([]);
      });

      it('the read of any other resource gives its formats, under its URI [2093-6]', async () => {
        expect(await read('stranger+shelf:///report')).toEqual([
          { ...REPORT, mimeType: 'text/markdown', size: 8, text: '# Report' },
          { ...REPORT, mimeType: 'text/html', size: 15, text: '<h1>Report</h1>' },
        ]);
      });

      it('embedded resources have names, flags, and the annotations of their blocks [2093-1, 2093-9]', async () => {
        const uri = 'stranger+shelf:///note/2';
        await metadata(uri);
        const annotations = { audience: ['user'], priority: 0.5 };
        const block = {
          type: 'resource',
          resource: { uri, name: 'Note 2', capabilities: NOTE, annotations, text: 'text 2' },
        };
        const called = await connected().request('tools/call', { name: 'stranger_show', arguments: {} });
        expect(called.content).toEqual([block]);
        const got = await connected().request('prompts/get', { name: 'stranger_show' });
        expect(got.messages).toEqual([{ role: 'user', content: block }]);
        // If the block and its resource both have annotations, those of the resource stay.
        const twice = await connected().request('tools/call', { name: 'stranger_double', arguments: {} });
        const [double] = twice.content as readonly [{ readonly resource: Data }];
        expect(double).not.toHaveProperty('annotations');
        expect(double.resource.annotations).toMatchObject({ priority: 1 });
      });

      it('changes of a resource with the subscribe flag are reported, and other subscriptions are refused [2093-3]', async () => {
        const on = connected();
        const notices = await collectNotices(on);
        const uri = 'stranger+shelf:///note/1';
        const subscribed = await subscribe(on, [uri]);
        await on.request('tools/call', { name: 'stranger_touch', arguments: { uri } });
        await notices.told(uri);
        await subscribed.end();
        if (client.era === 'legacy') {
          expect(await refusal('resources/subscribe', 'stranger+shelf:///report')).toMatchObject({ code: -32_602 });
        } else {
          const listening = await on.client.listen({ resourceSubscriptions: ['stranger+shelf:///report'] });
          expect(listening.honoredFilter.resourceSubscriptions ?? []).toEqual([]);
          await listening.close();
        }
      });
    });

    describe('that is older than the SEP,', () => {
      const connected = behind('older');
      const { metadata, read, list, counts, refusal } = using(connected);

      it('metadata comes from the list, and the server is asked for the method once [2093-11]', async () => {
        const one = {
          ...{ uri: 'stranger+old:/one', name: 'The one', title: 'Listed with a title' },
          capabilities: { list: false, subscribe: false },
        };
        const [, reads] = await counts();
        expect(await metadata('stranger+old:/one')).toEqual(one);
        expect(await metadata('stranger+old:/one')).toEqual(one);
        // Metadata of a listed entry causes no read.
        expect((await counts())[1]).toBe(reads);
        expect(await metadata('stranger+old:/in/no/list')).toMatchObject({ name: 'list' });
        expect(await refusal('resources/metadata', 'stranger+old:/none')).toMatchObject({ code: MISSING[client.era] });
        expect((await counts())[0]).toBe(1);
        expect(await read('stranger+old:/one')).toEqual([
          { uri: 'stranger+old:/one', name: 'The one', capabilities: { list: false, subscribe: false }, text: 'one' },
        ]);
      });

      it('a flag that the server cannot keep is false, and the others are passed on [2093-3, 2093-14]', async () => {
        expect(connected().client.getServerCapabilities()?.resources).not.toHaveProperty('subscribe');
        const capabilities = { list: false, subscribe: false, seek: 'yes' };
        expect((await list()).resources[2]).toMatchObject({ name: 'boast', capabilities });
        expect(await metadata('stranger+old:/boast')).toMatchObject({ capabilities });
      });

      it('several URIs in one read stay, and make a container with children [2093-7, 2093-13]', async () => {
        const uri = 'stranger+old:/day';
        const alone = { list: false, subscribe: false };
        expect((await metadata(uri)).capabilities).toEqual(alone);
        expect(await refusal('resources/list', uri)).toMatchObject({ data: { reason: 'not-listable' } });
        const [first, ...others] = await read(uri);
        expect(first).toMatchObject({ uri: `${uri}/9h`, name: 'Breakfast', text: 'tea', 'x-vendor': 1 });
        expect(others).toMatchObject([
          { uri: `${uri}/12h`, name: '12h', text: 'soup' },
          { uri: `${uri}/12h`, name: '12h', mimeType: 'text/html', text: '<i>soup</i>' },
          { uri: `${uri}/20h`, name: '20h', blob: 'YnJlYWQ=' },
        ]);
        const listable = { ...alone, list: true };
        expect(await metadata(uri)).toMatchObject({
          name: 'day',
          mimeType: 'application/json',
          capabilities: listable,
        });
        expect((await list()).resources[0]).toMatchObject({ uri, capabilities: listable });
        expect((await list({ uri })).resources).toEqual([
          { uri: `${uri}/9h`, name: 'Breakfast', mimeType: 'text/plain', capabilities: alone, 'x-vendor': 1 },
          { uri: `${uri}/12h`, name: '12h', capabilities: alone },
          { uri: `${uri}/20h`, name: '20h', capabilities: alone },
        ]);
      });
    });
  },
);
