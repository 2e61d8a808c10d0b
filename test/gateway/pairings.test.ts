/** Every pairing of era and transport of a client with those of an upstream: four fixtures behind each gateway. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { failure } from '../e2e/answers.ts';
import { type Connected, connectHttp, connectStdio, type Listening, MATRIX, startHttp } from '../e2e/harness.ts';
import { until, within } from '../e2e/waiting.ts';
import { callLogging, callTool, changesSince, notified, tellsOf } from './fixture/asking.ts';
import { type Answering, answering } from './fixture/client.ts';
import { configureGateway, type Gateway } from './fixture/link.ts';
import { FIXTURES, type FixtureMount, FOUR } from './fixture/mounts.ts';

const COUNTER = 'fixture:///counter';
const OTHER = 'urn:fixture:1';

let gateway: Gateway;
let server: Listening;

beforeAll(async () => {
  gateway = await configureGateway(FOUR);
  server = await startHttp(gateway.args);
});

afterAll(async () => {
  await server.stop();
  await gateway[Symbol.asyncDispose]();
});

/** Runs when a question arrives, before it is answered. Tests can set another function. */
type Asked = (asked: string, signal: AbortSignal) => Promise<void>;

describe.each(MATRIX)('a client over $transport, $era', ({ transport, era }) => {
  let on: Connected;
  let client: Answering;
  let whenAsked: Asked = async () => {};

  beforeAll(async () => {
    client = answering({ before: (asked, signal) => whenAsked(asked, signal) });
    const { abilities } = client;
    on = await (transport === 'stdio'
      ? connectStdio(era, gateway.args, abilities)
      : connectHttp(era, server, abilities));
    await on.reachable;
  });

  afterAll(() => on.close());

  describe.each(FIXTURES)('with a server over $transport, $era', (mount: FixtureMount) => {
    const call = (name: string, args: object = {}): Promise<string> => callTool(on, mount, name, args);
    const touch = (native: string) => (): Promise<string> => call('touch', { uri: mount.uri(native) });

    it('[RES-4] hears of changes of its subscriptions, until it unsubscribes, and of no others', async () => {
      const counter = mount.uri(COUNTER);
      const since = on.received.length;
      if (era === 'legacy') await on.client.subscribeResource({ uri: counter });
      const stream = era === 'modern' ? await on.client.listen({ resourceSubscriptions: [counter] }) : undefined;
      await tellsOf(on, counter, touch(COUNTER));
      await touch(OTHER)();
      await tellsOf(on, counter, touch(COUNTER));
      if (stream === undefined) await on.client.unsubscribeResource({ uri: counter });
      else await stream.close();
      await touch(COUNTER)();
      expect(changesSince(on, since).filter((each) => each.includes(':') && each !== counter)).toEqual([]);
      const contents = z.looseObject({ contents: z.array(z.looseObject({ text: z.string() })) });
      const { contents: read } = contents.parse(await on.request('resources/read', { uri: counter }));
      expect(read[0]?.text).toBe(`changed ${await timesTouched()} times`);
    });

    /** How often the counter was changed, as the server counts, because other pairings share its process. */
    async function timesTouched(): Promise<string> {
      return /\d+/.exec(await call('count', { uri: mount.uri(COUNTER) }))?.[0] ?? '';
    }

    it('[RES-6] hears of changes of each list', async () => {
      const filter = { resourcesListChanged: true, toolsListChanged: true, promptsListChanged: true };
      const stream = era === 'modern' ? await on.client.listen(filter) : undefined;
      const args = { resource: { uri: 'memo:new' }, tool: { name: 'new' }, prompt: { name: 'new' } };
      for (const what of ['resource', 'tool', 'prompt'] as const) {
        const since = on.received.length;
        // In the 2025 era changes of lists come unasked, some time after the handshake.
        await until(async () => {
          await call(`add-${what}`, args[what]);
          await call(`remove-${what}`, args[what]);
          return changesSince(on, since).includes(`${what}s`);
        }, `a change of ${what}s to be told`);
      }
      await stream?.close();
    });

    it('is asked to sample its model, and the server gets its answer', async () => {
      expect(await call('ask-model', { label: mount.name })).toContain(`client wrote: Write of ${mount.name}`);
      expect(client.asked.at(-1)).toBe(`model: Write of ${mount.name}`);
    });

    it('is asked to show its user a form, and the server gets the answer, also a refusal', async () => {
      expect(await call('ask-user', { label: mount.name })).toContain(`client's word`);
      expect(client.asked.at(-1)).toBe(`form: A word for ${mount.name}?`);
      expect(await call('ask-user', { label: 'declined' })).toBe('declined: {"action":"decline"}');
    });

    it('is asked to show its user a page', async () => {
      expect(await call('ask-page', { label: mount.name })).toBe(`${mount.name}: {"action":"accept"}`);
      expect(client.asked.at(-1)).toBe(`page: Please see the page of ${mount.name}`);
    });

    it('is asked for its roots', async () => {
      expect(await call('ask-roots')).toContain('file:///client/a%20b');
      expect(client.asked.at(-1)).toBe('roots: ');
    });

    it('is asked in two rounds, and two questions in one round', async () => {
      const twice = await call('ask-twice', { label: 'twice' });
      expect(twice).toBe(`twice: client's word, client wrote: Then, of twice with client's word`);
      expect(await call('ask-together', { label: 'both' })).toBe(`both: client's word client wrote: Both: of both`);
    });

    it('is asked before a prompt is given', async () => {
      const params = { name: mount.named('asks') };
      expect(JSON.stringify(await on.request('prompts/get', params))).toContain("client's name");
      expect(client.asked.at(-1)).toBe('form: Whose prompt is it?');
    });

    it('is asked before a resource is read', async () => {
      const params = { uri: mount.uri('fixture:///asks') };
      expect(JSON.stringify(await on.request('resources/read', params))).toContain("client's name");
      expect(client.asked.at(-1)).toBe('form: Who reads this?');
    });

    const onlyModern = era === 'modern' ? it : undefined;
    onlyModern?.('is refused if it sends the state of the question altered, forged, or with another call', async () => {
      const params = { name: mount.named('ask-user'), arguments: { label: 'state' } };
      const send = (more: object): Promise<Record<string, unknown>> =>
        on.client.request({ method: 'tools/call', params: { ...params, ...more } }, z.looseObject({}), {
          allowInputRequired: true,
        });
      const { requestState, inputRequests } = await send({});
      const [key = ''] = Object.keys(inputRequests as object);
      const inputResponses = { [key]: { action: 'accept', content: { word: 'mine' } } };
      const state = String(requestState);
      for (const forged of [`${state.slice(0, -6)}AAAAAA`, 'forged', Buffer.from('{}').toString('base64url')]) {
        expect(await failure(send({ inputResponses, requestState: forged }))).toMatchObject({ code: -32_602 });
      }
      const elsewhere = { ...params, arguments: { label: 'another' } };
      const misused = send({ ...elsewhere, inputResponses, requestState: state });
      expect(await failure(misused)).toMatchObject({ code: -32_602 });
      expect(JSON.stringify(await send({ inputResponses, requestState: state }))).toContain('mine');
    });

    it('hears of progress', async () => {
      const since = on.received.length;
      const progressToken = `token of ${mount.name}`;
      await callTool(on, mount, 'progress', {}, { _meta: { progressToken } });
      expect(notified(on, 'notifications/progress', since)).toMatchObject([
        { progressToken, progress: 1, total: 3, message: 'one of three' },
        { progressToken, progress: 2.5, total: 3 },
        { progressToken, progress: 3, total: 3, message: 'done' },
      ]);
    });

    it('gets log messages of the requested level, and above', async () => {
      for (const [level, expected] of [
        ['debug', ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency', 'error']],
        ['critical', ['critical', 'alert', 'emergency']],
      ] as const) {
        const since = on.received.length;
        await callLogging(on, mount, level, mount.name);
        const logged = notified(on, 'notifications/message', since);
        expect(logged.map((each) => each.level)).toEqual(expected);
        expect(logged[0]).toMatchObject({ logger: 'fixture.logger', data: { label: mount.name } });
      }
    });

    it('cancels a call, and the server learns of it', async () => {
      const label = `${era} ${transport} cancels`;
      const cancelling = new AbortController();
      const since = on.received.length;
      const _meta = { progressToken: label };
      const calling = callTool(on, mount, 'long', { label }, { _meta, signal: cancelling.signal });
      const begun = (): boolean => notified(on, 'notifications/progress', since).some((each) => each.progress === 1);
      calling.catch(() => {});
      await until(begun, 'the call to have begun');
      cancelling.abort('enough');
      await expect(calling).rejects.toThrow();
      const learned = async (): Promise<boolean> => (await call('cancelled', { label })) === 'true';
      await until(learned, 'the server to learn that it was cancelled');
    });

    it('that gives up a call with questions is not asked any more, and can go on', async () => {
      const cancelling = new AbortController();
      let withdrawn: Promise<void> = Promise.resolve();
      whenAsked = async (_asked, signal) => {
        withdrawn = new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
        cancelling.abort('enough');
        await within(withdrawn, 'the question to be withdrawn');
      };
      const calling = callTool(on, mount, 'ask-user', { label: 'given up' }, { signal: cancelling.signal });
      await expect(calling).rejects.toThrow();
      await within(withdrawn, 'the question to be withdrawn');
      whenAsked = async () => {};
      expect(await call('ask-user', { label: 'afterwards' })).toContain("client's word");
    });

    it('[RES-3] completes variables of templates and arguments of prompts', async () => {
      const complete = async (ref: object, name: string, value: string, known = {}): Promise<unknown> =>
        (await on.request('completion/complete', { ref, argument: { name, value }, context: { arguments: known } }))
          .completion;
      const template = { type: 'ref/resource', uri: mount.uri('fixture:///items/{id}') };
      expect(await complete(template, 'id', '29')).toMatchObject({ values: ['29'] });
      const prompt = { type: 'ref/prompt', name: mount.named('full') };
      expect(await complete(prompt, 'city', 'city-11')).toMatchObject({ total: 11, hasMore: false });
      expect(await complete(prompt, 'street', '', { city: 'Y' })).toMatchObject({ values: ['a street of Y'] });
    });
  });
});
