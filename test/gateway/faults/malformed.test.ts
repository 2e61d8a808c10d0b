/** One invalid entry among valid ones of a server: only that entry is left out, and strict clients accept the rest. */
import {
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { type Connected, MATRIX } from '../../e2e/harness.ts';
import { arrives, othersServe, setScene } from './scene.ts';

type Data = Readonly<Record<string, unknown>>;

const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

/** The faults that any entry can have, and the fields that have them. */
const EVERYWHERE: Readonly<Record<string, Data>> = {
  'a title that is an object': { title: {} },
  'a description that is a number': { description: 1 },
  'icons that are an object': { icons: {} },
  'icons that are no objects': { icons: ['x'] },
  'an icon without src': { icons: [{ mimeType: 'image/png' }] },
  'an icon with src that is no text': { icons: [{ src: 5 }] },
  'an icon with sizes that are numbers': { icons: [{ src: 'https://x.example/i.png', sizes: [48] }] },
  'an icon with an unknown theme': { icons: [{ src: 'https://x.example/i.png', theme: 'blue' }] },
  '_meta that is a number': { _meta: 3 },
  '_meta that is a list': { _meta: [] },
  'data of too many levels': { _meta: { deep: deep(3_000) } },
  'data of too many values': { _meta: { many: Array.from({ length: 20_001 }, () => 0) } },
};

const OF_RESOURCES: Readonly<Record<string, Data>> = {
  ...EVERYWHERE,
  'a name that is a number': { name: 7 },
  'a name that is an object': { name: { toString: 1 } },
  'a type that is a number': { mimeType: 5 },
  'a type that is a list': { mimeType: ['text/plain'] },
  'annotations that are a list': { annotations: [] },
  'a priority above one': { annotations: { priority: 7 } },
  'a priority that is a text': { annotations: { priority: '1' } },
  'an audience that is a text': { annotations: { audience: 'user' } },
  'an unknown audience': { annotations: { audience: ['robots'] } },
  'a time that is a number': { annotations: { lastModified: 1 } },
};

const RESOURCES: Readonly<Record<string, Data>> = {
  ...OF_RESOURCES,
  'no uri': { uri: undefined },
  'a uri that is a number': { uri: 8 },
  'a uri that is an object': { uri: { toString: 1, valueOf: 1 } },
  'a uri that is no URI': { uri: 'no uri at all' },
  'a uri that is relative': { uri: '../one' },
  'a uri that is a path': { uri: '/etc/passwd' },
  'a uri that is empty': { uri: '' },
  'a uri with an escape': { uri: 'thing:///\u001b[2Ja' },
  'a size that is a text': { size: 'x' },
  'a size below zero': { size: -1 },
  'a size with a fraction': { size: 1.5 },
  'capabilities that are a list': { capabilities: ['list'] },
};

const TEMPLATES: Readonly<Record<string, Data>> = {
  ...OF_RESOURCES,
  'no name': { name: undefined },
  'no template': { uriTemplate: undefined },
  'a template that is a number': { uriTemplate: 1 },
  'a template that is relative': { uriTemplate: '../{x}' },
  'a template that does not end': { uriTemplate: 'thing:///{x' },
};

const NAMED: Readonly<Record<string, Data>> = {
  ...EVERYWHERE,
  'no name': { name: undefined },
  'an empty name': { name: '' },
  'a name that is a number': { name: 7 },
  'a name that is an object': { name: { toString: 1 } },
  'a name with an escape': { name: 'a\u001b[31mb' },
  'a name with a direction override': { name: 'a\u202eb' },
};

const TOOLS: Readonly<Record<string, Data>> = {
  ...NAMED,
  'no inputSchema': { inputSchema: undefined },
  'an inputSchema that is a text': { inputSchema: 'object' },
  'an inputSchema that is a list': { inputSchema: [] },
  'an inputSchema of no type': { inputSchema: {} },
  'an inputSchema of another type': { inputSchema: { type: 'string' } },
  'properties that are a list': { inputSchema: { type: 'object', properties: [] } },
  'a property that is a text': { inputSchema: { type: 'object', properties: { a: 'string' } } },
  'required that is a text': { inputSchema: { type: 'object', required: 'a' } },
  'an outputSchema that is a text': { outputSchema: 'object' },
  'an outputSchema that is a list': { outputSchema: [] },
  'annotations that are a list': { annotations: [] },
  'a hint that is a text': { annotations: { readOnlyHint: 'yes' } },
  'execution that is unknown': { execution: { taskSupport: 'maybe' } },
};

const PROMPTS: Readonly<Record<string, Data>> = {
  ...NAMED,
  'arguments that are an object': { arguments: {} },
  'an argument that is a text': { arguments: ['a'] },
  'an argument without a name': { arguments: [{ description: 'a' }] },
  'required that is a text': { arguments: [{ name: 'a', required: 'yes' }] },
};

const NO_ENTRIES = [null, 7, 'text', [], ['a', 1], true];

const GOOD = {
  resource: { uri: 'thing:///good', name: 'good', icons: [{ src: 'https://x.example/i.png', sizes: '48x48 96x96' }] },
  template: { uriTemplate: 'thing:///{good}', name: 'good', annotations: { lastModified: 'yesterday', priority: 1 } },
  tool: {
    name: 'good',
    title: null,
    inputSchema: { type: 'object', properties: { any: true } },
    'x-unknown': { kept: [1] },
  },
  prompt: { name: 'good', arguments: [{ name: 'a', description: null, unknown: 'kept' }] },
} as const;

/** Gives a valid name, URI or template to an entry that is invalid in another way. */
const odd = (key: string, index: number): string =>
  key === 'name' ? `bad-${index}` : `thing:///bad-${index}${key === 'uriTemplate' ? '/{x}' : ''}`;

/** The most entries that an answer names. */
const NAMED_AT_ONCE = 20;

/** Puts a valid entry among invalid ones, to check that those before and after it do no harm. */
function mixed(good: Data, key: string, kinds: Readonly<Record<string, Data>>): readonly unknown[] {
  const bad = Object.values(kinds).map((fields, index) => ({ ...good, [key]: odd(key, index), ...fields }));
  return [...NO_ENTRIES, ...bad.slice(0, 5), good, ...bad.slice(5)];
}

const SAYS = {
  'resources/list': { resources: mixed(GOOD.resource, 'uri', RESOURCES) },
  'resources/templates/list': { resourceTemplates: mixed(GOOD.template, 'uriTemplate', TEMPLATES) },
  'tools/list': { tools: mixed(GOOD.tool, 'name', TOOLS) },
  'prompts/list': { prompts: mixed(GOOD.prompt, 'name', PROMPTS) },
};

const LISTS = [
  ['resources/list', 'resources', ListResourcesResultSchema],
  ['resources/templates/list', 'resourceTemplates', ListResourceTemplatesResultSchema],
  ['tools/list', 'tools', ListToolsResultSchema],
  ['prompts/list', 'prompts', ListPromptsResultSchema],
] as const;

interface Page extends Record<string, unknown> {
  readonly nextCursor?: string;
  readonly _meta?: { readonly 'vitrine/missing'?: readonly Data[] };
}

async function whole(client: Connected, method: string, field: string) {
  const entries: Data[] = [];
  const missing: Data[] = [];
  const pages: Page[] = [];
  let cursor: string | undefined;
  do {
    const page: Page = await client.request(method, cursor === undefined ? {} : { cursor });
    pages.push(page);
    entries.push(...(page[field] as readonly Data[]));
    missing.push(...(page._meta?.['vitrine/missing'] ?? []));
    cursor = page.nextCursor;
  } while (cursor !== undefined && pages.length < 50);
  return { entries, missing, pages };
}

describe.concurrent.each(MATRIX)('a server of the $era era over $transport', (way) => {
  it('that sends every kind of invalid entry loses only these, and strict clients accept the lists', async () => {
    await using scene = await setScene(way, {
      subscribed: false,
      before: (server) => server.says(SAYS, { prompts: {} }),
    });
    await arrives(scene.up);
    for (const client of scene.clients) {
      for (const [method, field, schema] of LISTS) {
        const { entries, missing, pages } = await whole(client, method, field);
        const own = entries.filter(({ uri, uriTemplate, name }) =>
          String(uri ?? uriTemplate ?? name).startsWith('faulty'),
        );
        expect(
          own.map(({ uri, uriTemplate, name }) => uri ?? uriTemplate ?? name),
          method,
        ).toEqual([
          method.startsWith('resources/t')
            ? 'faulty+thing:///{good}'
            : method.startsWith('resources')
              ? 'faulty+thing:///good'
              : 'faulty_good',
        ]);
        // The schemas are those of the v1 SDK's client. The client of the v2 SDK lists below.
        for (const page of pages) expect(() => schema.parse(page), method).not.toThrow();
        const told = missing.filter(({ mount }) => mount === 'faulty');
        expect(told.length, method).toBeGreaterThan(10);
        expect(told.at(-1)?.reason, method).toContain('more are left out');
        expect(told[0], method).toMatchObject({ reason: expect.stringMatching(/^An? .* is left out: /) });
      }
      await client.client.listResources();
      await client.client.listResourceTemplates();
      await client.client.listTools();
      await client.client.listPrompts();
      await othersServe(client);
    }
    expect(scene.log()).not.toContain('TypeError');
    expect(scene.log()).not.toContain('RangeError');
  });
});

describe.concurrent.each([
  ['resource', 'resources/list', 'resources', GOOD.resource, 'uri', RESOURCES],
  ['resource template', 'resources/templates/list', 'resourceTemplates', GOOD.template, 'uriTemplate', TEMPLATES],
  ['tool', 'tools/list', 'tools', GOOD.tool, 'name', TOOLS],
  ['prompt', 'prompts/list', 'prompts', GOOD.prompt, 'name', PROMPTS],
] as const)('an invalid %s', (kind, method, field, good, key, kinds) => {
  it('is named with its problem in the answer, whatever the problem is, and the log has it too', async () => {
    await using scene = await setScene(
      { transport: 'stdio', era: 'legacy' },
      { subscribed: false, before: (server) => server.says({}, { prompts: {} }) },
    );
    const [client] = scene.clients;
    if (client === undefined) throw new Error('no client');
    const titles = Object.keys(kinds);
    // Sends as many at a time as an answer names.
    for (let at = 0; at < titles.length; at += NAMED_AT_ONCE) {
      const some = titles.slice(at, at + NAMED_AT_ONCE);
      const bad = some.map((title, index) => ({ ...good, [key]: odd(key, index), ...kinds[title] }));
      await scene.server.says({ [method]: { [field]: [...bad, good] } }, { prompts: {} });
      const { entries, missing } = await whole(client, method, field);
      expect(entries.filter((each) => String(each[key]).startsWith('faulty'))).toHaveLength(1);
      const told = missing.filter(({ mount }) => mount === 'faulty');
      for (const [index, title] of some.entries()) {
        expect(told[index], title).toEqual({
          mount: 'faulty',
          reason: expect.stringContaining(`A ${kind} is left out: `),
          entry: expect.any(String),
        });
      }
      expect(told).toHaveLength(some.length);
    }
    expect(scene.log().match(/an entry of a mounted server is left out/g)?.length).toBeGreaterThan(5);
  });
});

describe.concurrent.each(MATRIX)('a server of the $era era over $transport', (way) => {
  it('that sends invalid entries in answers loses only these', async () => {
    const text = { type: 'text', text: 'good' };
    const blocks = [
      null,
      7,
      { type: 'text', text: 5 },
      { type: 'image', data: '*', mimeType: 'image/png' },
      { text: 'x' },
    ];
    await using scene = await setScene(way, {
      subscribed: false,
      before: (server) =>
        server.says(
          {
            'tools/call': {
              content: [...blocks, text, { type: 'resource', resource: { uri: 1, text: 'a' } }],
            },
            'prompts/get': {
              messages: [null, { role: 'robot', content: text }, { role: 'user', content: text }],
            },
            'resources/read': {
              contents: [
                null,
                { uri: 'thing:///one' },
                { uri: 'thing:///one', text: 'good' },
                { uri: 'thing:///one', blob: '*' },
              ],
            },
            'completion/complete': { completion: { values: [1, null, 'good'], total: 'x', hasMore: 5 } },
          },
          { prompts: {}, completions: {} },
        ),
    });
    await arrives(scene.up);
    for (const client of scene.clients) {
      const called = await client.request<Data>('tools/call', { name: 'faulty_say', arguments: {} });
      expect(called.content).toEqual([text]);
      expect((called._meta as Data)['vitrine/missing']).toHaveLength(blocks.length + 1);
      const { messages } = await client.request<Data>('prompts/get', { name: 'faulty_p' });
      expect(messages).toEqual([{ role: 'user', content: text }]);
      const read = await client.request<Data>('resources/read', { uri: 'faulty+thing:///one' });
      expect(read.contents).toEqual([{ uri: 'faulty+thing:///one', name: 'one', text: 'good' }]);
      expect((read._meta as Data)['vitrine/missing']).toHaveLength(3);
      const { completion } = await client.request<Data>('completion/complete', {
        ref: { type: 'ref/prompt', name: 'faulty_p' },
        argument: { name: 'a', value: '' },
      });
      expect(completion).toEqual({ values: ['good'], hasMore: false });
      await client.client.readResource({ uri: 'faulty+thing:///one' });
      await client.client.complete({
        ref: { type: 'ref/prompt', name: 'faulty_p' },
        argument: { name: 'a', value: '' },
      });
    }
  });
});
