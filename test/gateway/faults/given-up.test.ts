/** Requests that their clients give up, to a program of 2025 that keeps its state in its process. */
import { expect, it } from 'vitest';
import { type Connected, ERAS } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import { answering } from '../fixture/client.ts';
import { untilNoted } from './faulty.ts';
import { arrives, call, ONE, read, type Scene, setScene } from './scene.ts';

const PROGRAM = { transport: 'stdio', era: 'legacy' } as const;

function clientOf({ clients }: Scene, era: Connected['era']): Connected {
  const client = clients.find((each) => each.era === era);
  if (client === undefined) throw new Error('no such client');
  return client;
}

const askable = (): Promise<Scene> => setScene(PROGRAM, { subscribed: false, abilities: answering().abilities });

it.each(ERAS)('a read that is given up does not end the program of a %s client', async (era) => {
  await using scene = await askable();
  await arrives(scene.up);
  const { server } = scene;
  const client = clientOf(scene, era);
  const calls = async (): Promise<readonly number[]> =>
    (await server.noted()).filter(({ method }) => method === 'tools/call').map(({ pid }) => pid);
  await call(client, 'faulty_say');
  const [program] = await calls();

  for (let times = 0; times < 3; times++) {
    const reads = (await server.noted()).filter(({ method }) => method === 'resources/read').length;
    await server.fails({ kind: 'slow', on: ['resources/read'] });
    const left = new AbortController();
    const reading = client.request('resources/read', { uri: ONE }, { signal: left.signal });
    reading.catch(() => {});
    await untilNoted(server, 'resources/read', reads + 1);
    left.abort();
    await expect(reading).rejects.toThrow();
    await server.well();
    expect(await read(client, ONE)).toBe('at first');
  }

  // A read that comes before the server knows that an earlier one was given up gets a program of its own, and so may this call.
  await until(async () => {
    await call(client, 'faulty_say');
    return (await calls()).at(-1) === program;
  }, 'a call of the first program');
});

it('a call that is given up while its program starts does not make the client share a program', async () => {
  await using scene = await askable();
  const { server } = scene;
  // This client borrows a program for each read and call.
  const client = clientOf(scene, 'modern');
  // The shared program, and that of the client of 2025.
  await untilNoted(server, 'notifications/initialized', 2);
  const programs = await server.running();

  await server.fails({ kind: 'hang', on: ['initialize'] });
  const left = new AbortController();
  const calling = client.request('tools/call', { name: 'faulty_say', arguments: {} }, { signal: left.signal });
  calling.catch(() => {});
  await until(async () => (await server.running()).length > programs.length, 'its program');
  left.abort();
  await expect(calling).rejects.toThrow();
  await server.well();
  await until(async () => (await server.running()).length === programs.length, 'its program to end');

  expect(await call(client, 'faulty_say')).toBe('at first');
  const called = (await server.noted()).filter(({ method }) => method === 'tools/call').map(({ pid }) => pid);
  expect(called).toHaveLength(1);
  expect(programs).not.toContain(called[0]);
});
