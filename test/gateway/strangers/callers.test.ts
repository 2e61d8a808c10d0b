/** Servers that follow SEP-2093, or are older, for a caller whom rules and limits restrict. */
import { describe, expect, it } from 'vitest';
import { failure } from '../../e2e/answers.ts';
import { ERAS, MATRIX } from '../../e2e/harness.ts';
import { answer, connectToStranger, type StrangerWay } from './link.ts';

const SHELF = 'stranger+shelf:///';
const DAY = 'stranger+old:/day';

const WAYS: readonly StrangerWay[] = ERAS.map((era) => ({ transport: 'http', era }));

interface Answer {
  readonly result: {
    readonly contents: readonly { readonly uri: string }[];
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

const urisIn = (answered: object): readonly string[] =>
  (answered as Answer).result.contents.map(({ uri }) => uri.slice('stranger+'.length));

describe.concurrent.each(MATRIX)('for a client over $transport, $era', (client) => {
  describe.each(WAYS)('with a server of the $era era,', (way) => {
    it('a flag is true only if the operation is allowed, in lists, metadata and contents [2093-3]', async () => {
      const uris = (...names: string[]): readonly string[] => names.map((name) => `${SHELF}${name}`);
      const rules = [
        { effect: 'deny', operations: ['list'], uris: uris('loop') },
        { effect: 'deny', operations: ['subscribe'], uris: uris('note/1') },
      ];
      await using on = await connectToStranger(client, 'sep', way, { around: { access: { rules, default: 'allow' } } });
      await on.reachable;
      const listed = await on.request<{ resources: readonly object[] }>('resources/list', { uri: SHELF });
      expect(listed.resources).toContainEqual(
        expect.objectContaining({
          name: 'Note 1',
          capabilities: expect.objectContaining({ subscribe: false, seek: true }),
        }),
      );
      for (const [name, capabilities] of [
        ['', { list: true, subscribe: false }],
        ['loop', { list: false, subscribe: false }],
        ['note/1', { list: false, subscribe: false, seek: true }],
        ['note/2', { list: false, subscribe: true, seek: true }],
      ] as const) {
        const { resource } = await on.request('resources/metadata', { uri: `${SHELF}${name}` });
        expect(resource, name).toMatchObject({ capabilities });
      }
      const read = await on.request('resources/read', { uri: SHELF });
      expect(read.contents).toMatchObject([
        { name: 'Note 1', capabilities: { subscribe: false } },
        { name: 'Note 2', capabilities: { subscribe: true } },
      ]);
      expect(await failure(on.request('resources/list', { uri: `${SHELF}loop` }))).toMatchObject({ code: -32_602 });
    });

    it.each(['deny', 'hide'])(
      'hidden or denied children (%s) are not in the read of a container [2093-5]',
      async (effect) => {
        const rules = [{ effect, operations: ['read'], uris: [`${SHELF}note/1`, `${DAY}/12h`, 'stranger+old:/one'] }];
        const around = { access: { rules, default: 'allow' } };
        await using sep = await connectToStranger(client, 'sep', way, { around });
        // This is the first request for the container, so only its contents show that it has children.
        expect(urisIn(await answer(sep, 'resources/read', SHELF))).toEqual(['shelf:///note/2']);
        expect(await failure(sep.request('resources/read', { uri: `${SHELF}note/1` }))).toHaveProperty('code');
        await using older = await connectToStranger(client, 'older', way, { around });
        expect(urisIn(await answer(older, 'resources/read', DAY))).toEqual(['old:/day/9h', 'old:/day/20h']);
      },
    );

    it('the read of a container gives the children that fit; anything else that does not fit is refused [2093-5]', async () => {
      const read = async (name: string, maxReadBytes: number, uri: string): Promise<object> => {
        await using on = await connectToStranger(client, name, way, { around: { limits: { maxReadBytes } } });
        return await answer(on, 'resources/read', uri);
      };
      const part = await read('sep', 10, SHELF);
      expect(urisIn(part)).toEqual(['shelf:///note/1']);
      const reason = '1 contents are left out: a read gives at most 10 bytes; read them one by one';
      expect((part as Answer).result._meta).toMatchObject({ 'vitrine/missing': [{ mount: 'stranger', reason }] });
      expect(urisIn(await read('sep', 5, SHELF))).toEqual([]);
      expect(await read('sep', 10, `${SHELF}report`)).toMatchObject({ error: { data: { reason: 'too-large' } } });
      // The first of several URIs is the requested resource, unless something marks the others as children.
      expect(urisIn(await read('older', 8, DAY))).toEqual(['old:/day/9h', 'old:/day/12h']);
      expect(await read('older', 2, DAY)).toMatchObject({ error: { data: { uri: DAY, reason: 'too-large' } } });
    });

    it('a cursor is refused in a list of anything but its own container [2093-4, SEC-UTIL-1]', async () => {
      await using on = await connectToStranger(client, 'sep', way);
      const { nextCursor: cursor } = await on.request('resources/list', { uri: SHELF });
      expect(cursor).not.toBe('at:3');
      for (const elsewhere of [{}, { uri: `${SHELF}loop` }, { uri: `${SHELF}report` }]) {
        expect(await failure(on.request('resources/list', { ...elsewhere, cursor }))).toMatchObject({ code: -32_602 });
      }
      expect(await on.request('resources/list', { uri: SHELF, cursor })).toHaveProperty('resources.0.name', 'Note 2');
    });
  });
});
