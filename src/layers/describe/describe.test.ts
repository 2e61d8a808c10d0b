import { describe, expect, it } from 'vitest';
import { closeBodies } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { type Description, describeLayer } from './index.ts';

layerContract('describe', describeLayer([{ uris: ['nowhere:/**'], title: 'Nothing' }]));

const WANT = { maxBytes: 1_000, maxChildren: 10 };

function around(...descriptions: Description[]) {
  const provider = memoryProvider({
    resources: {
      'reports/may.md': { text: '# May', title: 'Its own', annotations: { priority: 0.5 } },
      'reports/map.png': { text: 'no picture' },
    },
  });
  return describeLayer(descriptions)(provider);
}

describe('descriptions', () => {
  it('are in lists, metadata and reads, and change nothing else [RES-3]', async () => {
    const said = { uris: ['memory:///reports/*.md'], title: 'Report {stem} of {folder}', audience: ['user'] as const };
    const provider = around(said);
    const ctx = createContext();
    const described = { title: 'Report may of reports', annotations: { priority: 0.5, audience: ['user'] } };
    const { resources } = await provider.list('memory:///reports', { limit: 10 }, ctx);
    expect(resources).toMatchObject([{ name: 'map.png' }, { name: 'may.md', ...described }]);
    expect(resources[0]?.title).toBeUndefined();
    const metadata = await provider.metadata('memory:///reports/may.md', ctx);
    const bodies = await provider.read('memory:///reports/may.md', WANT, ctx);
    expect(bodies[0]?.resource).toEqual(metadata);
    expect(metadata).toMatchObject({
      uri: 'memory:///reports/may.md',
      mimeType: 'text/markdown',
      size: 5,
      ...described,
    });
    await closeBodies(bodies);
  });

  it('add up, and the last one with a field sets it', async () => {
    const provider = around(
      { title: 'All', description: 'Everything' },
      { mimeTypes: ['image/*'], title: '{name}', icons: [{ src: 'https://icons.example/picture.svg' }] },
      { mimeTypes: ['inode/*'], priority: 0 },
    );
    const ctx = createContext();
    expect(await provider.metadata('memory:///reports/map.png', ctx)).toMatchObject({
      title: 'map.png',
      description: 'Everything',
      icons: [{ src: 'https://icons.example/picture.svg' }],
    });
    expect(await provider.metadata('memory:///reports', ctx)).toMatchObject({
      title: 'All',
      annotations: { priority: 0 },
    });
  });

  it('are added to items of another server, too, which are otherwise unchanged', async () => {
    const item = { uri: 'memory:///reports/may.md', name: 'may.md', text: '# May', unknown: 1 };
    const inner = memoryProvider({ resources: { 'reports/may.md': { text: '# May' } } });
    const passing = {
      ...inner,
      read: async (...given: Parameters<typeof inner.read>) =>
        (await inner.read(...given)).map((body) => ({ ...body, item })),
    };
    const [body] = await describeLayer([{ priority: 1 }])(passing).read(item.uri, WANT, createContext());
    expect(body?.item).toMatchObject({ ...item, annotations: { priority: 1 } });
  });

  it('are refused with an unknown placeholder', () => {
    expect(() => describeLayer([{ title: 'By {author}' }])).toThrow('{name}, {stem}, {folder}');
  });
});
