/** The server for the raw requests, over each transport. */

import type { CursorOptions } from '../../../src/core/lists/cursor.ts';
import {
  createEndpoint,
  createVitrine,
  definePrompt,
  defineTool,
  elicitation,
  type HttpOptions,
  inputRequired,
  serveHttp,
  type Vitrine,
} from '../../../src/index.ts';
import { type MemoryResource, memoryProvider } from '../../../src/providers/memory/index.ts';
import type { HttpWire } from './answer.ts';
import { TOOLS } from './tools.ts';
import { fetchWire } from './wire-fetch.ts';
import { httpWire } from './wire-http.ts';

/** The time of all changes. Times of other years belong to the run, and are not recorded. */
export const LAST_MODIFIED = '2001-02-03T04:05:06.000Z';

/** The most bytes of a body. */
export const MAX_REQUEST_BYTES = 65_536;

const annotations = { lastModified: LAST_MODIFIED };

const RESOURCES: Readonly<Record<string, MemoryResource>> = {
  'a.txt': { text: 'first line\nsecond line\n', annotations },
  'picture.png': { bytes: Uint8Array.of(0x89, 0x50, 0x4e, 0x47), annotations },
  'guide/intro.md': {
    text: '# Introduction\n',
    title: 'Intro',
    description: 'Where to begin',
    annotations: { ...annotations, audience: ['user'], priority: 0.5 },
    _meta: { 'example.com/kept': true },
  },
  'guide/deeper/end.md': { text: 'The end', annotations },
  'guide/ü b.md': { text: 'ä', annotations },
};

const greet = definePrompt({
  name: 'greet',
  title: 'Greet',
  description: 'Greets somebody',
  arguments: [{ name: 'who', required: true }, { name: 'how' }],
  get: ({ who, how = 'Hello' }) => ({
    description: 'A greeting',
    messages: [{ role: 'user', content: { type: 'text', text: `${how}, ${who}` } }],
  }),
  complete: (_argument, value) => ['Ada', 'Alan', 'Grace'].filter((each) => each.startsWith(value)),
});

const asksFirst = definePrompt({
  name: 'asks-first',
  get: (_args, { answers, seal }) =>
    'topic' in answers
      ? { messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(answers) } }] }
      : inputRequired({ topic: elicitation('About what?', { type: 'object', properties: {} }) }, seal(1)),
});

export interface Scene extends AsyncDisposable {
  readonly vitrine: Vitrine;
  readonly http: HttpWire;
  readonly fetch: HttpWire;
}

const SECRET = new Uint8Array(32).fill(1);

/** Keys of states and cursors that this server does not accept: another server's, and an old one of its own. */
export const STRANGERS: Readonly<Record<'foreign' | 'expired', CursorOptions>> = {
  foreign: { keys: [new Uint8Array(32).fill(2)] },
  expired: { keys: [SECRET], now: () => 0 },
};

export async function startScene(
  options: HttpOptions = {},
  cursors: CursorOptions = { keys: [SECRET] },
): Promise<Scene> {
  const provider = memoryProvider({ name: 'memory', resources: RESOURCES });
  const change = defineTool({
    name: 'change',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    run: ({ path }) => {
      provider.set(String(path), { text: 'changed', annotations });
      return 'changed';
    },
  });
  const vitrine = createVitrine({
    mounts: [{ name: 'm', provider, prefix: 'none' }],
    server: { name: 'fixture', version: '1.2.3', title: 'The fixture', instructions: 'Read.' },
    tools: [...TOOLS, change],
    prompts: [greet, asksFirst],
    limits: { pageSize: 4 },
    cursors,
    keys: cursors.keys,
  });
  const limited = { ...options, limits: { maxRequestBytes: MAX_REQUEST_BYTES, ...options.limits } };
  const serving = await serveHttp(vitrine, { port: 0, ...limited });
  const endpoint = createEndpoint(vitrine, limited);
  return {
    vitrine,
    http: httpWire(serving.port),
    fetch: fetchWire(endpoint),
    async [Symbol.asyncDispose]() {
      await serving.close();
      await endpoint.close();
      await vitrine.close();
    },
  };
}
