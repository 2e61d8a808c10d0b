/** Resources to files: which are requested, which are written, and which stay unchanged. */
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createResourceClient } from '../../../src/client/index.ts';
import { type GetEntry, type GetOptions, type GetReport, getResources } from '../../../src/client/node/index.ts';
import { createVitrine, serveHttp } from '../../../src/index.ts';
import { filesProvider } from '../../../src/providers/files/index.ts';
import { ERAS } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import { type Answers, eraOf, refusal, type Scripted, scripted } from '../scripted.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-get-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const target = (): string => join(folder, 'target');
const textOf = (path: string): Promise<string> => readFile(join(target(), path), 'utf8');

/** All files below the target, except those of `get` itself. */
async function filesIn(at = target()): Promise<readonly string[]> {
  const found = await readdir(at, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(at.length + 1))
    .filter((path) => !path.startsWith('.vitrine-get'))
    .sort();
}

interface Content {
  text?: string;
  blob?: string;
  lastModified?: string;
  size?: number;
}

/** A server with these resources in a flat list. */
const flat = (contents: Readonly<Record<string, Content>>): Answers => ({
  'resources/list': () => ({
    resources: Object.entries(contents).map(([uri, { lastModified, size }]) => ({
      uri,
      name: uri,
      ...(lastModified !== undefined && { annotations: { lastModified } }),
      ...(size !== undefined && { size }),
    })),
  }),
  'resources/read': ({ uri }) => {
    const found = contents[String(uri)];
    if (found === undefined) throw refusal(-32_602);
    const { text, blob } = found;
    return { contents: [{ uri, ...(text !== undefined && { text }), ...(blob !== undefined && { blob }) }] };
  },
});

interface Got {
  readonly report: GetReport;
  readonly entries: readonly GetEntry[];
}

async function get(
  server: Scripted,
  start?: string | readonly string[],
  options: GetOptions = {},
  era: (typeof ERAS)[number] = 'modern',
): Promise<Got> {
  await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
  const entries: GetEntry[] = [];
  const report = await getResources(resources, start, target(), {
    ...options,
    onEntry: (entry) => entries.push(entry),
  });
  return { report, entries };
}

describe.each(ERAS)('from a server of the %s era', (era) => {
  it('everything is written, text and bytes unchanged', async () => {
    const blob = Buffer.from([0, 255, 128, 10]).toString('base64');
    await using server = await scripted(flat({ 'x:///a/note.txt': { text: 'süß\r\n' }, 'x:///b.bin': { blob } }));
    const { report } = await get(server, undefined, {}, era);
    expect(report).toMatchObject({ written: 2, unchanged: 0, failed: 0, complete: true, gone: [], bytes: 11 });
    expect(await filesIn()).toEqual(['x/a/note.txt', 'x/b.bin']);
    expect(await textOf('x/a/note.txt')).toBe('süß\r\n');
    expect([...(await readFile(join(target(), 'x/b.bin')))]).toEqual([0, 255, 128, 10]);
  });
});

describe('a second run', () => {
  it('requests only resources that have changed, or whose time of change the server does not give', async () => {
    const contents: Record<string, Content> = {
      'x:///said': { text: 'one', lastModified: '2026-01-01T00:00:00Z' },
      'x:///unsaid': { text: 'two' },
    };
    await using server = await scripted(flat(contents));
    await get(server);
    const before = await stat(join(target(), 'x/unsaid'));
    expect(server.count('resources/read')).toBe(2);
    expect((await get(server)).report).toMatchObject({ written: 0, unchanged: 2, complete: true });
    // The metadata of one show that it is unchanged. The other one is requested, and not written again.
    expect(server.count('resources/read')).toBe(3);
    expect((await stat(join(target(), 'x/unsaid'))).mtimeMs).toBe(before.mtimeMs);
    contents['x:///said'] = { text: 'more', lastModified: '2026-01-02T00:00:00Z' };
    contents['x:///unsaid'] = { text: 'two!' };
    expect((await get(server)).report).toMatchObject({ written: 2, unchanged: 0 });
    expect(await textOf('x/said')).toBe('more');
    expect(await textOf('x/unsaid')).toBe('two!');
    expect((await get(server, undefined, { fresh: true })).report).toMatchObject({ unchanged: 2 });
    expect(server.count('resources/read')).toBe(3 + 2 + 2);
    delete contents['x:///said'];
    expect((await get(server)).report.gone).toEqual(['x/said']);
    expect(await textOf('x/said')).toBe('more');
  });

  it('goes on after an interruption', async () => {
    const contents = Object.fromEntries(
      Array.from({ length: 10 }, (_, at): [string, Content] => [`x:///${at}`, { text: `number ${at}` }]),
    );
    await using server = await scripted(flat(contents));
    const controller = new AbortController();
    const stop = ({ uri }: GetEntry): void => {
      if (uri === 'x:///4') controller.abort(new Error('enough'));
    };
    await using resources = createResourceClient({ url: server.url });
    const options = { signal: controller.signal, concurrency: 1, onEntry: stop };
    await expect(getResources(resources, undefined, target(), options)).rejects.toThrow('enough');
    const reads = server.count('resources/read');
    expect(reads).toBeLessThan(10);
    // An incomplete line is ignored.
    const manifest = join(target(), '.vitrine-get/manifest.jsonl');
    await writeFile(manifest, `${await readFile(manifest, 'utf8')}{"uri":"x:///9","pa`);
    await writeFile(join(target(), '.vitrine-get/part-left-over'), 'half');
    const { report } = await get(server);
    expect(report).toMatchObject({ written: 5, unchanged: 5, complete: true });
    expect(server.count('resources/read') - reads).toBe(5);
    expect((await readdir(join(target(), '.vitrine-get'))).sort()).toEqual(['manifest.jsonl']);
    expect(await filesIn()).toHaveLength(10);
  });

  it('is refused in the folder of the first one if it is for other resources', async () => {
    await using server = await scripted(flat({ 'x:///a': { text: 'a' } }));
    await get(server);
    await expect(get(server, 'x:///a')).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('holds'),
    });
  });
});

describe('a folder that cannot be made', () => {
  it.each([
    ['a file', 'file', 'a file is in the way'],
    ['a folder in a file', 'file/x/y', 'a file is in the way'],
    ['a link to nothing', 'link', 'a file is in the way'],
    ['a folder in /proc', '/proc/nope/x', 'the file system refuses it (ENOENT)'],
  ])('is refused at once: %s', async (_what, path, why) => {
    await writeFile(join(folder, 'file'), '');
    await symlink('nowhere', join(folder, 'link'));
    await using server = await scripted(flat({ 'x:///a': { text: 'a' } }));
    await using resources = createResourceClient({ url: server.url });
    const to = resolve(folder, path);
    const refused = { code: 'invalid', message: expect.stringMatching(`^The folder .* cannot be made: `) };
    await expect(getResources(resources, undefined, to)).rejects.toMatchObject(refused);
    await expect(getResources(resources, undefined, to)).rejects.toThrow(why);
  });

  it('is made with its parents otherwise', async () => {
    await using server = await scripted(flat({ 'x:///a': { text: 'a' } }));
    await using resources = createResourceClient({ url: server.url });
    expect(await getResources(resources, undefined, join(folder, 'b/c/d'))).toMatchObject({ written: 1 });
  });
});

describe('an existing file in the folder', () => {
  const one = { 'x:///a': { text: 'of the server' } };

  it('is not mixed with downloaded ones, unless that is requested', async () => {
    await mkdir(target());
    await writeFile(join(target(), 'mine.txt'), 'mine');
    await using server = await scripted(flat(one));
    await expect(get(server)).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('not empty') });
    expect((await get(server, undefined, { force: true })).report.written).toBe(1);
    expect(await filesIn()).toEqual(['mine.txt', 'x/a']);
  });

  it('is overwritten only with `force` if others wrote or changed it, and a folder not even then', async () => {
    await using server = await scripted(flat({ ...one, 'x:///b': { text: 'b' } }));
    await get(server);
    await writeFile(join(target(), 'x/a'), 'of somebody else');
    await rm(join(target(), 'x/b'));
    await mkdir(join(target(), 'x/b'));
    const { report, entries } = await get(server);
    expect(report).toMatchObject({ failed: 2, written: 0, complete: false });
    expect(entries.map(({ reason }) => reason)).toEqual(
      Array(2).fill('A file or folder that get has not written is in the way'),
    );
    expect(await textOf('x/a')).toBe('of somebody else');
    // Not even `force` removes a folder.
    expect((await get(server, undefined, { force: true })).report).toMatchObject({ written: 1, failed: 1 });
    expect(await textOf('x/a')).toBe('of the server');
  });

  it('that is a link to outside is not followed: links to files and folders', async () => {
    const outside = join(folder, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'secret'), 'as it was');
    await using server = await scripted(flat({ 'x:///a': { text: 'new' }, 'y:///b': { text: 'new' } }));
    await get(server);
    await rm(join(target(), 'x/a'));
    await symlink(join(outside, 'secret'), join(target(), 'x/a'));
    await rm(join(target(), 'y'), { recursive: true });
    await symlink(outside, join(target(), 'y'));
    expect((await get(server)).report).toMatchObject({ failed: 2, written: 0 });
    // `force` replaces the link, and not its target.
    expect((await get(server, undefined, { force: true })).report).toMatchObject({ failed: 1, written: 1 });
    expect(await textOf('x/a')).toBe('new');
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('as it was');
    expect(await readdir(outside)).toEqual(['secret']);
  });

  it('lies in a folder that one run at a time writes', async () => {
    await using server = await scripted(flat(one));
    await get(server);
    await writeFile(join(target(), '.vitrine-get/lock'), String(process.ppid));
    await expect(get(server)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('Another run'),
    });
    // A process that has ended holds no lock.
    await writeFile(join(target(), '.vitrine-get/lock'), '999999999');
    expect((await get(server)).report.unchanged).toBe(1);
  });
});

describe('names of a hostile server', () => {
  it('stay in the folder, and each has its own file', async () => {
    const uris = [
      'x:///../../../escaped',
      'x:///%2e%2e/%2e%2e/escaped',
      'x:///..%2f..%2fescaped',
      'x:///..\\..\\escaped',
      'x:////etc/escaped',
      'x:///C:/escaped',
      'x:///a%00escaped',
      'x:///.vitrine-get/manifest.jsonl',
      'x:///CON',
      'x:///Readme.md',
      'x:///README.md',
      'x:///caf%C3%A9',
      'x:///cafe%CC%81',
      // A resource that is a container, too.
      'x:///both',
      'x:///both/below',
      `x:///${'long'.repeat(200)}`,
      `x:///${'deep/'.repeat(300)}end`,
      '../../../escaped',
      '/etc/escaped',
    ];
    const contents = Object.fromEntries(uris.map((uri): [string, Content] => [uri, { text: `of ${uri}` }]));
    await using server = await scripted(flat(contents));
    const { report, entries } = await get(server);
    expect(report).toMatchObject({ written: uris.length, failed: 0, complete: true });
    expect(await readdir(folder)).toEqual(['target']);
    const files = await filesIn();
    expect(new Set(files.map((path) => path.normalize('NFKC').toLowerCase())).size).toBe(uris.length);
    // The report and the manifest name the resource of each file.
    for (const { uri, path = '' } of entries) expect(await textOf(path)).toBe(`of ${uri}`);
    expect((await get(server)).report).toMatchObject({ unchanged: uris.length, written: 0 });
  });
});

describe('limits', () => {
  it('of one resource are checked before decoding, and those of all resources are kept', async () => {
    const blob = Buffer.alloc(3_000).toString('base64');
    await using server = await scripted(
      flat({
        'x:///a': { text: 'small' },
        'x:///b': { blob },
        'x:///c': { text: 'x', size: 5_000 },
        'x:///d': { blob },
      }),
    );
    const { report, entries } = await get(server, undefined, { maxBytes: 1_000 });
    expect(report).toMatchObject({ written: 1, failed: 3, bytes: 5, complete: false });
    expect(entries.filter(({ status }) => status === 'failed').map(({ code }) => code)).toEqual(
      Array(3).fill('too-large'),
    );
    // A resource with a larger declared size is not read.
    expect(server.count('resources/read')).toBe(3);
    const all = await get(server, undefined, { maxTotalBytes: 4_000, concurrency: 1 });
    expect(all.report).toMatchObject({ overTotal: true, complete: false });
    expect(await filesIn()).toEqual(['x/a', 'x/b', 'x/c']);
    const some = await get(server, undefined, { maxResources: 2 });
    expect(some.report).toMatchObject({ found: 2, stopped: { 'max-resources': 1 }, complete: false, gone: [] });
  });

  it('of concurrent reads are kept', async () => {
    const contents = Object.fromEntries(
      Array.from({ length: 30 }, (_, at): [string, Content] => [`x:///${at}`, { text: 'x' }]),
    );
    const answers = flat(contents);
    let now = 0;
    let most = 0;
    const slow: Answers = {
      ...answers,
      'resources/read': async (params, signal) => {
        most = Math.max(most, ++now);
        // The first one is answered only after the second one has come.
        await until(() => most > 1, 'a second read');
        now--;
        return answers['resources/read']?.(params, signal) ?? {};
      },
    };
    await using server = await scripted(slow);
    expect((await get(server, undefined, { concurrency: 3 })).report.written).toBe(30);
    expect(most).toBeLessThanOrEqual(3);
  });

  it('a server that ends in between makes the run fail as unavailable', async () => {
    const contents = Object.fromEntries(
      Array.from({ length: 100 }, (_, at): [string, Content] => [`x:///${at}`, { text: 'x' }]),
    );
    const server = await scripted(flat(contents));
    await using resources = createResourceClient({ url: server.url });
    let gone: PromiseLike<void> | undefined;
    const onEntry = (): void => {
      gone ??= server[Symbol.asyncDispose]();
    };
    const got = getResources(resources, undefined, target(), { concurrency: 2, onEntry });
    await expect(got).rejects.toMatchObject({ code: 'unavailable' });
    await gone;
  });
});

describe.each(ERAS)('from a Vitrine, in the %s era', (era) => {
  it('a subtree is written as a folder of the same structure, and large files are read in pieces', async () => {
    const source = join(folder, 'source');
    await mkdir(join(source, 'guide/deep'), { recursive: true });
    // Characters of several bytes lie at the ends of pieces.
    const large = 'ü€😀'.repeat(600_000);
    await writeFile(join(source, 'guide/large.txt'), large);
    const bytes = Buffer.alloc(5 * 1024 * 1024, Buffer.from([0, 1, 2, 255, 254, 7, 9]));
    await writeFile(join(source, 'guide/deep/large.bin'), bytes);
    await writeFile(join(source, 'guide/odd #%41.md'), '# odd\n');
    await writeFile(join(source, 'elsewhere.txt'), 'not wanted');
    const provider = await filesProvider({ path: source });
    const vitrine = createVitrine({ mounts: [{ name: 'docs', provider, prefix: 'none' }] });
    const serving = await serveHttp(vitrine, { port: 0 });
    try {
      let windows = 0;
      const counting: typeof fetch = (url, init) => {
        if (String(init?.body).includes('vitrine/range')) windows++;
        return fetch(url, init);
      };
      await using resources = createResourceClient({ url: serving.url, fetch: counting, ...eraOf[era] });
      const report = await getResources(resources, 'file:///guide', target());
      expect(report).toMatchObject({ written: 3, failed: 0, complete: true });
      expect(windows).toBe(4);
      expect(await filesIn()).toEqual(['deep/large.bin', 'large.txt', 'odd #%41.md']);
      expect((await textOf('large.txt')) === large).toBe(true);
      expect((await readFile(join(target(), 'deep/large.bin'))).equals(bytes)).toBe(true);
      const again = await getResources(resources, 'file:///guide', target());
      expect(again).toMatchObject({ unchanged: 3, written: 0, bytes: 0 });
    } finally {
      await serving.close();
      await vitrine.close();
    }
  });
});
