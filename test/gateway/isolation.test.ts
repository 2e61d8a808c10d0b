/** Several clients of one gateway at once: no message for one reaches another. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Connected, connectHttp, ERAS, type Listening, startHttp } from '../e2e/harness.ts';
import { until, within } from '../e2e/waiting.ts';
import { callLogging, callTool, changesSince, notified, tellsOf } from './fixture/asking.ts';
import { type Answering, answering } from './fixture/client.ts';
import { configureGateway, type Gateway, type GatewayOptions } from './fixture/link.ts';
import { FIXTURES, type FixtureMount, FOUR } from './fixture/mounts.ts';

/** Two clients of each era. The name of each is in all its requests, and in no others. */
const PEOPLE = ERAS.flatMap((era) => [
  { name: `anna-${era}`, era },
  { name: `berta-${era}`, era },
]);

const COUNTER = 'fixture:///counter';

interface Person {
  readonly name: string;
  readonly on: Connected;
  readonly answering: Answering;
}

/** Resolves for all once the given number of different clients have come. */
function meeting(expected: number): (name: string) => Promise<void> {
  const come = new Set<string>();
  let all = (): void => {};
  const complete = new Promise<void>((resolve) => {
    all = resolve;
  });
  return (name) => {
    if (come.add(name).size >= expected) all();
    return within(complete, `${expected} to have been asked, ${come.size} were`);
  };
}

const WAYS: readonly { readonly title: string; readonly options: GatewayOptions }[] = [
  { title: 'a connection for each client', options: {} },
  { title: 'one connection for all', options: { connections: 'shared' } },
];

describe.each(WAYS)('with $title', ({ options }) => {
  let gateway: Gateway;
  let server: Listening;
  const people: Person[] = [];
  /** Awaited before each question is answered. */
  let everybody: (name: string) => Promise<void> = async () => {};

  beforeAll(async () => {
    gateway = await configureGateway(FOUR, options);
    server = await startHttp(gateway.args);
    for (const { name, era } of PEOPLE) {
      const client = answering({ name, before: () => everybody(name) });
      const on = await connectHttp(era, server, client.abilities);
      await on.reachable;
      people.push({ name, on, answering: client });
    }
  });

  afterAll(async () => {
    for (const { on } of people) await on.close();
    await server.stop();
    await gateway[Symbol.asyncDispose]();
  });

  /** Checks that no message or question to a client contains the name of another one. */
  function expectApart(): void {
    for (const { name, on, answering: client } of people) {
      const all = JSON.stringify([on.received, client.asked]);
      const others = people.filter((other) => other.name !== name && all.includes(other.name));
      expect({ name, others: others.map((other) => other.name) }).toEqual({ name, others: [] });
    }
  }

  const together = <T>(run: (person: Person) => Promise<T>): Promise<readonly T[]> => Promise.all(people.map(run));

  describe.each(FIXTURES)('a server over $transport, $era', (mount: FixtureMount) => {
    /** Whether the server can ask clients: in the 2025 era it can ask nobody over a connection that several clients share. */
    const asks = mount.era === 'modern' || options.connections !== 'shared';

    // Over a shared pipe, a log message does not tell whose it is. If several calls are waiting, nobody gets it.
    const tellsApart = asks && !(mount.era === 'modern' && mount.transport === 'stdio');

    it('answers each client with its own result', async () => {
      const rounds = Array.from({ length: 5 }, (_, round) => round);
      await together(async ({ name, on }) => {
        const said = await Promise.all(
          rounds.map((round) => callTool(on, mount, 'echo', { name, round }, { _meta: { 'x/name': name } })),
        );
        expect(said.map((text) => JSON.parse(text))).toEqual(
          rounds.map((round) => ({ args: { name, round }, meta: { 'x/name': name } })),
        );
      });
      expectApart();
    });

    it('reports progress to the caller only [SEC-UTIL-6]', async () => {
      await together(async ({ name, on }) => {
        const since = on.received.length;
        const cancelling = new AbortController();
        const label = `${name} on ${mount.name}`;
        // All use the same token, which clients are free to choose.
        const options = { _meta: { progressToken: 'the same' }, signal: cancelling.signal };
        const calling = callTool(on, mount, 'long', { label }, options);
        calling.catch(() => {});
        await until(() => notified(on, 'notifications/progress', since).length > 0, `progress of ${label}`);
        cancelling.abort('enough');
        await expect(calling).rejects.toThrow();
        expect(notified(on, 'notifications/progress', since).map(({ message }) => message)).toEqual([
          `${label} has begun`,
        ]);
      });
      expectApart();
    });

    it('sends log messages only to the client whose request it is working on', async () => {
      await together(async ({ name, on }) => {
        const since = on.received.length;
        await callLogging(on, mount, 'critical', name);
        const logged = notified(on, 'notifications/message', since);
        if (tellsApart) expect(logged.map(({ level }) => level)).toEqual(['critical', 'alert', 'emergency']);
      });
      expectApart();
    });

    const QUESTIONS = ['ask-user', 'ask-model', 'ask-page', 'ask-roots', 'ask-together'] as const;

    if (asks) {
      it.each(QUESTIONS)('asks each client while it asks the others: %s', async (tool) => {
        everybody = meeting(people.length);
        await together(async ({ name, on }) => {
          expect(await callTool(on, mount, tool, { label: name })).toContain(name);
        });
        everybody = async () => {};
        expectApart();
      });
    } else {
      it.each(QUESTIONS)('asks nobody: %s', async (tool) => {
        await together(async ({ name, on, answering: client }) => {
          const before = client.asked.length;
          await expect(callTool(on, mount, tool, { label: name })).rejects.toThrow();
          expect(client.asked).toHaveLength(before);
        });
        expectApart();
      });
    }

    it('cancels the call of one client, and no other', async () => {
      const [first] = people;
      if (first === undefined) throw new Error('nobody is there');
      const ending = new AbortController();
      const running = people.map(({ name, on }) => {
        const since = on.received.length;
        const label = `${name} waits for ${mount.name}`;
        const own = name === first.name ? new AbortController() : ending;
        const _meta = { progressToken: label };
        const calling = callTool(on, mount, 'long', { label }, { _meta, signal: own.signal });
        calling.catch(() => {});
        const begun = until(() => notified(on, 'notifications/progress', since).length > 0, `${label} to have begun`);
        return { name, on, label, own, calling, begun };
      });
      await Promise.all(running.map(({ begun }) => begun));
      const [cancelled] = running;
      cancelled?.own.abort('enough');
      const isCancelled = (on: Connected, label: string): Promise<string> =>
        callTool(on, mount, 'cancelled', { label });
      const ofFirst = async (): Promise<boolean> => (await isCancelled(first.on, cancelled?.label ?? '')) === 'true';
      await until(ofFirst, 'the cancellation to arrive');
      for (const { on, label } of running.slice(1)) expect(await isCancelled(on, label)).toBe('false');
      ending.abort('enough');
      await Promise.allSettled(running.map(({ calling }) => calling));
    });

    it('notifies only the client that subscribed', async () => {
      const uri = mount.uri(COUNTER);
      for (const { on } of people) {
        const places = people.map((person) => ({ person, since: person.on.received.length }));
        const stream = on.era === 'modern' ? await on.client.listen({ resourceSubscriptions: [uri] }) : undefined;
        if (stream === undefined) await on.client.subscribeResource({ uri });
        await tellsOf(on, uri, () => callTool(on, mount, 'touch', { uri }));
        // Everything that was sent before an answer arrives before it.
        await together((person) => person.on.request('resources/templates/list'));
        const told = places.flatMap(({ person, since }) =>
          changesSince(person.on, since).includes(uri) ? [person.on] : [],
        );
        expect(told).toEqual([on]);
        if (stream === undefined) await on.client.unsubscribeResource({ uri });
        else await stream.close();
      }
    });
  });
});
