/** Servers that say what makes no sense. */
import { describe, expect, it } from 'vitest';
import { MATRIX } from '../../e2e/harness.ts';
import { call, gather, leavesNothing, ONE, othersServe, read, servesAgain, setScene, tells } from './scene.ts';
import { FORMS, NOISES } from './upstream/garbled.mjs';

const METHODS = ['resources/read', 'resources/list', 'tools/list', 'tools/call', 'resources/templates/list'] as const;

describe.each(MATRIX)('a server of the $era era over $transport', (way) => {
  it.each(Object.keys(FORMS))('whose answers are %s', async (form) => {
    await using scene = await setScene(way);
    const { server, clients } = scene;
    await server.fails({ kind: 'garbled', form, on: METHODS });
    for (const client of clients) {
      // In the 2025 era a result has no type: a field more, or none, is right there.
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
    }
    await server.well();
    await servesAgain(scene, 'at first');
    await tells(scene, () => server.changes('after'), 'of a change');
    await leavesNothing(scene);
  });

  it.each(Object.keys(NOISES))('that sends %s, with a good answer', async (form) => {
    await using scene = await setScene(way);
    const { server, clients } = scene;
    await server.fails({ kind: 'garbled', form, on: METHODS });
    for (const client of clients) {
      expect(await read(client, ONE)).toBe('at first');
      expect(await call(client, 'faulty_say')).toBe('at first');
      const { missing } = await gather(client);
      expect(missing).toEqual({});
      await othersServe(client);
    }
    expect(scene.up.health()).toMatchObject({ state: 'ready', restarts: 0 });
    await tells(scene, () => server.changes('during'), 'of a change');
    await server.well();
    await servesAgain(scene, 'during');
    await leavesNothing(scene);
  });

  it('whose cursors come again', async () => {
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
