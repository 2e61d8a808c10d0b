/** Cursors over the wire: each is valid for one request of one server only. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, type ListAnswer, type WireFailure } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, MATRIX } from './harness.ts';

describe.each(MATRIX)('cursors over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let config: string;
  let server: Connected;
  let cursor: string;
  beforeAll(async () => {
    folder = await temporaryFolder(
      Object.fromEntries(['a', 'b'].flatMap((name) => [1, 2, 3, 4, 5].map((n) => [`${name}/${n}.txt`, `${n}`]))),
    );
    config = await writeConfig(folder, { limits: { pageSize: 2 }, mounts: { a: './a', b: './b' } });
    server = await connect(transport, era, ['--config', config]);
    cursor = await firstCursor('resources/list', { uri: 'a+file:///' });
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  async function firstCursor(method: string, params: Record<string, unknown>): Promise<string> {
    const { nextCursor } = await server.request<ListAnswer>(method, params);
    if (nextCursor === undefined) throw new Error('there is only one page');
    return nextCursor;
  }

  const refusal = (params: Record<string, unknown>, method = 'resources/list'): Promise<WireFailure> =>
    failure(server.request(method, params));

  const REFUSED = { code: -32602, message: expect.stringContaining('cursor'), data: { reason: 'invalid' } };

  it('accepts its own, however often it is sent [SEC-UTIL-1]', async () => {
    const again = [1, 2].map(() => server.request<ListAnswer>('resources/list', { uri: 'a+file:///', cursor }));
    for (const page of await Promise.all(again))
      expect(page.resources.map(({ name }) => name)).toEqual(['3.txt', '4.txt']);
  });

  it.each(['x', 'bm90IGEgY3Vyc29y', '1', '{"offset":2}', '../..', '🦉', 'A'.repeat(60_000)])(
    'refuses a made-up one: %.20s [SEC-UTIL-1]',
    async (madeUp) => {
      expect(await refusal({ uri: 'a+file:///', cursor: madeUp })).toMatchObject(REFUSED);
    },
  );

  it('refuses one that is too long, or not a text [SEC-UTIL-1, SEC-RES-3]', async () => {
    expect(await refusal({ uri: 'a+file:///', cursor: 'A'.repeat(70_000) })).toMatchObject({ code: -32602 });
    expect(await refusal({ uri: 'a+file:///', cursor: 3 })).toMatchObject({ code: -32602 });
  });

  it('refuses an altered one, whichever character was altered [SEC-UTIL-1]', async () => {
    for (let at = 0; at < cursor.length; at += 5) {
      const other = cursor[at] === 'A' ? 'B' : 'A';
      const altered = cursor.slice(0, at) + other + cursor.slice(at + 1);
      expect(await refusal({ uri: 'a+file:///', cursor: altered }), `at ${at}`).toMatchObject(REFUSED);
    }
    for (const altered of [cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, ` ${cursor}`])
      expect(await refusal({ uri: 'a+file:///', cursor: altered })).toMatchObject(REFUSED);
  });

  it('refuses one of another resource, another method, or the default list [SEC-UTIL-1]', async () => {
    expect(await refusal({ uri: 'b+file:///', cursor })).toMatchObject(REFUSED);
    expect(await refusal({ cursor })).toMatchObject(REFUSED);
    expect(await refusal({ uri: 'a+file:///', cursor }, 'resources/directory/read')).toMatchObject(REFUSED);
    expect(await refusal({ cursor }, 'resources/templates/list')).toMatchObject(REFUSED);
    const ofDefaultList = await firstCursor('resources/list', {});
    expect(await refusal({ uri: 'a+file:///', cursor: ofDefaultList })).toMatchObject(REFUSED);
  });

  it('refuses one of another server over the same folders [SEC-UTIL-1]', async () => {
    await using other = await connect(transport, era, ['--config', config]);
    const params = { uri: 'a+file:///', cursor };
    expect(await failure(other.request('resources/list', params))).toMatchObject(REFUSED);
  });

  it('refuses an empty one [SEC-UTIL-1]', async () => {
    expect(await refusal({ uri: 'a+file:///', cursor: '' })).toMatchObject(REFUSED);
  });
});
