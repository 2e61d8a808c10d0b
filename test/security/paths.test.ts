/** No URI leads out of the folder or to hidden files: not to their contents, names and sizes, nor to the path of the folder. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import { ResourceError, toWireError } from '../../src/core/errors.ts';
import { type Connected, connectHttp, ERAS, type Era, type Listening, startHttp } from '../e2e/harness.ts';
import { collectNotices, subscribe } from '../e2e/notices.ts';
import { ENVELOPE, http, JSON_HEADERS } from '../e2e/raw.ts';
import { ALIASES, ATTACKS, attacksOn, MOUNT_ALIASES, MOUNT_ATTACKS } from './corpus.ts';
import { TRAVERSALS } from './corpus-traversals.ts';
import { startQuiet } from './quiet.ts';
import { MARKER, makeScene, type Scene, SHOWN } from './scene.ts';
import { type Served, serve } from './served.ts';

let scene: Scene;

beforeAll(async () => {
  scene = await makeScene();
});

afterAll(() => scene[Symbol.asyncDispose]());

/** Requests under way at the same time. */
const CONCURRENCY = 16;

async function forEach<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const workers = Array.from({ length: CONCURRENCY }, async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
  });
  await Promise.all(workers);
}

/** Gives the text to type into a completion for a URI. */
const typed = (uri: string): string => uri.replace(/^[a-z+]*:\/{0,3}/i, '');

describe('the corpus', () => {
  it('has the expected size, and each of its URIs once', () => {
    expect(ATTACKS.length).toBeGreaterThan(400);
    expect(TRAVERSALS.length).toBeGreaterThan(2_000);
    expect(new Set(ATTACKS).size).toBe(ATTACKS.length);
  });
});

describe('the scene', () => {
  it('detects leaks in every form that an answer may have', () => {
    expect(scene.leaks('{"text":"content of a.txt"}')).toEqual([]);
    expect(scene.leaks(`{"text":"${MARKER}"}`)).toEqual([MARKER]);
    expect(scene.leaks(`{"blob":"${Buffer.from(`x${MARKER}x`).toString('base64')}"}`)).toEqual([MARKER]);
    expect(scene.leaks(`{"message":"ENOENT: ${scene.root}"}`)).toContain(scene.parent.path);
    expect(scene.leaks(`{"uri":"file://${scene.root}"}`, `file://${scene.root}`)).toEqual([]);
  });
});

describe('a provider [SEC-RES-1] (CVE-2025-53110)', () => {
  let served: Served;

  beforeAll(async () => {
    served = await serve({ path: scene.root });
  });

  afterAll(() => served[Symbol.asyncDispose]());

  const operations: Readonly<Record<string, (uri: string) => Promise<unknown>>> = {
    list: (uri) => served.list(uri),
    read: (uri) => served.bytes(uri),
    'read of a window': (uri) => served.bytes(uri, { range: { offset: 0, length: 10 } }),
    metadata: (uri) => served.metadata(uri),
  };

  it.each(Object.keys(operations))('refuses every attack on %s, with an error that reveals nothing', async (name) => {
    await forEach([...ATTACKS, ...TRAVERSALS, ...attacksOn(scene.parent.path)], async (uri) => {
      const outcome = await operations[name]?.(uri).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      expect(outcome, `${name} ${uri.slice(0, 200)}`).toHaveProperty('error');
      const error = outcome !== undefined && 'error' in outcome ? outcome.error : undefined;
      expect(error, uri.slice(0, 200)).toBeInstanceOf(ResourceError);
      expect((error as ResourceError).code, uri.slice(0, 200)).toMatch(/^(?:not-found|invalid)$/);
      expect(scene.leaks(JSON.stringify(toWireError(error)), uri), uri.slice(0, 200)).toEqual([]);
    });
  });

  it('watches nothing outside, and nothing hidden', async () => {
    const told: string[] = [];
    const handles: AsyncDisposable[] = [];
    await forEach([...ATTACKS, ...attacksOn(scene.parent.path)], async (uri) => {
      // A file that does not exist yet may be watched. Changes outside, and of hidden files, must not be reported.
      const handle = await served.provider.watch?.(uri, () => told.push(uri), createContext()).catch(() => undefined);
      if (handle !== undefined) handles.push(handle);
    });
    for (const path of [
      'secret.txt',
      'a.txt',
      'root-secret/secret.txt',
      'root-secret/a.txt',
      'root/.env',
      'root/.git/config',
      'root/server.pem',
    ]) {
      await scene.parent.write(path, `${MARKER}\n`);
    }
    await using quiet = await startQuiet();
    await quiet.settled();
    expect(told).toEqual([]);
    await Promise.all(handles.map((handle) => handle[Symbol.asyncDispose]()));
  });

  it('completes only shown entries', async () => {
    await forEach([...ATTACKS, ...TRAVERSALS.slice(0, 500)], async (uri) => {
      const values = await served.complete(typed(uri)).catch((error: unknown) => [JSON.stringify(toWireError(error))]);
      expect(scene.leaks(JSON.stringify(values), uri), uri.slice(0, 200)).toEqual([]);
    });
    expect(await served.complete('')).toEqual(
      ['decoys/', 'guide/', 'a.txt', 'in', 'in-folder/', 'with space.txt'].sort(byKind),
    );
  });

  it.each(Object.entries(ALIASES))('knows %s as %s', async (alias, uri) => {
    expect(await served.text(alias)).toBe(await served.text(uri));
    expect(await served.text(alias)).toBe(SHOWN[uri] ?? SHOWN[ALIASES[uri] ?? '']);
  });
});

/** Folders come first. A link to a folder is written like a folder, but sorted among the files. */
function byKind(a: string, b: string): number {
  const group = (name: string): number => (name === 'decoys/' || name === 'guide/' ? 0 : 1);
  return group(a) - group(b) || (a < b ? -1 : 1);
}

interface Answers {
  /** All bytes of the answer to a request. */
  readonly text: string;
  readonly refused: boolean;
}

/** One request through the SDK's client. If the client's own checks refuse it, it is sent raw instead. */
async function ask(client: Connected, url: string, method: string, params: Record<string, unknown>): Promise<Answers> {
  try {
    return { text: JSON.stringify(await client.request(method, params)), refused: false };
  } catch (error) {
    const { code, message, data } = error as { code?: unknown; message: string; data?: unknown };
    if (typeof code === 'number' && code < 0) return { text: JSON.stringify({ message, data }), refused: true };
    return bare(url, client.era, method, params);
  }
}

async function bare(url: string, era: Era, method: string, params: Record<string, unknown>): Promise<Answers> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: era === 'modern' ? { ...params, _meta: ENVELOPE } : params,
  });
  const name = typeof params.uri === 'string' ? `=?base64?${Buffer.from(params.uri).toString('base64')}?=` : '';
  const ofEra =
    era === 'modern'
      ? {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          ...(method === 'resources/read' && { 'mcp-name': name }),
        }
      : {};
  const { text, status } = await http(url, { headers: { ...JSON_HEADERS, ...ofEra }, body });
  return { text, refused: status !== 200 || /"error":/.test(text) };
}

describe.each(ERAS)('a server and a client of the %s era [SEC-RES-1] (CVE-2025-53110)', (era) => {
  let server: Listening;
  let client: Connected;

  beforeAll(async () => {
    server = await startHttp([scene.root]);
    client = await connectHttp(era, server);
  });

  afterAll(async () => {
    await client?.close();
    await server?.stop();
  });

  const methods = ['resources/list', 'resources/read', 'resources/metadata', 'resources/directory/read'];

  // Methods that are the same in both eras below the first layer are sent in one era only.
  it.each(era === 'legacy' ? ['resources/read', 'resources/subscribe'] : methods)(
    'refuse every attack on %s',
    async (method) => {
      await forEach([...ATTACKS, ...attacksOn(scene.parent.path)], async (uri) => {
        const { text, refused } = await ask(client, server.url, method, { uri });
        expect(refused, `${method} ${uri.slice(0, 200)}: ${text.slice(0, 200)}`).toBe(true);
        expect(scene.leaks(text, uri), `${method} ${uri.slice(0, 200)}`).toEqual([]);
      });
    },
  );

  if (era === 'modern')
    it('accept no attack on subscriptions/listen', async () => {
      const uris = [...ATTACKS, ...attacksOn(scene.parent.path)];
      for (let at = 0; at < uris.length; at += 100) {
        const some = [...uris.slice(at, at + 100), 'file:///a.txt'];
        const stream = await client.client.listen({ resourceSubscriptions: some });
        expect(stream.honoredFilter.resourceSubscriptions).toEqual(['file:///a.txt']);
        await stream.close();
      }
    });

  if (era === 'modern')
    it('complete only shown entries', async () => {
      const ref = { type: 'ref/resource', uri: 'file:///{+path}' };
      await forEach([...ATTACKS, ...attacksOn(scene.parent.path), ''], async (uri) => {
        const value = typed(uri);
        const { text } = await ask(client, server.url, 'completion/complete', {
          ref,
          argument: { name: 'path', value },
        });
        expect(scene.leaks(text, value), value.slice(0, 200)).toEqual([]);
      });
    });

  it('refuse templates that the server does not have', async () => {
    for (const uri of [
      'file:///{path}',
      'file:///{+path}/../x',
      'file:///../{+path}',
      '{+path}',
      'other:{+path}',
      '',
    ]) {
      const ref = { type: 'ref/resource', uri };
      const { text, refused } = await ask(client, server.url, 'completion/complete', {
        ref,
        argument: { name: 'path', value: '' },
      });
      expect(refused, uri).toBe(true);
      expect(scene.leaks(text, uri)).toEqual([]);
    }
  });

  it('show exactly the shown entries in every list', async () => {
    const pages: string[] = [];
    for (const params of [{}, { uri: 'file:///' }, { uri: 'file:///guide' }, { uri: 'file:///in-folder' }]) {
      pages.push(JSON.stringify(await client.request('resources/list', params)));
    }
    pages.push(JSON.stringify(await client.request('resources/read', { uri: 'file:///' })));
    pages.push(JSON.stringify(await client.request('resources/templates/list')));
    expect(scene.leaks(pages.join('\n'))).toEqual([]);
    const first = JSON.parse(pages[0] ?? '') as { resources: { uri: string }[] };
    const listed = first.resources.map(({ uri }) => uri).sort();
    const folders = [
      'file:///',
      'file:///guide',
      'file:///guide/deep',
      'file:///decoys',
      'file:///decoys/%252e%252e',
      'file:///decoys/%252E%252e',
    ];
    const linked = [
      'file:///in',
      'file:///in-folder',
      'file:///in-folder/deep',
      'file:///in-folder/intro.md',
      'file:///in-folder/deep/x.txt',
    ];
    expect(listed).toEqual([...Object.keys(SHOWN), ...folders, ...linked].sort());
  });

  it('read every other spelling as the resource that it spells', async () => {
    await forEach(Object.entries(ALIASES), async ([alias, uri]) => {
      const { contents } = await client.request<{ contents: { uri: string; text: string }[] }>('resources/read', {
        uri: alias,
      });
      const same = await client.request<{ contents: { text: string }[] }>('resources/read', { uri });
      expect(contents.map((item) => item.text)).toEqual(same.contents.map((item) => item.text));
      expect(contents[0]?.uri).toBe(alias);
    });
  });

  it('refuse texts that are no URIs', async () => {
    for (const uri of [
      null,
      17,
      true,
      {},
      [],
      ['file:///a.txt'],
      { toString: 'file:///a.txt' },
      '\ud800',
      'file:///\udfff',
    ]) {
      for (const method of methods) {
        const { text, refused } = await bare(server.url, 'modern', method, { uri: uri as string });
        expect(refused, `${method} ${JSON.stringify(uri)}`).toBe(true);
        expect(scene.leaks(text)).toEqual([]);
      }
    }
  });

  it('do not reveal the path of the folder in notices of changes', async () => {
    await using other = await connectHttp(era, server);
    await subscribe(other, ['file:///a.txt', 'file:///']);
    const notices = await collectNotices(other);
    await scene.parent.write('root/a.txt', 'content of a.txt');
    await notices.told('file:///a.txt');
    expect(scene.leaks(JSON.stringify(other.received))).toEqual([]);
  });

  it('write nothing hidden to the output of the server', () => {
    expect(server.output()).not.toContain(MARKER);
  });
});

describe('two mounts [SEC-RES-1]', () => {
  let server: Listening;
  let client: Connected;

  beforeAll(async () => {
    server = await startHttp([scene.parent.at('docs'), scene.parent.at('data')]);
    client = await connectHttp('modern', server);
  });

  afterAll(async () => {
    await client?.close();
    await server?.stop();
  });

  it.each(MOUNT_ATTACKS)('refuse %j', async (uri) => {
    for (const method of ['resources/list', 'resources/read', 'resources/metadata', 'resources/directory/read']) {
      const { text, refused } = await ask(client, server.url, method, { uri });
      expect(refused, `${method}: ${text}`).toBe(true);
      expect(scene.leaks(text, uri)).toEqual([]);
    }
    const stream = await client.client.listen({ resourceSubscriptions: [uri] });
    expect(stream.honoredFilter.resourceSubscriptions ?? []).toEqual([]);
    await stream.close();
  });

  it.each(Object.entries(MOUNT_ALIASES))('know %s as %s', async (alias, uri) => {
    const { resource } = await client.request<{ resource: object }>('resources/metadata', { uri: alias });
    expect(resource).toMatchObject({ uri, name: 'a.txt' });
    const { contents } = await client.request<{ contents: { text: string }[] }>('resources/read', { uri: alias });
    expect(contents[0]?.text).toBe('content of a.txt');
  });

  it('keep resources of the same name apart', async () => {
    for (const [uri, text] of [
      ['docs+file:///a.txt', 'content of a.txt'],
      ['data+file:///a.txt', 'content of the other a.txt'],
    ]) {
      const { contents } = await client.request<{ contents: { text: string }[] }>('resources/read', { uri });
      expect(contents[0]?.text).toBe(text);
    }
  });
});
