/** `resources/templates/list` and `completion/complete`: from a template to a resource that can be read. */
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseUriTemplate } from '../../src/core/uri-template.ts';
import { failure, HINTS, hintsIn, metadata, pages, readOne } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, DIAGONAL, MATRIX, MUSEUM, ROOT } from './harness.ts';

const SQLITE = `${ROOT}examples/registrar.sqlite`;

interface Templates {
  readonly resourceTemplates: readonly { readonly uriTemplate: string; readonly name: string }[];
}

interface Completion {
  readonly values: readonly string[];
  readonly hasMore: boolean;
  readonly total?: number;
}

async function complete(on: Connected, value: string, uri = 'file:///{+path}', name = 'path'): Promise<Completion> {
  const params = { ref: { type: 'ref/resource', uri }, argument: { name, value } };
  return (await on.request<{ completion: Completion }>('completion/complete', params)).completion;
}

describe.each(MATRIX)('templates over $transport, $era', ({ transport, era }) => {
  let museum: Connected;
  beforeAll(async () => {
    museum = await connect(transport, era, [MUSEUM]);
  });
  afterAll(() => museum.close());

  it('lists the template of the folder, with a description of how to fill it [RES-3, RES-6]', async () => {
    const { resourceTemplates, ...rest } = await museum.request<Templates>('resources/templates/list');
    expect(resourceTemplates).toEqual([
      {
        uriTemplate: 'file:///{+path}',
        name: expect.stringContaining('museum'),
        title: expect.any(String),
        description: expect.stringContaining('%25'),
        icons: [expect.objectContaining({ mimeType: 'image/svg+xml', sizes: ['any'] })],
      },
    ]);
    expect(hintsIn({ ...rest })).toEqual(HINTS[era]);
  });

  it('gives type, title, description and icons of matches, if all have the same [RES-11]', async () => {
    await using folder = await temporaryFolder();
    const icons = [{ src: 'https://example.com/table.png', sizes: ['48x48'] }];
    const mounts = { db: { sql: SQLITE, icons }, docs: MUSEUM };
    await using server = await connect(transport, era, ['--config', await writeConfig(folder, { mounts })]);
    const { resourceTemplates } = await server.request<Templates>('resources/templates/list');
    const rows = resourceTemplates.filter(({ uriTemplate }) => uriTemplate.startsWith('db+'));
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(row).toMatchObject({ mimeType: 'application/json', title: expect.any(String), icons });
      const { uriTemplate } = row;
      const template = parseUriTemplate(uriTemplate);
      const [variable = ''] = template.variables;
      if (template.variables.length > 1) continue;
      const { values } = await complete(server, '', uriTemplate, variable);
      const uri = template.expand({ [variable]: values[0] ?? '' });
      expect((await metadata(server, uri)).mimeType, uri).toBe('application/json');
    }
    // A folder has files of many types.
    expect(resourceTemplates.find(({ uriTemplate }) => uriTemplate.startsWith('docs+'))).not.toHaveProperty('mimeType');
  });

  it('completes the first segment, folders first and with a slash [RES-3]', async () => {
    const { values, hasMore } = await complete(museum, '');
    const there = await readdir(MUSEUM, { withFileTypes: true });
    const named = (folders: boolean): string[] =>
      there
        .filter((entry) => entry.isDirectory() === folders)
        .map(({ name }) => (folders ? `${name}/` : name))
        .sort();
    expect(values).toEqual([...named(true), ...named(false)]);
    expect(hasMore).toBe(false);
  });

  it('completes a beginning, one segment at a time [RES-3]', async () => {
    expect((await complete(museum, 'co')).values).toEqual(['collection/']);
    expect((await complete(museum, 'collection/c')).values).toEqual([
      'collection/calculators/',
      'collection/clocks/',
      'collection/catalogue.json',
    ]);
    expect((await complete(museum, 'collection/clocks/wi')).values).toEqual(['collection/clocks/winding.toml']);
  });

  it.each(['x', 'collection/x', 'nowhere/', 'README.md/', '../', '/etc/', 'archive/../'])(
    'completes %s to nothing, whether or not it exists [RES-3]',
    async (value) => {
      expect(await complete(museum, value)).toEqual({ values: [], hasMore: false, total: 0 });
    },
  );

  it('leads from the template through completion to every file, with odd names, too [RES-3, SEC-RES-5]', async () => {
    const template = parseUriTemplate('file:///{+path}');
    const found: string[] = [];
    const queue = [''];
    for (let typed = queue.shift(); typed !== undefined; typed = queue.shift()) {
      for (const value of (await complete(museum, typed)).values) {
        const uri = template.expand({ path: value });
        const resource = await metadata(museum, uri);
        if (value.endsWith('/')) queue.push(value);
        else {
          const item = await readOne(museum, uri);
          expect(item).toMatchObject({ uri, name: resource.name });
          found.push(resource.uri);
        }
      }
    }
    expect(found).toContain('file:///archive/%2342%20%5Bdraft%5D%20(copy).txt');
    expect(found).toContain('file:///collection/100%25%20brass.md');
    const listed = (await pages(museum, 'resources/list')).flatMap(({ resources }) => resources);
    expect(found.sort()).toEqual(
      listed
        .filter(({ size }) => size !== undefined)
        .map(({ uri }) => uri)
        .sort(),
    );
  });

  it('refuses an unknown template, an unknown variable and a prompt [RES-3, RES-6]', async () => {
    const unknown = await failure(complete(museum, '', 'file:///{+other}'));
    expect(unknown).toMatchObject({ code: -32602, message: expect.stringContaining('template') });
    const variable = await failure(complete(museum, '', 'file:///{+path}', 'name'));
    expect(variable).toMatchObject({ code: -32602, message: expect.stringContaining('"path"') });
    const prompt = await failure(
      museum.request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'hello' },
        argument: { name: 'path', value: '' },
      }),
    );
    expect(prompt).toMatchObject({ code: -32602 });
  });
});

describe.each(DIAGONAL)('completion of large folders over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  beforeAll(async () => {
    const numbered = Array.from({ length: 250 }, (_, index) => `many/item-${String(index).padStart(3, '0')}.txt`);
    folder = await temporaryFolder(
      Object.fromEntries([...numbered, 'few/.hidden', 'few/.env', 'few/seen'].map((n) => [n, ''])),
    );
    const config = await writeConfig(folder, { mounts: { many: './many', few: './few' } });
    server = await connect(transport, era, ['--config', config]);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  it('gives at most 100 values, and marks that there are more [RES-3]', async () => {
    const all = await complete(server, '', 'many+file:///{+path}');
    expect(all.values).toHaveLength(100);
    expect(all.hasMore).toBe(true);
    const fewer = await complete(server, 'item-24', 'many+file:///{+path}');
    expect(fewer).toMatchObject({ hasMore: false, total: 10 });
    const exact = await complete(server, 'item-1', 'many+file:///{+path}');
    expect(exact).toMatchObject({ hasMore: false, total: 100 });
  });

  it('completes the template of each mount from that mount, and hidden entries never [RES-3]', async () => {
    const { resourceTemplates } = await server.request<Templates>('resources/templates/list');
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'many+file:///{+path}',
      'few+file:///{+path}',
    ]);
    expect((await complete(server, '', 'few+file:///{+path}')).values).toEqual(['seen']);
    expect((await complete(server, '.', 'few+file:///{+path}')).values).toEqual([]);
  });
});

describe.each(DIAGONAL)('hostile values of templates over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  beforeAll(async () => {
    folder = await temporaryFolder({ 'shown/inner/a.txt': 'a', 'secret.txt': 'secret', 'shown/x?y#z%41.txt': 'odd' });
    server = await connect(transport, era, [folder.at('shown')]);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  const expand = (path: string): string => parseUriTemplate('file:///{+path}').expand({ path });

  it.each([
    '../secret.txt',
    'inner/../../secret.txt',
    'inner/%2e%2e/%2e%2e/secret.txt',
    '..%2fsecret.txt',
    '%2e%2e%2fsecret.txt',
    '%252e%252e/secret.txt',
    '/../secret.txt',
    '//secret.txt',
    '..\\secret.txt',
    'inner/a.txt?/../../../secret.txt',
    'inner/a.txt#',
    'x?y#z%41.txt',
    'inner/a.txt\u0000',
  ])('lead nowhere if they are expanded unencoded: %s [SEC-RES-5, SEC-RES-1]', async (value) => {
    const refused = await failure(readOne(server, expand(value)));
    expect(refused.code).toBe(-32602);
    expect(JSON.stringify(refused)).not.toContain(folder.path);
    expect((await complete(server, value)).values).toEqual([]);
  });

  it('are encoded by completion, so that they stay in their place [SEC-RES-5]', async () => {
    const { values } = await complete(server, 'x');
    expect(values).toEqual(['x%3Fy%23z%2541.txt']);
    expect((await readOne(server, expand(values[0] ?? ''))).text).toBe('odd');
  });

  it('are answered if they are long and expensive [SEC-RES-5]', async () => {
    const nested = `file:///${'{+a}'.repeat(10_000)}`;
    expect((await failure(complete(server, '', nested))).code).toBe(-32602);
    expect((await complete(server, 'a/'.repeat(30_000))).values).toEqual([]);
    expect((await complete(server, '%'.repeat(60_000))).values).toEqual([]);
  });
});
