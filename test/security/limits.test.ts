/** No request makes the server do, or hold in memory, more than its limits allow (SEC-RES-3, SEC-RES-4, SEC-UTIL-1). */
import { readFile, truncate } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failure } from '../e2e/answers.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Connected, connectHttp } from '../e2e/harness.ts';
import { type ListeningProgram, startProgram } from '../e2e/programs.ts';
import { http, INITIALIZE, JSON_HEADERS, messageOf, post } from '../e2e/raw.ts';
import { until } from '../e2e/waiting.ts';
import { MEBIBYTE } from './served.ts';

const MODERN = { 'mcp-protocol-version': '2026-07-28' };

/** The most memory that a process has used so far, in bytes. */
async function peakMemory(server: ListeningProgram): Promise<number> {
  const status = await readFile(`/proc/${server.process.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
}

describe('a server with its own limits', () => {
  let folder: Folder;
  let server: ListeningProgram;
  let client: Connected;

  beforeAll(async () => {
    folder = await temporaryFolder({ 'a.txt': 'hello', 'many-spellings.txt': '', 'big.bin': '', 'huge.bin': '' });
    await truncate(folder.at('big.bin'), 20 * MEBIBYTE);
    await truncate(folder.at('huge.bin'), 4 * 1024 ** 4);
    for (let index = 0; index < 250; index++) await folder.write(`sub/${String(index).padStart(3, '0')}.txt`, 'x');
    server = await startProgram([folder.path]);
    client = await connectHttp('modern', server);
  });

  afterAll(async () => {
    await client?.close();
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  /** After every attempt, the next request is answered. */
  afterEach(async () => {
    const { contents } = await client.request<{ contents: { text: string }[] }>('resources/read', {
      uri: 'file:///a.txt',
    });
    expect(contents[0]?.text).toBe('hello');
  });

  const readWindow = (uri: string, window: object): Promise<unknown> =>
    client.request('resources/read', { uri, _meta: { 'vitrine/range': window } });

  describe('refuses requests that are too large [SEC-RES-3]', () => {
    const padding = (bytes: number): string => 'x'.repeat(bytes);

    it.each([5 * MEBIBYTE, 10 ** 15])('by their declared length: %d bytes', async (bytes) => {
      const headers = { ...JSON_HEADERS, 'content-length': String(bytes) };
      const { status, text } = await http(server.url, { headers, body: [] });
      expect([status, text]).toEqual([413, expect.stringContaining('4194304 bytes')]);
    });

    it('by their actual length', async () => {
      const body = Array.from({ length: 100 }, () => padding(100_000));
      // The server stops reading, so the client may not receive the answer.
      const outcome = await http(server.url, { headers: { ...JSON_HEADERS }, body }).then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code,
      );
      expect([413, 'EPIPE', 'ECONNRESET']).toContain(outcome);
    });

    it('by the number of messages', async () => {
      const batch = Array.from({ length: 101 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
      const { status, text } = await http(server.url, { headers: { ...JSON_HEADERS }, body: JSON.stringify(batch) });
      expect([status, text]).toEqual([400, expect.stringContaining('at most 100 messages')]);
    });

    it.each([
      ['nested a million times', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`],
      ['nested objects', `${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`],
      [
        'nested parameters',
        `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}}`,
      ],
      ['no end', '{"jsonrpc":"2.0"'],
      ['a number of a million digits', `{"jsonrpc":"2.0","id":${'9'.repeat(1_000_000)},"method":"ping"}`],
      ['a million keys', `{${Array.from({ length: 200_000 }, (_, index) => `"k${index}":1`).join()}}`],
      [
        'keys of prototypes',
        '{"__proto__":{"method":"initialize"},"constructor":{"prototype":{}},"jsonrpc":"2.0","id":1}',
      ],
    ])('and requests that are %s', async (_what, body) => {
      const { status, text } = await http(server.url, { headers: { ...JSON_HEADERS }, body });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expect(text).not.toMatch(/\bat .+:\d+:\d+/);
    });
  });

  describe('refuses reads that are too large [SEC-RES-3]', () => {
    it.each(['file:///big.bin', 'file:///huge.bin'])(
      'of a whole resource: %s, and says what to do instead',
      async (uri) => {
        const { code, message, data } = await failure(client.request('resources/read', { uri }));
        expect([code, data?.reason, data?.limit]).toEqual([-32602, 'too-large', 7 * MEBIBYTE]);
        expect(message).toContain('vitrine/range');
      },
    );

    it('of windows', async () => {
      for (const window of [{ offset: 0 }, { offset: 1, length: 8 * MEBIBYTE }, { offset: 0, length: 2 ** 52 }]) {
        const { data } = await failure(readWindow('file:///huge.bin', window));
        expect(data?.reason).toBe('too-large');
      }
    });

    it('and allows windows of exactly the limit', async () => {
      const offset = 4 * 1024 ** 4 - 7 * MEBIBYTE;
      const result = (await readWindow('file:///huge.bin', { offset })) as { contents: { blob: string }[] };
      expect(Buffer.from(result.contents[0]?.blob ?? '', 'base64').byteLength).toBe(7 * MEBIBYTE);
    });

    it.each([
      { offset: -1 },
      { offset: 0.5 },
      { offset: 'x' },
      { offset: 2 ** 60 },
      { offset: null },
      { length: 0 },
      { length: -1 },
      { length: 1e300 },
      { offset: 0, length: '1' },
      [],
      'all',
      17,
    ])('and refuses invalid windows: %j', async (window) => {
      expect((await failure(readWindow('file:///a.txt', window as object))).code).toBe(-32602);
    });

    it('and refuses windows past the end', async () => {
      expect((await failure(readWindow('file:///a.txt', { offset: 6 }))).data?.reason).toBe('invalid');
    });

    it('and gives a bounded number of children of a folder [2093-5]', async () => {
      const { contents } = await client.request<{ contents: unknown[] }>('resources/read', { uri: 'file:///sub' });
      expect(contents).toHaveLength(100);
    });

    it.runIf(process.platform === 'linux')('without loading refused contents into memory', async () => {
      const before = await peakMemory(server);
      await Promise.all(
        Array.from({ length: 50 }, () => failure(client.request('resources/read', { uri: 'file:///huge.bin' }))),
      );
      expect((await peakMemory(server)) - before).toBeLessThan(150 * MEBIBYTE);
    });
  });

  describe('answers URIs and values of any length', () => {
    const long = `file:///${'a'.repeat(200_000)}`;

    it.each(['resources/list', 'resources/read', 'resources/metadata', 'resources/directory/read'])(
      'in %s',
      async (method) => {
        const { text, status } = await post(server.url, 'modern', method, { uri: long });
        expect(status === 200 ? messageOf({ text, status, headers: {} }).error?.code : -32602).toBe(-32602);
        // An error may repeat the client's text, but not so often that two lengths could be compared.
        expect(text.length).toBeLessThan(3 * long.length);
      },
    );

    it('in resources/subscribe', async () => {
      await using legacy = await connectHttp('legacy', server);
      expect((await failure(legacy.request('resources/subscribe', { uri: long }))).code).toBe(-32602);
    });

    it('in subscriptions/listen', async () => {
      const stream = await client.client.listen({ resourceSubscriptions: [long, 'file:///a.txt'] });
      expect(stream.honoredFilter.resourceSubscriptions).toEqual(['file:///a.txt']);
      await stream.close();
    });

    const complete = (argument: object, more: object = {}): Promise<{ completion: { values: string[] } }> =>
      client.request('completion/complete', {
        ref: { type: 'ref/resource', uri: 'file:///{+path}' },
        argument,
        ...more,
      });

    it('in completions: nested arguments', async () => {
      for (const value of ['a/'.repeat(30_000), '%61/'.repeat(15_000), 'sub/'.repeat(15_000), '/'.repeat(60_000)]) {
        expect((await complete({ name: 'path', value })).completion.values).toEqual([]);
      }
    });

    it('in completions: long values, and long known values', async () => {
      expect((await failure(complete({ name: 'path', value: 'a'.repeat(200_000) }))).code).toBe(-32602);
      expect((await failure(complete({ name: 'x'.repeat(5_000), value: '' }))).code).toBe(-32602);
      const known = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 'v']));
      expect(
        (await complete({ name: 'path', value: 'a' }, { context: { arguments: known } })).completion.values,
      ).toEqual(['a.txt']);
    });

    it('in completions: at most a hundred suggestions [SEC-UTIL-5]', async () => {
      expect((await complete({ name: 'path', value: 'sub/' })).completion.values).toHaveLength(100);
    });
  });

  describe('keeps no memory for cursors [SEC-UTIL-1]', () => {
    it('however many there are: each is valid, in any order', async () => {
      const uri = 'file:///sub';
      const { nextCursor } = await client.request<{ nextCursor: string }>('resources/list', { uri });
      const cursors = new Set<string>();
      // The cursor after a first page may be the same again; each cursor after a later page is different.
      for (let round = 0; round < 101; round++) {
        const page = await client.request<{ nextCursor: string }>('resources/list', { uri, cursor: nextCursor });
        cursors.add(page.nextCursor);
      }
      expect(cursors.size).toBe(101);
      for (const cursor of [...cursors].reverse().slice(0, 50)) {
        const page = await client.request<{ resources: { name: string }[] }>('resources/list', { uri, cursor });
        expect(page.resources[0]?.name).toBe('200.txt');
      }
    });

    it.each([
      '',
      'x',
      'null',
      '\u0000',
      '💥'.repeat(100),
      'A'.repeat(60_000),
      Buffer.alloc(40_000, 1).toString('base64url'),
      `${Buffer.from([2, 255, 255, 255, 255]).toString('base64url')}${'A'.repeat(1_000)}`,
    ])('and refuses invalid ones: %#', async (cursor) => {
      expect((await failure(client.request('resources/list', { uri: 'file:///sub', cursor }))).code).toBe(-32602);
      expect((await failure(client.request('resources/list', { cursor }))).code).toBe(-32602);
      expect((await failure(client.request('resources/templates/list', { cursor }))).code).toBe(-32602);
    });

    it('and refuses one that is longer than any valid one', async () => {
      const cursor = 'A'.repeat(200_000);
      expect((await failure(client.request('resources/list', { cursor }))).code).toBe(-32602);
    });
  });

  describe('bounds subscriptions [SEC-RES-4]', () => {
    const uris = Array.from({ length: 1_500 }, (_, index) => spelling(index));

    // The test sends a thousand requests, so it has more time.
    it('of a session: the first one over the limit is told the limit', async () => {
      await using legacy = await connectHttp('legacy', server);
      const subscribe = (some: readonly string[]): Promise<unknown> =>
        Promise.all(some.map((uri) => legacy.request('resources/subscribe', { uri })));
      for (let at = 0; at < 950; at += 50) await subscribe(uris.slice(at, at + 50));
      // The watch of the list of resources, which every session has, may count as one.
      const { data } = await failure(subscribe(uris.slice(950, 1_001)));
      expect(data).toMatchObject({ reason: 'limited', limit: 1_000, retryable: true });
      for (const uri of uris.slice(0, 20)) await legacy.request('resources/unsubscribe', { uri });
      await legacy.request('resources/subscribe', { uri: uris[1_200] });
    }, 120_000);

    it('of a stream: those over the limit are left out of the acknowledged filter', async () => {
      const stream = await client.client.listen({ resourceSubscriptions: uris });
      expect(stream.honoredFilter.resourceSubscriptions?.length).toBe(1_000);
      await stream.close();
    });

    it('to missing resources cost no more than those to existing ones', async () => {
      const missing = Array.from({ length: 100_000 }, (_, index) => `file:///missing-${index}`);
      const stream = await client.client.listen({ resourceSubscriptions: missing });
      expect(stream.honoredFilter.resourceSubscriptions ?? []).toEqual([]);
      await stream.close();
    });
  });
});

/** One of many spellings of one URI. */
function spelling(index: number): string {
  const letters = [...'many-spellings.txt'].map((letter, bit) =>
    (index >>> bit) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter,
  );
  return `file:///${letters.join('')}`;
}

describe('a server with few sessions [SEC-RES-4]', () => {
  let folder: Folder;
  let server: ListeningProgram;

  beforeEach(async () => {
    folder = await temporaryFolder({ 'files/a.txt': 'hello' });
    const limits = { maxSessions: 3, sessionIdleSeconds: 1, maxStreams: 2 };
    server = await startProgram([await writeConfig(folder, { mounts: { files: './files' }, limits })]);
  });

  afterEach(async () => {
    await server.stop();
    await folder[Symbol.asyncDispose]();
  });

  const initialize = (): ReturnType<typeof post> => post(server.url, 'legacy', 'initialize', INITIALIZE);
  const sessionOf = ({ headers }: Awaited<ReturnType<typeof post>>): string => String(headers['mcp-session-id']);

  it('opens no more sessions than allowed when many are requested at once', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, initialize));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused).toHaveLength(27);
    expect(refused[0]?.headers['retry-after']).toBeDefined();
  });

  it('has room again when the open sessions are not used', async () => {
    await Promise.all(Array.from({ length: 3 }, initialize));
    expect((await initialize()).status).toBe(503);
    await until(async () => (await initialize()).status === 200, 'room for a session');
  });

  it('can end a session although it has refused streams', async () => {
    const session = sessionOf(await initialize());
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
    for (const accept of ['application/json', 'text/html', '*/*']) {
      const { status } = await http(server.url, { method: 'GET', headers: { ...headers, accept } });
      expect(status).toBe(406);
    }
    const ended = async (): Promise<boolean> => {
      // Checked over another session, because a request in this one would count as use.
      const answers = await Promise.all(Array.from({ length: 3 }, initialize));
      return answers.every(({ status }) => status === 200);
    };
    await until(ended, 'the end of the session');
    expect(
      (await http(server.url, { method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })).status,
    ).toBe(404);
  });

  it('opens no more streams than allowed, and more when one has ended', async () => {
    await using client = await connectHttp('modern', server);
    const listen = (): ReturnType<typeof client.client.listen> => client.client.listen({ resourcesListChanged: true });
    const first = await listen();
    await listen();
    await expect(listen()).rejects.toThrow('limit');
    await first.close();
    await until(
      () =>
        listen().then(
          () => true,
          () => false,
        ),
      'room for a stream',
    );
  });
});

describe('a server with many concurrent requests', () => {
  it('answers all of them', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'hello' });
    await using server = await startProgram([folder.path]);
    await using client = await connectHttp('modern', server);
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        client.request<{ contents: { text: string }[] }>('resources/read', { uri: 'file:///a.txt' }),
      ),
    );
    expect(new Set(answers.map(({ contents }) => contents[0]?.text))).toEqual(new Set(['hello']));
    const wrong = await Promise.all(
      Array.from({ length: 200 }, () => http(server.url, { headers: { ...JSON_HEADERS, ...MODERN }, body: '{' })),
    );
    expect(new Set(wrong.map(({ status }) => status))).toEqual(new Set([400]));
  });
});
