/** Servers that end, at any moment. */
import { describe, expect, it } from 'vitest';
import { ERAS, MATRIX } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import { isRunning, untilNoted } from './faulty.ts';
import {
  arrives,
  call,
  failsClearly,
  leavesNothing,
  listsWithout,
  ONE,
  othersServe,
  read,
  refusesSubscription,
  servesAgain,
  setScene,
  subscribe,
  subscribes,
  tells,
} from './scene.ts';

const handshake = (era: string): string => (era === 'legacy' ? 'initialize' : 'server/discover');

describe.concurrent.each(MATRIX)('a server of the $era era over $transport', (way) => {
  const { era } = way;

  it('[RES-4] that is killed while clients wait for changes counts as changed when it is back', async () => {
    await using scene = await setScene(way);
    const { server, clients } = scene;
    await tells(scene, () => server.changes('before'), 'of a change');
    await server.fails({ kind: 'crash-loop' });
    await until(() => scene.up.health().state !== 'ready', 'the end to be noticed');
    for (const client of clients) {
      await failsClearly(read(client, ONE), { reason: 'unavailable' });
      await listsWithout(client);
      await failsClearly(call(client, 'faulty_say'), { reason: 'unavailable' });
    }
    await tells(
      scene,
      async () => {
        await server.well();
        await server.changes('meanwhile');
        await server.restart();
      },
      'of what may have been missed',
    );
    await servesAgain(scene, 'meanwhile');
    await tells(scene, () => server.changes('after'), 'of a change after it');
    // Each client has its own process of a 2025-era program.
    const apart = era === 'legacy' && way.transport === 'stdio';
    expect(scene.up.health()).toMatchObject({ state: 'ready', watched: apart ? clients.length : 1 });
    await leavesNothing(scene);
  });

  it.each(['die', 'die-half'] as const)(
    'that is killed during a read (%s) counts as changed when it is back',
    async (kind) => {
      await using scene = await setScene(way);
      const { server, clients } = scene;
      await tells(
        scene,
        async () => {
          await server.fails({ kind, on: ['resources/read'] });
          for (const client of clients) {
            await failsClearly(read(client, ONE), { reason: 'unavailable' });
            await othersServe(client);
          }
          await server.well();
          await server.restart();
        },
        'of what may have been missed',
      );
      await servesAgain(scene, 'at first');
      await tells(scene, () => server.changes('after'), 'of a change after it');
      await leavesNothing(scene);
    },
  );

  it('that is killed by a call does not get the same call again', async () => {
    await using scene = await setScene(way, { subscribed: false });
    const { server, clients } = scene;
    for (const [index, client] of clients.entries()) {
      await server.fails({ kind: 'die', on: ['tools/call'] });
      // Nobody knows what the call did before the server died.
      await failsClearly(call(client, 'faulty_say'), { reason: 'unavailable', retryable: false });
      const calls = (await server.noted()).filter(({ method }) => method === 'tools/call');
      expect(calls).toHaveLength(2 * index + 1);
      await othersServe(client);
      await server.well();
      await server.restart();
      await until(async () => (await call(client, 'faulty_say').catch(() => undefined)) === 'at first', 'a call again');
      // Calls that were made while the server was away never reached it.
      expect((await server.noted()).filter(({ method }) => method === 'tools/call')).toHaveLength(2 * index + 2);
    }
    await leavesNothing(scene);
  });

  it('that is killed while a client subscribes can be subscribed to when it is back', async () => {
    await using scene = await setScene(way, { subscribed: false });
    const { server, clients } = scene;
    await arrives(scene.up);
    const subscribing = era === 'legacy' ? 'resources/subscribe' : 'subscriptions/listen';
    await server.fails({ kind: 'die', once: true, on: [subscribing] });
    const subscribed = Promise.all(clients.map(subscribes));
    const ended = async (): Promise<boolean> =>
      (await server.noted()).some(({ method, pid }) => method === subscribing && !isRunning(pid));
    await until(ended, 'the end of the server');
    await server.restart();
    // If the server came back too late for the first attempt, the client is told so, and may try again.
    for (const [index, done] of (await subscribed).entries()) {
      const client = clients[index];
      if (!done && client !== undefined) await until(() => subscribes(client), 'a subscription');
    }
    await tells(scene, () => server.changes('after'), 'of a change');
    await servesAgain(scene, 'after');
    await leavesNothing(scene);
  });

  it('that is killed while the gateway connects to it is used when it is back', async () => {
    await using scene = await setScene(way, {
      subscribed: false,
      before: (server) => server.fails({ kind: 'die', on: [handshake(era)] }),
    });
    const { server, clients } = scene;
    for (const client of clients) {
      await failsClearly(read(client, ONE), { reason: 'unavailable' });
      await listsWithout(client);
    }
    await server.well();
    await server.restart();
    await servesAgain(scene, 'at first');
    for (const client of clients) await subscribe(client);
    await tells(scene, () => server.changes('after'), 'of a change');
    await leavesNothing(scene);
  });
});

describe.concurrent.each(ERAS)('a program of the %s era', (era) => {
  it('that ends at once, again and again, is started again until it runs', async () => {
    await using scene = await setScene(
      { transport: 'stdio', era },
      { subscribed: false, before: (server) => server.fails({ kind: 'crash-loop' }) },
    );
    const { server, clients } = scene;
    for (const client of clients) {
      await failsClearly(read(client, ONE), { reason: 'unavailable' });
      await listsWithout(client);
    }
    await until(() => scene.up.health().failures >= 3, 'a third attempt');
    expect(scene.up.health()).toMatchObject({ watched: 0, connections: 0 });
    await server.well();
    await servesAgain(scene, 'at first');
    await leavesNothing(scene);
  });

  it('that leaves behind a process which keeps its output open is started again, and the process is ended', async () => {
    await using scene = await setScene(
      { transport: 'stdio', era },
      { before: (server) => server.fails({ kind: 'grandchild' }) },
    );
    const { server } = scene;
    await untilNoted(server, 'grandchild', 1);
    const left = (await server.noted()).filter(({ what }) => what === 'grandchild').map(({ pid }) => pid);
    await server.fails({ kind: 'die-idle' });
    await until(() => scene.up.health().state !== 'ready', 'the end to be noticed');
    await server.well();
    await tells(scene, () => server.changes('meanwhile'), 'of what may have been missed');
    await servesAgain(scene, 'meanwhile');
    for (const pid of left) await until(() => !isRunning(pid), 'what it left to be ended');
    await leavesNothing(scene);
  });
});

it.concurrent('a command that does not exist makes only its own mount unavailable', async () => {
  const target = { command: '/home/secret/no-such-program', args: [] };
  await using scene = await setScene({ transport: 'stdio', era: 'legacy' }, { subscribed: false, target });
  for (const client of scene.clients) {
    await failsClearly(read(client, ONE), { reason: 'unavailable' });
    await refusesSubscription(client, 'unavailable');
    await listsWithout(client);
  }
});
