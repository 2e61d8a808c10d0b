/**
 * Compares the HTTP provider with bare undici: a list whose entries are described by HEAD requests, and reads with and without a
 * condition (`If-None-Match`). The server runs in its own thread. Both sides have the same number of connections.
 */
import { createServer } from 'node:http';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Agent } from 'undici';
import { AT_A_TIME, asking, ENTRIES, RESOURCES, TEXT } from '../lib/turns.mjs';

export const client = 'undici';

const ETAG = '"1"';
const SITE = 'vitrine-bench-site';

/** The provider keeps headers of an entry for some seconds, so no page is listed twice in a turn. */
const PAGES = 100;

/** @param {import('../lib/turns.mjs').Load} load */
export async function open(load) {
  const site = await startSite();
  const urls = (kind, count) => Array.from({ length: count }, (_, index) => `${site.origin}/${kind}/${index}`);
  const all = {
    listed: urls('listed', PAGES * ENTRIES),
    plain: urls('plain', RESOURCES),
    tagged: urls('tagged', RESOURCES),
  };
  const { page, bytes } = await asking(load);
  const { httpProvider } = await load('providers/http.js');
  const provide = (http) => httpProvider({ http, maxConnections: AT_A_TIME });
  const read = await provide([...all.plain, ...all.tagged]);
  for (const url of all.tagged) await bytes(read, url);

  const agent = new Agent({ connections: AT_A_TIME, pipelining: 1 });
  const ask = async (method, url, status, headers = {}) => {
    const { statusCode, body } = await agent.request({
      origin: site.origin,
      path: new URL(url).pathname,
      method,
      headers,
    });
    const { byteLength } = await body.arrayBuffer();
    if (statusCode !== status) throw new Error(`${method} ${url} is ${statusCode}`);
    return byteLength;
  };
  const urlOf = (kind, index) => all[kind][index % RESOURCES];
  const nth = (number) => page(listed, undefined, all.listed[number * ENTRIES - 1]);
  let listed;
  return {
    turns: {
      list: {
        async before() {
          await listed?.close();
          listed = await provide(all.listed);
          // Opens the connections before the turn begins: those of undici are open since the warm-up.
          await nth(PAGES - 1);
        },
        async ours(index) {
          if (index >= PAGES - 1) throw new Error('this turn has listed all pages: take shorter turns with --ms');
          return nth(index);
        },
        async native() {
          const shown = all.listed.slice(0, ENTRIES);
          return (await Promise.all(shown.map((url) => ask('HEAD', url, 200)))).length;
        },
      },
      read: {
        ours: (index) => bytes(read, urlOf('plain', index)),
        native: (index) => ask('GET', urlOf('plain', index), 200),
      },
      'read, unchanged': {
        ours: (index) => bytes(read, urlOf('tagged', index)),
        // Counts the bytes that a client with a copy would have: a 304 has none.
        native: async (index) =>
          TEXT.length + (await ask('GET', urlOf('tagged', index), 304, { 'if-none-match': ETAG })),
      },
    },
    async close() {
      await Promise.all([listed?.close(), read.close(), agent.close()]);
      await site.close();
    },
  };
}

/** A server in a thread of its own. */
async function startSite() {
  const worker = new Worker(new URL(import.meta.url), { workerData: SITE });
  const origin = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return { origin, close: () => worker.terminate() };
}

function serve() {
  const server = createServer((request, response) => {
    const validators = request.url?.startsWith('/tagged/') ? { etag: ETAG } : {};
    if (validators.etag !== undefined && request.headers['if-none-match'] === ETAG)
      response.writeHead(304, validators).end();
    else {
      response.writeHead(200, { ...validators, 'content-type': 'text/plain', 'content-length': TEXT.length });
      response.end(request.method === 'HEAD' ? undefined : TEXT);
    }
  });
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage(`http://127.0.0.1:${server.address().port}`));
}

if (!isMainThread && workerData === SITE) serve();
