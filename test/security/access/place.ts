/** One of everything that can be served, with rules and without, so that the answers can be compared. */
import { utimes } from 'node:fs/promises';
import { defineProvider } from '../../../src/core/define-provider.ts';
import { wrapProvider } from '../../../src/core/layer.ts';
import type { Mount } from '../../../src/core/mounts/mount.ts';
import type { Prompt } from '../../../src/core/prompt.ts';
import { defineTool, type Tool } from '../../../src/core/tool.ts';
import type { AccessOptions } from '../../../src/layers/access/index.ts';
import { filesProvider } from '../../../src/providers/files/index.ts';
import { memoryProvider } from '../../../src/providers/memory/index.ts';
import { upstream } from '../../../src/providers/upstream/index.ts';
import { serveHttp } from '../../../src/serving/http/index.ts';
import { createVitrine, type Vitrine, type VitrineOptions } from '../../../src/vitrine.ts';
import { temporaryFolder } from '../../e2e/folders.ts';

/** Entries of a page. It is small, so that every list has many pages. */
export const PAGE_SIZE = 2;

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  'a.txt': 'text of a',
  'big.bin': new Uint8Array(5_000).fill(7),
  'old.md': 'text of old',
  'pic.png': Buffer.from(
    '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082',
    'hex',
  ),
  'drafts/new.md': 'text of new',
  'drafts/shared.md': 'text of shared',
  'guide/one.md': 'text of one',
  'guide/two.md': 'text of two',
  'guide/deep/three.md': 'text of three',
  'my notes/été #1%.md': 'text of summer',
};

const echo = (name: string): Tool =>
  defineTool({
    name,
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' }, count: { type: 'number' }, loud: { type: 'boolean' } },
    },
    run: (args) => `${name} ${JSON.stringify(args)}`,
  });

const prompt = (name: string): Prompt => ({
  name,
  arguments: [{ name: 'who' }],
  complete: () => [`somebody of ${name}`],
  get: ({ who }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `${name} ${who}` } }] }),
});

/** A resource for each number, which no list shows. */
const items = defineProvider({
  name: 'items',
  scheme: 'item',
  templates: [
    {
      uriTemplate: 'item:{id}',
      name: 'item',
      mimeType: 'text/plain',
      metadata: ({ id }) => (/^\d+$/.test(String(id)) ? { name: `item ${id}` } : undefined),
      complete: { id: (typed) => ['7', '8', '77'].filter((each) => each.startsWith(typed)) },
    },
  ],
  list: () => [],
  read: (uri) => `text of ${uri}`,
});

export interface Place extends AsyncDisposable {
  /** Makes an engine over the place. The place stays when the engine closes. */
  engine(access?: AccessOptions, more?: Partial<VitrineOptions>): Vitrine;
  /** The operations that reached the providers, in their order. */
  readonly reached: string[];
}

export async function makePlace(): Promise<Place> {
  const folder = await temporaryFolder({
    ...Object.fromEntries(Object.entries(FILES).map(([path, content]) => [`docs/${path}`, content])),
    'prompts/greet.md': '---\narguments:\n  - name: who\n---\nHello {{who}}\n',
    'prompts/hush.md': '---\narguments:\n  - name: who\n---\nHush {{who}}\n',
  });
  await utimes(folder.at('docs', 'old.md'), 1_000_000_000, 1_000_000_000);
  const reached: string[] = [];
  const inner = createVitrine({
    mounts: [
      {
        name: 'wiki',
        prefix: 'none',
        provider: memoryProvider({
          resources: {
            'public/page.md': { text: 'text of page' },
            'public/other.md': { text: 'text of other' },
            'staff/secret.md': { text: 'text of secret' },
          },
        }),
      },
    ],
    tools: ['echo', 'edit', 'wipe'].map(echo),
    prompts: ['ask', 'tell'].map(prompt),
    resourceTools: false,
    server: { instructions: 'The wiki has words of its own.' },
  });
  const serving = await serveHttp(inner, { port: 0 });
  const wiki = upstream({ name: 'wiki', target: { url: serving.url } });
  const mounts: readonly Mount[] = [
    { name: 'docs', provider: await filesProvider({ path: folder.at('docs') }) },
    {
      name: 'notes',
      provider: memoryProvider({
        resources: {
          'all.txt': { text: 'text for all' },
          'assistant.txt': { text: 'text for models', annotations: { audience: ['assistant'] } },
          'user.txt': { text: 'text for people', annotations: { audience: ['user'] } },
          'deep/er/down.txt': { text: 'text of down' },
        },
      }),
    },
    { name: 'wiki', provider: wiki.provider, server: wiki.server, health: () => ({ state: 'known' }) },
    { name: 'items', provider: items },
  ];
  await wiki.ready(60_000);
  const promptFiles = await filesProvider({ path: folder.at('prompts') });
  return {
    reached,
    engine: (access, more = {}) =>
      createVitrine({
        mounts: mounts.map((mount) => ({ ...mount, provider: staying(mount, reached) })),
        tools: ['roll', 'sum', 'wipe'].map(echo),
        promptFolders: [{ uri: 'file:///', provider: wrapProvider(promptFiles, { close: async () => {} }) }],
        limits: { pageSize: PAGE_SIZE },
        changes: { coalesceMs: 5 },
        ...(access !== undefined && { access }),
        ...more,
      }),
    async [Symbol.asyncDispose]() {
      for (const { provider } of mounts) await provider.close?.();
      await promptFiles.close?.();
      await serving.close();
      await inner.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The provider of a mount. It outlives an engine, and records the operations that reach it. */
function staying({ name, provider }: Mount, reached: string[]) {
  const came = (operation: string): void => void reached.push(`${name} ${operation}`);
  return wrapProvider(provider, {
    list(uri, page, ctx) {
      came('list');
      return provider.list(uri, page, ctx);
    },
    metadata(uri, ctx) {
      came('metadata');
      return provider.metadata(uri, ctx);
    },
    read(uri, want, ctx) {
      came('read');
      return provider.read(uri, want, ctx);
    },
    close: async () => {},
  });
}
