/** Clients get icons with everything that has a name. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, MATRIX } from './harness.ts';

const OWN = [{ src: 'https://example.com/docs.png', mimeType: 'image/png', sizes: ['48x48'] }];

interface Named {
  readonly name: string;
  readonly icons?: readonly { readonly src: string; readonly sizes?: readonly string[] }[];
}

describe.each(MATRIX)('icons over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let config: string;
  let server: Connected;
  beforeAll(async () => {
    folder = await temporaryFolder({ 'docs/a.md': '# a', 'docs/b/c.json': '{}', 'more/d.txt': 'd' });
    config = await writeConfig(folder, { mounts: { docs: { path: './docs', icons: OWN }, more: './more' } });
    server = await connect(transport, era, ['--config', config, '--icons', 'on']);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  it('are on every resource, template and tool, by type and by mount [973-2, 973-3]', async () => {
    const { resources } = await server.request<{ resources: Named[] }>('resources/list');
    const { resourceTemplates } = await server.request<{ resourceTemplates: Named[] }>('resources/templates/list');
    const { tools } = await server.request<{ tools: Named[] }>('tools/list');
    for (const each of [...resources, ...resourceTemplates, ...tools]) {
      expect(each.icons?.length, each.name).toBeGreaterThan(0);
      expect(Array.isArray(each.icons?.[0]?.sizes), each.name).toBe(true);
    }
    const iconOf = (name: string) => resources.find((resource) => resource.name === name)?.icons;
    expect(iconOf('docs')).toEqual(OWN);
    expect(iconOf('b')).toEqual(OWN);
    expect(iconOf('more')).not.toEqual(OWN);
    expect(iconOf('a.md')).not.toEqual(iconOf('c.json'));
  });

  it('are the same in lists, metadata and reads [973-2]', async () => {
    const { resource } = await server.request<{ resource: Named }>('resources/metadata', { uri: 'docs+file:///a.md' });
    const { contents } = await server.request<{ contents: Named[] }>('resources/read', { uri: 'docs+file:///a.md' });
    expect(contents[0]?.icons).toEqual(resource.icons);
    expect(resource.icons).toHaveLength(1);
  });

  it('in lists of resources are only the configured ones by default; elsewhere all [973-2]', async () => {
    await using quiet = await connect(transport, era, ['--config', config]);
    const { resources } = await quiet.request<{ resources: Named[] }>('resources/list');
    expect(resources.filter(({ icons }) => icons !== undefined).map(({ name }) => name)).toEqual(['docs', 'b']);
    expect(resources.find(({ name }) => name === 'b')?.icons).toEqual(OWN);
    const { tools } = await quiet.request<{ tools: Named[] }>('tools/list');
    expect(tools.filter(({ icons }) => icons !== undefined)).toEqual([]);
    const { resource } = await quiet.request<{ resource: Named }>('resources/metadata', { uri: 'docs+file:///a.md' });
    const { contents } = await quiet.request<{ contents: Named[] }>('resources/read', { uri: 'docs+file:///a.md' });
    expect(resource.icons).toHaveLength(1);
    expect(contents[0]?.icons).toEqual(resource.icons);
  });

  it('make a list of a thousand entries no tenth longer', async () => {
    const files = Object.fromEntries(Array.from({ length: 1_000 }, (_, number) => [`many/${number}.md`, '']));
    await using many = await temporaryFolder(files);
    const bytes = async (flags: readonly string[]): Promise<number> => {
      await using on = await connect(transport, era, [many.at('many'), ...flags]);
      let sum = 0;
      let cursor: string | undefined;
      do {
        const params = { uri: 'file:///', ...(cursor !== undefined && { cursor }) };
        const page = await on.request<{ resources: Named[]; nextCursor?: string }>('resources/list', params);
        sum += JSON.stringify(page.resources).length;
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return sum;
    };
    const bare = await bytes(['--icons', 'off']);
    expect(await bytes([])).toBeLessThan(bare * 1.1);
    expect(await bytes(['--icons', 'on'])).toBeGreaterThan(bare * 1.5);
  });

  it('are not in results for models, which would pay for them', async () => {
    const result = await server.request('tools/call', { name: 'list', arguments: { uri: 'docs+file:///' } });
    expect(JSON.stringify(result)).not.toContain('"icons"');
  });
});
