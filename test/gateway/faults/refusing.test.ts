/** Servers that refuse requests, and other faults of HTTP. */
import { describe, expect, it } from 'vitest';
import { ERAS, MATRIX } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import { untilNoted } from './faulty.ts';
import {
  call,
  failsClearly,
  leavesNothing,
  ONE,
  othersServe,
  read,
  refusesSubscription,
  servesAgain,
  setScene,
  subscribe,
  tells,
} from './scene.ts';

describe.concurrent.each(ERAS)('a server of the %s era over HTTP', (era) => {
  const way = { transport: 'http', era } as const;

  it.each([
    [500, 'cannot be reached now'],
    [503, 'cannot be reached now'],
    [429, 'cannot be reached now'],
    [401, 'does not let Vitrine in'],
    [403, 'does not let Vitrine in'],
  ])('that answers %i to a request makes only that request fail', async (status, words) => {
    await using scene = await setScene(way);
    const { server, clients } = scene;
    await server.fails({ kind: 'status', status, on: ['resources/read', 'tools/call'] });
    for (const client of clients) {
      const { message } = await failsClearly(read(client, ONE), { reason: 'unavailable' });
      expect(message).toContain(words);
      // The server may have carried out a call that it answers with 500, but not one that it refuses.
      await failsClearly(call(client, 'faulty_say'), { reason: 'unavailable', retryable: status !== 500 });
      await othersServe(client);
    }
    await server.well();
    await servesAgain(scene, 'at first');
    await tells(scene, () => server.changes('after'), 'of a change');
    await leavesNothing(scene);
  });

  it('that answers a request with a web page makes only that request fail', async () => {
    await using scene = await setScene(way);
    const { server, clients } = scene;
    await server.fails({ kind: 'page', on: ['resources/read', 'tools/call'] });
    for (const client of clients) {
      await failsClearly(read(client, ONE), { reason: 'internal', retryable: false });
      await failsClearly(call(client, 'faulty_say'), { reason: 'internal', retryable: false });
      await othersServe(client);
    }
    await server.well();
    await servesAgain(scene, 'at first');
    await leavesNothing(scene);
  });

  it.each(['cut', 'end-early'])('whose answers break off (%s) makes only these requests fail', async (kind) => {
    await using scene = await setScene(way);
    const { server, clients } = scene;
    await server.fails({ kind, on: ['resources/read', 'tools/call'] });
    for (const client of clients) {
      await failsClearly(read(client, ONE), { reason: 'unavailable' });
      await failsClearly(call(client, 'faulty_say'), { reason: 'unavailable', retryable: false });
      await othersServe(client);
    }
    await server.well();
    await servesAgain(scene, 'at first');
    await tells(scene, () => server.changes('after'), 'of a change');
    await leavesNothing(scene);
  });

  it('[RES-4] whose streams of changes break off counts as changed', async () => {
    await using scene = await setScene(way);
    const { server, clients } = scene;
    await tells(
      scene,
      async () => {
        await server.fails({ kind: 'cut-streams' });
        await server.changes('meanwhile');
        for (const client of clients) await othersServe(client);
        await server.well();
      },
      'of what may have been missed',
    );
    await servesAgain(scene, 'meanwhile');
    const told = async (): Promise<boolean> => {
      await server.changes('after');
      return tells(scene, async () => {}, 'of a change').then(() => true);
    };
    await told();
    await leavesNothing(scene);
  });
});

it.concurrent('[RES-4] a server of the legacy era that forgets its sessions counts as changed, and is used again', async () => {
  await using scene = await setScene({ transport: 'http', era: 'legacy' });
  const { server, clients } = scene;
  await tells(
    scene,
    async () => {
      await server.fails({ kind: 'lose-sessions' });
      for (const client of clients) await othersServe(client);
      await server.well();
    },
    'of what may have been missed',
  );
  await servesAgain(scene, 'at first');
  await tells(scene, () => server.changes('after'), 'of a change');
  await leavesNothing(scene);
});

describe.concurrent.each(MATRIX)('a server of the $era era over $transport', (way) => {
  it('that refuses subscriptions for a while can be subscribed to later', async () => {
    await using scene = await setScene(way, {
      subscribed: false,
      before: (server) => server.fails({ kind: 'refuse-subscriptions' }),
    });
    const { server, clients } = scene;
    for (const client of clients) {
      if (client.era === 'legacy') {
        await client.reachable;
        await expect(subscribe(client)).rejects.toThrow();
      } else await refusesSubscription(client, 'invalid');
      await othersServe(client);
    }
    await server.well();
    for (const client of clients) await subscribe(client);
    await tells(scene, () => server.changes('after'), 'of a change');
    await leavesNothing(scene);
  });

  it('[RES-4] that refuses earlier subscriptions after it has come back is asked again until it accepts them', async () => {
    await using scene = await setScene(way);
    const { server } = scene;
    await server.fails({ kind: 'refuse-subscriptions', form: 'error' });
    const asks = way.era === 'legacy' ? 'resources/subscribe' : 'subscriptions/listen';
    const before = (await server.noted()).filter(({ method }) => method === asks).length;
    if (way.transport === 'http') await server.restart();
    else for (const pid of await server.running()) process.kill(pid, 'SIGKILL');
    await untilNoted(server, asks, before + 1);
    await tells(scene, () => server.well(), 'of what may have been missed');
    await untilNoted(server, 'subscribed', 2);
    await tells(scene, () => server.changes('after'), 'of a change');
    await leavesNothing(scene);
  });
});

it.concurrent('secrets that a program writes to standard error reach neither clients nor the log', async () => {
  const env = { FAULTY_SECRET: 'correct-horse-battery' };
  await using scene = await setScene(
    { transport: 'stdio', era: 'legacy' },
    { env, subscribed: false, before: (server) => server.fails({ kind: 'secrets' }) },
  );
  await until(() => scene.log().includes('token ***'), 'what it wrote');
  for (const client of scene.clients) await othersServe(client);
  await scene.server.fails({ kind: 'die', on: ['resources/read'] });
  for (const client of scene.clients) await failsClearly(read(client, ONE), { reason: 'unavailable' });
  expect(scene.log()).not.toContain('correct-horse');
  await leavesNothing(scene);
});
