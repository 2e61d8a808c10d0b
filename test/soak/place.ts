/** One server with everything between a client and the data, which counts what it holds. */
import { createHash } from 'node:crypto';
import type { Telemetry } from '../../src/core/telemetry.ts';
import { defineTool } from '../../src/core/tool.ts';
import { filesProvider } from '../../src/providers/files/index.ts';
import { type MemoryProvider, memoryProvider } from '../../src/providers/memory/index.ts';
import { upstream } from '../../src/providers/upstream/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { CLI } from '../e2e/harness.ts';

export const TOKEN = 'soak-token-0123456789abcdef';

/** The most things that one principal may hold: few, so that one that is not released is noticed at once. */
export const HELD = { subscriptions: 40, sessions: 60, streams: 40 } as const;

/** An unused session ends after this time, in milliseconds. */
const IDLE_MS = 1_000;

export interface Place extends AsyncDisposable {
  readonly vitrine: Vitrine;
  readonly url: string;
  readonly memory: MemoryProvider;
  /** Open sessions and streams. */
  readonly open: { session: number; stream: number };
}

export async function makePlace(): Promise<Place> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0).reverse()) await each();
  };
  try {
    const folder = await temporaryFolder({ 'docs/a.txt': 'A', 'docs/b/c.txt': 'C', 'docs/secret/x.txt': 'no' });
    closing.push(async () => folder[Symbol.asyncDispose]());
    await folder.write('far/a.txt', 'far away');
    const open = { session: 0, stream: 0 };
    const memory = memoryProvider({ resources: { 'note.txt': { text: 'hello' }, 'other.txt': { text: 'bye' } } });
    const far = upstream({
      name: 'far',
      target: { command: process.execPath, args: [CLI, 'serve', folder.at('far')] },
      connections: 'shared',
    });
    const vitrine = createVitrine({
      mounts: [
        { name: 'docs', provider: await filesProvider({ path: folder.at('docs') }) },
        { name: 'notes', provider: memory },
        { name: 'far', provider: far.provider, server: far.server, health: () => far.health() },
      ],
      tools: ['echo', 'seldom'].map((name) => defineTool({ name, inputSchema: { type: 'object' }, run: () => 'said' })),
      telemetry: counting(open),
      access: {
        rules: [
          { effect: 'hide', uris: ['docs+file:///secret/**'] },
          { effect: 'deny', operations: ['call'], tools: ['subscribe'] },
          { effect: 'allow' },
        ],
      },
      audit: { file: folder.at('audit.jsonl'), maxBytes: 256 * 1024, maxFiles: 2 },
      limits: {
        pageSize: 2,
        rates: { principal: 'off', methods: { 'tools/call': 'off' }, tools: { seldom: '5/s' } },
        maxSubscriptionsPerPrincipal: HELD.subscriptions,
        maxSessionsPerPrincipal: HELD.sessions,
        maxStreamsPerPrincipal: HELD.streams,
      },
      changes: { coalesceMs: 5 },
    });
    closing.push(() => vitrine.close());
    if (!(await far.ready(60_000))) throw new Error('the mounted server cannot be reached');
    const hash = createHash('sha256').update(TOKEN).digest('hex');
    const serving = await serveHttp(vitrine, {
      port: 0,
      auth: { resource: 'https://soak.example/mcp', tokens: [{ name: 'soak', hash }] },
      limits: { idleMs: IDLE_MS },
    });
    closing.push(() => serving.close());
    return { vitrine, url: serving.url, memory, open, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A telemetry that exports nothing, and counts open things. */
const counting = (open: { session: number; stream: number }): Telemetry => ({
  layer: () => (inner) => inner,
  request: (_request, run) => run({ outgoing: (_outgoing, ask) => ask({}) }),
  opened(kind) {
    open[kind]++;
    let ended = false;
    return () => {
      if (!ended) open[kind]--;
      ended = true;
    };
  },
  engine: () => ({ [Symbol.dispose]: () => {} }),
});
