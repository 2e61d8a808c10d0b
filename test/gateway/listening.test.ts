/** One stream watches an upstream of the 2026 era, and ends when no client needs it. */
import { createServer, request as send } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import { wrapProvider } from '../../src/core/layer.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { upstream } from '../../src/providers/upstream/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { until } from '../e2e/waiting.ts';

const COUNT = 24;

it('overlapping subscriptions that begin and end leave none behind at the upstream [RES-4]', async () => {
  const names = Array.from({ length: COUNT }, (_, index) => `${index}.txt`);
  const memory = memoryProvider({ resources: Object.fromEntries(names.map((name) => [name, { text: name }])) });
  const open = new Map<string, number>();
  const count = (uri: string, by: number): void => void open.set(uri, (open.get(uri) ?? 0) + by);
  const provider = wrapProvider(memory, {
    async watch(uri = '', onChange, ctx) {
      // Other subscriptions come and go meanwhile.
      await pause(5);
      const handle = await memory.watch?.(uri, onChange, ctx);
      count(uri, 1);
      return {
        async [Symbol.asyncDispose]() {
          count(uri, -1);
          await handle?.[Symbol.asyncDispose]();
        },
      };
    },
  });
  const behind = createVitrine({ mounts: [{ name: 'notes', provider, prefix: 'none' }] });
  const serving = await serveHttp(behind, { port: 0 });
  const far = upstream({ name: 'far', target: { url: serving.url } });
  const mounts = [{ name: 'far', provider: far.provider, server: far.server, health: () => far.health() }];
  const front = createVitrine({ mounts });
  try {
    expect(await far.ready(60_000)).toBe(true);
    const told = new Set<string>();
    const handles = await Promise.all(
      names.map(async (name, index) => {
        await pause(index * 3);
        const uri = `far+memory:///${name}`;
        return front.provider.watch?.(uri, () => told.add(name), createContext());
      }),
    );
    for (const name of names) memory.set(name, { text: 'changed' });
    await until(() => told.size === COUNT, 'all changes');
    await Promise.all(
      handles.map(async (handle, index) => {
        await pause(index * 3);
        await handle?.[Symbol.asyncDispose]();
      }),
    );
    await until(() => [...open.values()].every((left) => left === 0), 'the end of all that was watched');
    expect(open.size).toBe(COUNT);
  } finally {
    await front.close();
    await serving.close();
    await behind.close();
  }
});

it('all lists share one stream, whichever client watches which list', async () => {
  const memory = memoryProvider({ resources: { 'a.txt': { text: 'a' } } });
  const behind = createVitrine({ mounts: [{ name: 'notes', provider: memory, prefix: 'none' }] });
  const serving = await serveHttp(behind, { port: 0 });
  let listened = 0;
  // Forwards everything to the server, and counts the requests to listen.
  const counting = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (body.includes('"subscriptions/listen"')) listened++;
    const { host: _, ...headers } = request.headers;
    const passed = send(serving.url, { method: request.method ?? 'POST', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    passed.end(body);
  });
  await new Promise<void>((resolve) => counting.listen(0, '127.0.0.1', resolve));
  const address = counting.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const far = upstream({ name: 'far', target: { url: `http://127.0.0.1:${port}/mcp` } });
  const mounts = [{ name: 'far', provider: far.provider, server: far.server, health: () => far.health() }];
  const front = createVitrine({ mounts });
  try {
    expect(await far.ready(60_000)).toBe(true);
    const ctx = createContext();
    const tools = await far.server.watch('tools', () => {}, ctx);
    const prompts = await far.server.watch('prompts', () => {}, ctx);
    await tools?.[Symbol.asyncDispose]();
    const again = await far.server.watch('tools', () => {}, ctx);
    expect(listened).toBe(1);
    await again?.[Symbol.asyncDispose]();
    await prompts?.[Symbol.asyncDispose]();
  } finally {
    await front.close();
    counting.closeAllConnections();
    await new Promise((resolve) => counting.close(resolve));
    await serving.close();
    await behind.close();
  }
});
