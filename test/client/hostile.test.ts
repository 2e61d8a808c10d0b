/** A server that is hostile in every way, in both eras: it does no harm, and exhausts no resource. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JSDOM } from 'jsdom';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guardSampling, guardTools, type ToolReview } from '../../src/client/guards/index.ts';
import { createResourceClient, type ResourceClient } from '../../src/client/index.ts';
import { checkContents, createSanitizer, forTerminal, renderingOf } from '../../src/client/safety/index.ts';
import { UNSAFE } from '../cli/client/odd.ts';
import { run } from '../cli/client/run.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { type Connected, ERAS } from '../e2e/harness.ts';
import { askedBy, connectHostile, HOSTILE_SERVER, recorder, textOf } from './guards/hostile.ts';
import { all } from './scripted.ts';

describe.each(ERAS)('a hostile server of the %s era', (era) => {
  /** As on a command line. */
  const SERVER = `"${process.execPath}" "${HOSTILE_SERVER}" ${era}`;
  let connected: Connected;
  let resources: ResourceClient;
  beforeAll(async () => {
    connected = await connectHostile(era);
    resources = createResourceClient(connected.client);
  });
  afterAll(async () => {
    await resources.close();
    await connected.close();
  });

  /** Calls one of its tools, and parses the text of the result. */
  const ask = async (name: string): Promise<unknown> => JSON.parse(textOf(await connected.client.callTool({ name })));

  /** How many pages of lists were requested meanwhile. */
  async function pagesFor(work: () => Promise<void>): Promise<number> {
    const before = Number(await ask('pages'));
    await work();
    return Number(await ask('pages')) - before;
  }

  const contentsOf = async (name: string) => (await resources.read(`evil:///${name}`)).primary?.contents ?? {};

  it('endless pages: only as many are requested as were wanted [2093-10]', async () => {
    const empty = resources.list('evil:///endless', { maxPages: 20 });
    expect(await pagesFor(async () => expect(await all(empty)).toEqual([]))).toBe(20);
    expect(empty.report).toMatchObject({ stopped: 'max-pages', pages: 20 });
    const full = resources.list('evil:///more', { maxResources: 5 });
    expect(await pagesFor(async () => expect(await all(full)).toHaveLength(5))).toBe(3);
    expect(full.report).toMatchObject({ stopped: 'max-resources', pages: 3, resources: 5 });
  });

  it('cursor loops: a repeated cursor ends the list [2093-10, SEC-UTIL-6]', async () => {
    const listing = resources.list('evil:///loop');
    expect(await pagesFor(async () => expect(await all(listing)).toHaveLength(4))).toBe(4);
    expect(listing.report.stopped).toBe('repeated-cursor');
    const walk = resources.walk('evil:///loop');
    await all(walk);
    expect(walk.report).toMatchObject({ stopped: { 'repeated-cursor': 1 }, complete: false });
  });

  it('cycles: each container is listed once, in whatever spelling [2093-10]', async () => {
    const walk = resources.walk('evil:///a');
    const asked = await pagesFor(async () => {
      const found = await all(walk);
      expect(found.map(({ resource }) => resource.uri)).toEqual(['evil:///b', 'evil:///c', 'evil:///%61/']);
    });
    expect(asked).toBe(4);
    expect(walk.report.stopped.visited).toBe(4);
    expect(walk.report.complete).toBe(true);
  });

  it('unbounded trees: a walk stops at a depth, and at a number of entries [2093-10]', async () => {
    const deep = resources.walk('evil:///tree', { maxDepth: 3 });
    expect(await all(deep)).toHaveLength(2 + 4 + 8);
    expect(deep.report).toMatchObject({ stopped: { 'max-depth': 8 }, containers: 7, complete: false });
    expect(deep.report.stops[0]).toEqual({ reason: 'max-depth', uri: 'evil:///tree/left/left/left', depth: 3 });
    const told: string[] = [];
    const many = resources.walk('evil:///tree', { maxResources: 100, onStop: ({ reason }) => told.push(reason) });
    const asked = await pagesFor(async () => expect(await all(many)).toHaveLength(100));
    expect(many.report).toMatchObject({ resources: 100, stopped: { 'max-resources': 1 }, complete: false });
    expect(told).toEqual(['max-resources']);
    // Some more are requested ahead.
    expect(asked).toBeLessThanOrEqual(50 + 4);
  });

  it('huge base64: is refused without being decoded [SEC-RES-3]', async () => {
    const mebi = 1024 * 1024;
    const tooLarge = { code: 'too-large' };
    await expect(resources.read('evil:///huge.bin', { maxBytes: mebi })).rejects.toMatchObject(tooLarge);
    // The client cuts a window from the whole contents, unless these are far larger than `maxBytes`.
    const range = { length: 10 };
    await expect(resources.read('evil:///huge.bin', { maxBytes: 1_000, range })).rejects.toMatchObject(tooLarge);
    expect((await resources.read('evil:///huge.bin', { range })).primary?.bytes()).toHaveLength(10);
    const printed = await run(['cat', SERVER, 'evil:///huge.bin', '--max-bytes', '1M']);
    expect(printed.stdout).toBe('');
    expect(printed.status).not.toBe(0);
  });

  it('lying MIME types: contents are shown by their real type [SEC-RES-6, SEC-RES-7]', async () => {
    const seen: Record<string, unknown> = {};
    for (const name of ['page.png', 'page.txt', 'program.txt', 'picture.png']) {
      const checked = await checkContents(await contentsOf(name));
      seen[name] = [checked.mimeType, renderingOf(checked).as];
    }
    expect(seen).toEqual({
      'page.png': ['text/plain', 'text'],
      'page.txt': ['text/plain', 'text'],
      'program.txt': ['application/x-elf', 'download'],
      'picture.png': ['image/png', 'image'],
    });
  });

  it('script in SVG and HTML: removed [SEC-RES-7]', async () => {
    const { toSafeHtml, toSafeSvg } = await createSanitizer({ window: new JSDOM('').window });
    const page = await checkContents(await contentsOf('page.html'));
    expect(toSafeHtml(page.text ?? '')).toBe('<h1>Tides</h1><img><a>more</a>');
    const drawing = await checkContents(await contentsOf('drawing.svg'));
    expect(toSafeSvg(drawing.text ?? '')).toBe('<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"></circle></svg>');
  });

  it('escapes in names: none of them reaches a terminal [SEC-RES-7]', async () => {
    const listed = await all(resources.list());
    expect(listed.flatMap(({ name, title = '' }) => [name, title]).every((each) => UNSAFE.test(each))).toBe(true);
    const shown = listed.flatMap(({ name, title = '' }) => [forTerminal(name), forTerminal(title)]);
    expect(shown).toEqual(['invoicefdp.exe root# ', 'invoicefdp.exe root# ']);
    const commands = [['ls', '-l'], ['tree'], ['stat', 'evil:///page.html']];
    for (const [command = '', ...rest] of commands) {
      const { stdout, stderr } = await run([command, SERVER, ...rest]);
      expect(stdout).toContain('invoice');
      expect(stdout + stderr).not.toMatch(UNSAFE);
    }
  });

  it('path-like names: files stay in the folder', async () => {
    await using folder = await temporaryFolder({ 'a/b/c/d/': '' });
    const to = folder.at('a/b/c/d/target');
    const { status, stdout } = await run(['get', SERVER, 'evil:///paths', '--to', to, '--json']);
    expect(status).toBe(0);
    expect(stdout).not.toMatch(UNSAFE);
    const found = await readdir(folder.path, { recursive: true, withFileTypes: true });
    const files = found.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(files.filter((path) => !path.startsWith(`${to}/`))).toEqual([]);
    expect(files.filter((path) => UNSAFE.test(path) || path.includes('\\'))).toEqual([]);
    // Each has its own file, with the server's content.
    const { resources: told } = JSON.parse(stdout) as { resources: { uri: string; path?: string; status: string }[] };
    const written = told.filter((each) => each.status === 'written');
    expect(new Set(written.map(({ path }) => path)).size).toBe(11);
    for (const { uri, path = '' } of written) expect(await readFile(join(to, path), 'utf8')).toBe(`of ${uri}`);
  });

  it('changing tool definitions: the user is asked again, even without a notification and with a cached list [SEC-TOOL-4]', async () => {
    await using other = await connectHostile(era);
    const { client } = other;
    const reviews: ToolReview[] = [];
    const { onEvent, told } = recorder();
    const tools = guardTools(client, {
      confirm: () => true,
      onEvent,
      approve(review) {
        reviews.push(review);
        return review.status === 'new';
      },
    });
    await tools.callTool({ name: 'greet' });
    await tools.callTool({ name: 'greet' });
    expect(reviews).toHaveLength(1);
    await client.callTool({ name: 'change' });
    expect((await tools.listTools()).find(({ name }) => name === 'greet')?.status).toBe('changed');
    const refused = { name: 'GuardRefusal', reason: 'not-approved' };
    await expect(tools.callTool({ name: 'greet' })).rejects.toMatchObject(refused);
    expect(reviews[1]).toMatchObject({ status: 'changed', changes: ['description'], hiddenText: true });
    expect(reviews[1]?.description).not.toContain('\u{e0041}');
    expect(told().slice(-2)).toEqual(['changed definition', 'refused not-approved']);
    expect(JSON.parse(textOf(await client.callTool({ name: 'seen' })))).toHaveLength(3);
  });

  it('sampling floods: neither the user nor the model is asked more often than agreed [SEC-SAMP-1]', async () => {
    let consents = 0;
    let sent = 0;
    const { onEvent, told } = recorder();
    const guarded = guardSampling(
      () => {
        sent++;
        return { role: 'assistant', model: 'test', content: { type: 'text', text: 'an answer' } };
      },
      {
        server: 'hostile',
        onEvent,
        approve: () => {
          consents++;
          return true;
        },
        budget: { requests: 3, concurrent: 2 },
      },
    );
    await using other = await connectHostile(era, {
      capabilities: { sampling: {} },
      prepare: (client) => client.setRequestHandler('sampling/createMessage', guarded),
    });
    const question = {
      method: 'sampling/createMessage',
      params: { messages: [{ role: 'user', content: { type: 'text', text: 'Pay me' } }], maxTokens: 100 },
    };
    const flood = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`q${index}`, question]));
    const answers = Object.values(await askedBy(other.client, flood)) as { error?: { message: string } }[];
    const refused = answers.filter(({ error }) => /too-(?:many-at-once|often)$/.test(error?.message ?? ''));
    expect(refused.length).toBeGreaterThanOrEqual(497);
    for (let time = 0; time < 5; time++) await askedBy(other.client, { more: question });
    expect(consents).toBeLessThanOrEqual(3);
    expect(sent).toBeLessThanOrEqual(3);
    expect(told()).toContain('refused too-often');
  });
});
