/** The times that a caller of the client library sets: which are taken, and which are refused. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createResourceClient, searchResources } from '../../src/client/index.ts';
import { ERAS } from '../e2e/harness.ts';
import { type Answers, all, eraOf, scripted } from './scripted.ts';

const URI = 'note:///a.txt';

/** Answers after a while, so that a timer of 1 ms ends before. */
const SLOW: Answers = {
  'resources/read': async ({ uri }) => {
    await delay(50);
    return { contents: [{ uri, text: 'a' }] };
  },
};

const NO_TIMES = [0, -1, Number.NaN, Number.NEGATIVE_INFINITY, '5' as unknown as number];

const refused = (name: string) => ({
  name: 'ResourceClientError',
  code: 'invalid',
  retryable: false,
  message: `${name} is a number of milliseconds above 0`,
});

describe.each(ERAS)('timeoutMs with a server of the %s era', (era) => {
  it.each([Number.POSITIVE_INFINITY, 2 ** 31 - 1, 2 ** 31, Number.MAX_VALUE])('may be %d', async (timeoutMs) => {
    await using server = await scripted(SLOW);
    const target = { url: server.url, ...eraOf[era], connectTimeoutMs: timeoutMs };
    await using client = createResourceClient(target, { timeoutMs });
    expect((await client.read(URI)).primary?.text()).toBe('a');
    await using other = createResourceClient(target);
    expect((await other.read(URI, { timeoutMs })).primary?.text()).toBe('a');
  });
});

describe('a time that is not above 0', () => {
  it.each(NO_TIMES)('is refused as an option of the client: %s', (timeoutMs) => {
    expect(() => createResourceClient({ url: 'http://127.0.0.1:9/mcp' }, { timeoutMs })).toThrow(
      expect.objectContaining(refused('timeoutMs')),
    );
  });

  it.each(NO_TIMES)('is refused for connecting: %s', async (connectTimeoutMs) => {
    await using client = createResourceClient({ url: 'http://127.0.0.1:9/mcp', connectTimeoutMs });
    await expect(client.connect()).rejects.toMatchObject(refused('connectTimeoutMs'));
  });

  it.each(NO_TIMES)('is refused by each call, before a request is sent: %s', async (timeoutMs) => {
    await using server = await scripted(SLOW, { resources: {}, tools: {} });
    await using client = createResourceClient({ url: server.url });
    const is = refused('timeoutMs');
    const options = { timeoutMs };
    await expect(client.read(URI, options)).rejects.toMatchObject(is);
    await expect(client.metadata(URI, options)).rejects.toMatchObject(is);
    await expect(client.resolveLink({ type: 'resource_link', uri: URI, name: 'a' }, options)).rejects.toMatchObject(is);
    await expect(all(searchResources(client, 'a', options))).rejects.toMatchObject(is);
    for (const begin of [client.list, client.walk])
      expect(() => begin(URI, options)).toThrow(expect.objectContaining(is));
    expect(() => client.templates(options)).toThrow(expect.objectContaining(is));
    expect(server.asked).toEqual([]);
  });
});
