/** Servers that do not answer, or not yet. */
import { describe, expect, it } from 'vitest';
import { failure } from '../../e2e/answers.ts';
import { type Connected, MATRIX } from '../../e2e/harness.ts';
import { until, within } from '../../e2e/waiting.ts';
import { untilNoted } from './faulty.ts';
import {
  call,
  failsClearly,
  gather,
  leavesNothing,
  listsWithout,
  ONE,
  othersServe,
  read,
  servesAgain,
  setScene,
  subscribe,
  tells,
} from './scene.ts';

describe.concurrent.each(MATRIX)('a server of the $era era over $transport', (way) => {
  it('that never answers a read keeps its connection, and only the read fails', async () => {
    await using scene = await setScene(way, { hurried: true });
    const { server, clients } = scene;
    await server.fails({ kind: 'hang', on: ['resources/read'] });
    for (const client of clients) {
      await failsClearly(read(client, ONE), { reason: 'timeout' });
      const { uris, missing } = await othersServe(client);
      expect(uris).toContain(ONE);
      expect(missing).toEqual({});
    }
    // It answers a ping, so the gateway keeps the connection.
    expect(scene.up.health()).toMatchObject({ state: 'ready', restarts: 0 });
    await server.well();
    await servesAgain(scene, 'at first');
    await tells(scene, () => server.changes('after'), 'of a change');
    await leavesNothing(scene);
  });

  it('that never answers a list is named as missing, and listed again later', async () => {
    await using scene = await setScene(way, { hurried: true });
    const { server, clients } = scene;
    await server.fails({ kind: 'hang', on: ['resources/list', 'tools/list'] });
    await Promise.all(clients.map(listsWithout));
    await server.well();
    await servesAgain(scene, 'at first');
    await leavesNothing(scene);
  });

  it('that never answers a call makes only that call fail, with a timeout', async () => {
    await using scene = await setScene(way, { hurried: true });
    const { server, clients } = scene;
    await server.fails({ kind: 'hang', on: ['tools/call'] });
    await Promise.all(
      clients.map(async (client) => {
        const calling = failsClearly(call(client, 'faulty_say'), { reason: 'timeout', retryable: false });
        await othersServe(client);
        await calling;
      }),
    );
    await server.well();
    await servesAgain(scene, 'at first');
    await leavesNothing(scene);
  });

  it('that no longer answers anything loses its connection, and gets another one later', async () => {
    await using scene = await setScene(way, { hurried: true });
    const { server, clients } = scene;
    const { connections } = scene.up.health();
    await server.fails({ kind: 'deaf' });
    if (way.transport === 'stdio') await untilNoted(server, 'deaf', 1);
    for (const client of clients) {
      const error = failure(read(client, ONE));
      const { missing } = await othersServe(client);
      expect(Object.keys(missing)).toEqual(['faulty']);
      expect((await error).message).toContain('"faulty"');
    }
    await until(() => scene.up.health().connections < connections, 'it to be given up');
    await tells(
      scene,
      async () => {
        await server.well();
        await server.changes('meanwhile');
      },
      'of what may have been missed',
    );
    await servesAgain(scene, 'meanwhile');
    await tells(scene, () => server.changes('after'), 'of a change after it');
    await leavesNothing(scene);
  });

  it('that no longer answers anything loses its connection even while clients go on reading', async () => {
    await using scene = await setScene(way, { hurried: true });
    const { server, clients } = scene;
    const { connections } = scene.up.health();
    await server.fails({ kind: 'deaf' });
    if (way.transport === 'stdio') await untilNoted(server, 'deaf', 1);
    let goesOn = true;
    const asking = clients.flatMap((client) =>
      [0, 1].map(async () => {
        while (goesOn) await read(client, ONE).catch(() => {});
      }),
    );
    try {
      await until(() => scene.up.health().connections < connections, 'it to be given up');
    } finally {
      goesOn = false;
      await server.well();
      await Promise.all(asking);
    }
    await servesAgain(scene, 'at first');
    await leavesNothing(scene);
  });

  it('that is slow delays only its own answers', async () => {
    await using scene = await setScene(way);
    const { server, clients } = scene;
    await server.fails({ kind: 'slow', on: ['tools/call', 'resources/read'] });
    const slow = (client: Connected): Promise<unknown> => call(client, 'faulty_say');
    const calls = clients.map(slow);
    await untilNoted(server, 'tools/call', 2);
    for (const client of clients) {
      await othersServe(client);
      expect((await gather(client)).uris).toContain(ONE);
    }
    await server.well();
    expect(await within(Promise.all(calls), 'the calls')).toEqual(['at first', 'at first']);
    await servesAgain(scene, 'at first');
    await leavesNothing(scene);
  });

  it('that never answers the handshake is named as missing, and is used once it answers', async () => {
    await using scene = await setScene(way, {
      hurried: true,
      subscribed: false,
      before: (server) => server.fails({ kind: 'hang', on: ['initialize', 'server/discover'] }),
    });
    const { server, clients } = scene;
    for (const client of clients) {
      const { missing } = await othersServe(client);
      expect(Object.keys(missing)).toEqual(['faulty']);
      await expect(read(client, ONE)).rejects.toThrow('"faulty"');
    }
    await server.well();
    await servesAgain(scene, 'at first');
    for (const client of clients) await subscribe(client);
    await tells(scene, () => server.changes('after'), 'of a change');
    await leavesNothing(scene);
  });

  it('that never answers the handshake does not delay the end of the gateway', async () => {
    await using scene = await setScene(way, {
      hurried: true,
      subscribed: false,
      before: (server) => server.fails({ kind: 'hang', on: ['initialize', 'server/discover'] }),
    });
    await untilNoted(scene.server, 'received', 1);
    expect(scene.up.health().state).toBe('connecting');
    await leavesNothing(scene);
    expect(scene.up.health().connections).toBe(0);
  });
});
