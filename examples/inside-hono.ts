/**
 * Vitrine inside an existing application, which has its own routes and its own check of callers: `/mcp` is beside them.
 * With Node 22.18 or newer: SHOP_KEY=secret node examples/inside-hono.ts
 */
import { timingSafeEqual } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type ServerType, serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createEndpoint, createVitrine } from 'vitrine';
import { memoryProvider } from 'vitrine/providers/memory';

export interface Example {
  /** The application's own address, such as `http://127.0.0.1:8080`; the endpoint is `/mcp` below it. */
  readonly url: string;
  close(): Promise<void>;
}

export async function createExample(key: string, port = 0): Promise<Example> {
  const prices = memoryProvider({ name: 'prices', scheme: 'price' });
  const vitrine = createVitrine({
    server: { name: 'shop', title: 'The museum shop' },
    mounts: [{ name: 'prices', provider: prices, prefix: 'none' }],
  });
  // If clients reach the application by a host name, put the name into `allowedHosts`. If web pages call it, put their
  // origins into `allowedOrigins`.
  const endpoint = createEndpoint(vitrine);

  const app = new Hono();
  app.get('/', (context) => context.text('The museum shop is open'));
  app.use('*', async (context, next) => {
    if (!isKey(context.req.header('x-shop-key'), key)) return context.text('No key', 401);
    await next();
  });
  app.put('/prices/:item', async (context) => {
    prices.set(`${context.req.param('item')}.txt`, { text: await context.req.text() });
    return context.body(null, 204);
  });
  app.all('/mcp', (context) => endpoint.fetch(context.req.raw));

  const server = await listen(app, port);
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`,
    async close() {
      await endpoint.close();
      await new Promise((resolve) => server.close(resolve));
      await vitrine.close();
    },
  };
}

function isKey(given: string | undefined, key: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(key)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

function listen(app: Hono, port: number): Promise<ServerType> {
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, () => resolve(server));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const key = process.env.SHOP_KEY;
  if (key === undefined) throw new Error('Say which key opens the shop: SHOP_KEY=secret node examples/inside-hono.ts');
  const { url } = await createExample(key, 8_080);
  console.log(`Serving at ${url}/mcp`);
}
