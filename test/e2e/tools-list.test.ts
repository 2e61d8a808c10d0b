/** Every tool does what `tools/list` says: the client checks each result against the schema. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallToolResult, ToolDescription } from '../../src/protocol/content.ts';
import { bytesOfPart, embeddedIn, type ListAnswer, structured, textOf, type WindowAnswer } from '../tools/engine.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, DIAGONAL, MATRIX, MUSEUM, MUSEUM_CONFIG } from './harness.ts';

/** The approximate bytes of definitions for one token. */
const BYTES_PER_TOKEN = 4;

const READING = ['list', 'list_templates', 'describe', 'read', 'read_embedded', 'search'];
const SUBSCRIBING = [
  'subscribe',
  'unsubscribe',
  'list_subscriptions',
  'subscribe_list_changes',
  'unsubscribe_list_changes',
];

/** Calls a tool with the client's typed method, which checks `structuredContent` if the tool has an output schema. */
async function call(on: Connected, name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
  const result = (await on.client.callTool({ name, arguments: args })) as unknown as CallToolResult;
  if (result.isError) throw new Error(textOf(result));
  return result;
}

const toolsOf = async (on: Connected): Promise<readonly ToolDescription[]> =>
  (await on.request<{ tools: readonly ToolDescription[] }>('tools/list')).tools;

describe.each(MATRIX)('tools over $transport, $era', ({ transport, era }) => {
  let museum: Connected;
  let described: readonly ToolDescription[];
  beforeAll(async () => {
    museum = await connect(transport, era, ['--config', MUSEUM_CONFIG, '--icons', 'on']);
    described = await toolsOf(museum);
    await museum.client.listTools();
  });
  afterAll(() => museum.close());

  it('are declared and listed, each with a title and a description [CB-2, CB-6, CB-8, SEC-CAP-1]', () => {
    expect(museum.client.getServerCapabilities()?.tools).toBeDefined();
    // The museum has skills.
    expect(described.map(({ name }) => name)).toEqual([...READING, 'skill', ...SUBSCRIBING]);
    for (const tool of described) {
      expect(tool).toMatchObject({ title: expect.any(String), description: expect.any(String) });
    }
  });

  it('have schemas that are JSON Schema 2020-12, and describe every argument [SEC-TOOL-1]', () => {
    const ajv = new Ajv2020({ strict: false });
    for (const { inputSchema, outputSchema } of described) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      for (const schema of [inputSchema, outputSchema ?? {}]) {
        expect(ajv.validateSchema(schema), JSON.stringify(ajv.errors)).toBe(true);
      }
      for (const property of Object.values((inputSchema.properties ?? {}) as object)) {
        expect(property).toMatchObject({ description: expect.any(String) });
      }
    }
    const promising = described.filter(({ outputSchema }) => outputSchema !== undefined).map(({ name }) => name);
    expect(promising).toEqual(['list', 'list_templates', 'describe', 'search', 'list_subscriptions']);
  });

  it('of one folder take at most 2,000 tokens of a model’s context', async () => {
    await using on = await connect(transport, era, [MUSEUM]);
    const definitions = await toolsOf(on);
    expect(definitions.map(({ name }) => name)).toEqual([...READING, ...SUBSCRIBING]);
    expect(Buffer.byteLength(JSON.stringify(definitions)) / BYTES_PER_TOKEN).toBeLessThanOrEqual(2_000);
  });

  it('include summarize only for clients that support sampling [SEC-SAMP-2]', async () => {
    const abilities = { capabilities: { sampling: {} } };
    await using on = await connect(transport, era, [MUSEUM], abilities);
    expect((await toolsOf(on)).map(({ name }) => name)).toEqual([...READING, 'summarize', ...SUBSCRIBING]);
  });

  it('declare that they change nothing, or only subscriptions', () => {
    for (const { name, annotations } of described) {
      expect(annotations).toMatchObject({ readOnlyHint: !/^(un)?subscribe/.test(name), openWorldHint: false });
    }
  });

  it('have icons that a client can show [973-2]', () => {
    for (const { icons = [] } of described) {
      expect(icons).toEqual([
        { src: expect.stringMatching(/^data:image\/svg\+xml;base64,/), mimeType: 'image/svg+xml', sizes: ['any'] },
      ]);
    }
  });

  it('lead from the list to the content of a resource [CB-2, CB-4]', async () => {
    const { resources } = structured<ListAnswer>(await call(museum, 'list', { uri: 'museum+file:///' }));
    const readme = resources.find(({ name }) => name === 'README.md');
    expect(readme).toMatchObject({ uri: 'museum+file:///README.md', mimeType: 'text/markdown' });
    const { resource } = structured<{ resource: object }>(await call(museum, 'describe', { uri: readme?.uri }));
    expect(resource).toEqual(readme);
    for (const name of ['read', 'read_embedded']) {
      const result = await museum.request<CallToolResult & Record<string, unknown>>('tools/call', {
        name,
        arguments: { uri: readme?.uri },
      });
      expect(textOf(result)).toContain(`museum+file:///README.md\ntext/markdown, ${readme?.size} bytes, about`);
      expect(embeddedIn(result)).toEqual([{ ...readme, text: expect.stringContaining('museum') }]);
    }
  });

  it('give the contents of resources/read, embedded [CB-4, 2093-1]', async () => {
    const uri = 'museum+file:///collection/clocks/index.md';
    const read = await museum.request<{ contents: { icons?: unknown; _meta?: object }[] }>('resources/read', { uri });
    const result = await museum.request<CallToolResult & Record<string, unknown>>('tools/call', {
      name: 'read_embedded',
      arguments: { uri },
    });
    // Icons by type are for people, and versions for clients that ask again. A model would only pay for them.
    const plain = read.contents.map(({ icons: _icons, _meta, ...item }) => {
      expect(Object.keys(_meta ?? {})).toEqual(['vitrine/version']);
      return item;
    });
    expect(embeddedIn(result)).toEqual(plain);
  });

  it('list by mount and prefix, page by page, to the end [CB-2]', async () => {
    const prefix = 'museum+file:///collection/';
    const found: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = structured<ListAnswer>(
        await call(museum, 'list', { mount: 'museum', prefix, ...(cursor !== undefined && { cursor }) }),
      );
      found.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    expect(found).toContain('museum+file:///collection/clocks/tick.wav');
    expect(found.every((uri) => uri.startsWith(prefix))).toBe(true);
    expect(new Set(found).size).toBe(found.length);
  });

  it('list templates with their variables [CB-2]', async () => {
    const result = await call(museum, 'list_templates');
    expect(result.structuredContent).toMatchObject({
      resourceTemplates: expect.arrayContaining([
        expect.objectContaining({
          uriTemplate: 'museum+file:///{+path}',
          inputSchema: expect.objectContaining({ required: ['path'] }),
        }),
      ]),
    });
  });

  it('return images and sounds as such, and nothing else as an image [CB-5, CB-7]', async () => {
    const types = async (uri: string, as?: string): Promise<string[]> => {
      const result = await call(museum, 'read', { uri: `museum+file:///${uri}`, ...(as !== undefined && { as }) });
      return result.content.map((block) => ('mimeType' in block ? `${block.type} ${block.mimeType}` : block.type));
    };
    expect(await types('guide/facade.webp')).toEqual(['text', 'image image/webp']);
    expect(await types('collection/typewriters/portable.jpg', 'plain')).toEqual(['image image/jpeg']);
    expect(await types('collection/clocks/tick.wav', 'plain')).toEqual([expect.stringMatching(/^audio audio\//)]);
    expect(await types('archive/letters.zip', 'plain')).toEqual(['text']);
    expect(await types('archive/not-really.png', 'plain')).toEqual(['text']);
    expect(await types('guide/leaflet.pdf', 'plain')).toEqual(['text']);
  });

  it('mix text, images and resources in one answer [CB-7]', async () => {
    const result = await call(museum, 'read', { uri: 'museum+file:///collection/clocks' });
    const types = new Set(result.content.map(({ type }) => type));
    expect([...types].sort()).toEqual(expect.arrayContaining(['image', 'resource', 'text']));
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(60_000);
  });

  it('say in one line that there are no subscriptions [CB-8]', async () => {
    for (const name of ['unsubscribe_list_changes', 'unsubscribe', 'list_subscriptions']) {
      const args = name === 'unsubscribe' ? { uri: 'museum+file:///README.md' } : {};
      expect(textOf(await call(museum, name, args))).toMatch(/not subscribed|No resource is subscribed to/);
    }
  });
});

describe.each(MATRIX)('windows by a tool over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  const text = 'a£–😀 naïve 日本語\n'.repeat(4_000);
  const bytes = Buffer.from(Array.from({ length: 60_000 }, (_, index) => (index * 7_919) % 251));
  beforeAll(async () => {
    folder = await temporaryFolder({ 'data/story.txt': text, 'data/noise.bin': bytes });
    server = await connect(transport, era, ['--config', await writeConfig(folder, { mounts: { data: './data' } })]);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  it.each([
    ['text', 'story.txt', Buffer.from(text), 25_000],
    ['bytes', 'noise.bin', bytes, 18_750],
  ])('put a large file together again, from the default window on: %s [CB-3]', async (_, name, whole, most) => {
    const uri = `data+file:///${name}`;
    const parts: Buffer[] = [];
    for (let offset = 0; offset < whole.byteLength; ) {
      const result = await call(server, 'read', offset === 0 ? { uri } : { uri, start_offset: offset });
      const { window, parts: given, total_parts } = structured<WindowAnswer>(result);
      expect({ window, total_parts }).toEqual({ window: { start_offset: offset, max_bytes: most }, total_parts: 1 });
      const [part] = given;
      if (part === undefined) throw new Error('the window has no part');
      expect(part.total_bytes).toBe(whole.byteLength);
      expect(part.bytes_returned).toBe(bytesOfPart(part).byteLength);
      // Text is in the content, too, for hosts that show it. Base64 is there once.
      const sizes = result.content.map((block) => (block.type === 'text' ? Buffer.byteLength(block.text) : Number.NaN));
      expect(sizes.length).toBe(part.kind === 'text' ? 2 : 1);
      expect(sizes[0]).toBeLessThan(500);
      parts.push(bytesOfPart(part));
      offset += part.bytes_returned;
      expect(textOf(result).includes(`"start_offset":${offset}`)).toBe(offset < whole.byteLength);
    }
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
  });
});

describe.each(DIAGONAL)('the configuration of tools over $transport, $era', ({ transport, era }) => {
  it('sets a prefix and an output budget [CB-6]', async () => {
    await using folder = await temporaryFolder({ 'data/a.txt': 'x'.repeat(3_000) });
    const tools = { prefix: 'docs', outputBytes: 2_000 };
    const config = await writeConfig(folder, { tools, mounts: { data: './data' } });
    await using server = await connect(transport, era, ['--config', config]);
    expect((await toolsOf(server)).map(({ name }) => name)).toEqual(
      [...READING, ...SUBSCRIBING].map((name) => `docs_${name}`),
    );
    const result = await call(server, 'docs_read', { uri: 'data+file:///a.txt' });
    expect(structured<WindowAnswer>(result).parts[0]?.bytes_returned).toBe(2_000);
    expect(textOf(result)).toContain('Next window: docs_read {');
  });

  it('turns tools off; if nothing can be watched, subscription tools are left out anyway [SEC-CAP-1]', async () => {
    await using folder = await temporaryFolder({ 'data/a.txt': 'a' });
    const off = await writeConfig(folder, { tools: 'off', mounts: { data: './data' } }, 'vitrine.yaml');
    await using without = await connect(transport, era, ['--config', off]);
    expect(without.client.getServerCapabilities()?.tools).toBeUndefined();
    const still = await writeConfig(folder, { mounts: { data: { path: './data', watch: false } } }, 'vitrine.json');
    await using server = await connect(transport, era, ['--config', still]);
    expect((await toolsOf(server)).map(({ name }) => name)).toEqual(READING);
  });

  it('can mount a folder that has the name of the mount of the tools’ own state', async () => {
    await using folder = await temporaryFolder({ 'vitrine/a.txt': 'mine', 'other/b.txt': 'b' });
    await using one = await connect(transport, era, [folder.at('vitrine')]);
    expect(embeddedIn(await call(one, 'read', { uri: 'file:///a.txt' }))).toMatchObject([{ text: 'mine' }]);
    await using two = await connect(transport, era, [folder.at('vitrine'), folder.at('other')]);
    expect(embeddedIn(await call(two, 'read', { uri: 'vitrine-2+file:///a.txt' }))).toMatchObject([{ text: 'mine' }]);
  });
});
