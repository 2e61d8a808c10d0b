/** Icons reach the client on everything that has a name. */
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
  let server: Connected;
  beforeAll(async () => {
    folder = await temporaryFolder({ 'docs/a.md': '# a', 'docs/b/c.json': '{}', 'more/d.txt': 'd' });
    const config = await writeConfig(folder, { mounts: { docs: { path: './docs', icons: OWN }, more: './more' } });
    server = await connect(transport, era, ['--config', config]);
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

  it('stay out of what a model has to pay for', async () => {
    const result = await server.request('tools/call', { name: 'list', arguments: { uri: 'docs+file:///' } });
    expect(JSON.stringify(result)).not.toContain('"icons"');
  });
});
