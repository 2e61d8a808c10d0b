/** Servers that send nonsense. */
import { describe, expect, it } from 'vitest';
import { type Connected, MATRIX } from '../../e2e/harness.ts';
import { call, gather, leavesNothing, ONE, othersServe, read, servesAgain, setScene, tells } from './scene.ts';
import { FORMS, NOISES } from './upstream/garbled.mjs';

const METHODS = ['resources/read', 'resources/list', 'tools/list', 'tools/call', 'resources/templates/list'] as const;

describe.concurrent.each(MATRIX)('a server of the $era era over $transport', (way) => {
  it.each(Object.keys(FORMS))('that answers with %s harms no other mount, and is used again later', async (form) => {
    await using scene = await setScene(way, { hurried: true });
    const { server, clients } = scene;
    await server.fails({ kind: 'garbled', form, on: METHODS });
    const look = async (client: Connected): Promise<void> => {
      // In the 2025 era results have no type, so answers with another type, or without one, are valid.
      const texts = await Promise.all(
        [read(client, ONE), call(client, 'faulty_say')].map((request) => request.catch((error: Error) => error)),
      );
      for (const text of texts) {
        if (text instanceof Error) expect(text.message).toContain('"faulty"');
        else if (!form.includes('result type') || way.era === 'modern') expect(text).toBeUndefined();
      }
      const { uris } = await othersServe(client);
      expect(uris.filter((uri) => uri === 'faulty+8' || uri.includes('undefined'))).toEqual([]);
      expect(scene.log()).not.toContain('TypeError');
    };
    await Promise.all(clients.map(look));
    await server.well();
    await servesAgain(scene, 'at first');
    await tells(scene, () => server.changes('after'), 'of a change');
    await leavesNothing(scene);
  });

  it('that sends noise together with a good answer keeps its connection, and the answer arrives', async () => {
    await using scene = await setScene(way);
    const { server, clients } = scene;
    let text = 'at first';
    for (const form of Object.keys(NOISES)) {
      await server.fails({ kind: 'garbled', form, on: METHODS });
      const before = (await server.noted()).length;
      for (const client of clients) {
        expect(await read(client, ONE), form).toBe(text);
        expect(await call(client, 'faulty_say'), form).toBe(text);
        const { missing } = await gather(client);
        expect(missing, form).toEqual({});
        await othersServe(client);
      }
      // The server was asked during the noise, so no answer comes from a cache.
      const asked = new Set((await server.noted()).slice(before).map(({ method }) => method));
      expect([...asked], form).toEqual(expect.arrayContaining(['resources/read', 'resources/list', 'tools/call']));
      expect(scene.up.health(), form).toMatchObject({ state: 'ready', restarts: 0 });
      text = `during ${form}`;
      await tells(scene, () => server.changes(text), `of a change ${text}`);
      await server.well();
      await servesAgain(scene, text);
    }
    await leavesNothing(scene);
  });

  it('whose cursors repeat is listed up to the repetition, and the answer says so', async () => {
    await using scene = await setScene(way);
    const { server, clients } = scene;
    await server.fails({ kind: 'repeat-cursor' });
    for (const client of clients) {
      const { uris, missing } = await othersServe(client);
      expect(uris).toContain('faulty+thing:///two');
      expect(missing.faulty).toContain('repeats a cursor');
    }
    await server.well();
    await servesAgain(scene, 'at first');
    await leavesNothing(scene);
  });
});
