/**
 * The SDK's bare client and Vitrine's in turns, in one process. Argument, in JSON: `{library, url, resources, reads,
 * rounds}`, with the URL of the module `vitrine/client`. Prints, by case and then by client, the turns as `{ms, cpuMs}`:
 * what a turn took, and the processor time of this process in it.
 */
import { Client, InMemoryResponseCacheStore, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';

const { library, url, resources: count, reads, rounds } = JSON.parse(process.argv[2]);
/** @type {typeof import('../../src/client/index.ts')} */
const { createResourceClient } = await import(library);
const loose = z.looseObject({});
const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };

async function bareClient(options = {}) {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { ...pinned, ...options });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** The simplest walk that works at a server without cycles: lists one container after the other, and remembers nothing. */
async function walkBare(client) {
  const waiting = ['bench:///'];
  let found = 0;
  for (let uri = waiting.shift(); uri !== undefined; uri = waiting.shift()) {
    let cursor;
    do {
      const params = cursor === undefined ? { uri } : { uri, cursor };
      const page = await client.request({ method: 'resources/list', params }, loose);
      for (const resource of page.resources) {
        found++;
        if (resource.capabilities?.list === true) waiting.push(resource.uri);
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
  return found;
}

async function walkOurs(client, concurrency) {
  let found = 0;
  const walk = client.walk('bench:///', { maxResources: count, concurrency });
  for await (const _ of walk) found++;
  return walk.report.complete ? found : -1;
}

/** The URIs that are read. */
const uris = Array.from(
  { length: reads },
  (_, index) => `bench:///folder-${Math.floor(index / 99)}/clock-${index % 99}.md`,
);

async function readBare(client) {
  let bytes = 0;
  for (const uri of uris) bytes += (await client.readResource({ uri })).contents[0].text.length;
  return bytes;
}

async function readOurs(client) {
  let bytes = 0;
  for (const uri of uris) bytes += (await client.read(uri)).primary?.text()?.length ?? 0;
  return bytes;
}

/** The SDK's own store keeps 512 answers. */
const roomy = () => new InMemoryResponseCacheStore({ maxEntries: 2 * reads });

/** Each walk gets a new client. Clients that read stay open, with the answers that they have cached. */
const CASES = {
  walk: {
    expected: count,
    bare: { open: () => bareClient(), work: walkBare },
    oneByOne: { open: ourClient, work: (client) => walkOurs(client, 1) },
    four: { open: ourClient, work: (client) => walkOurs(client, 4) },
  },
  read: {
    expected: reads * 1_024,
    bare: { open: warmed(() => bareClient(), readBare), work: readBare, stays: true },
    roomy: {
      open: warmed(() => bareClient({ responseCacheStore: roomy() }), readBare),
      work: readBare,
      stays: true,
    },
    ours: { open: warmed(ourClient, readOurs), work: readOurs, stays: true },
  },
};

/** Returns a function that gives one client, which it opens and uses once at its first call. */
function warmed(open, work) {
  let client;
  return async () => {
    if (client !== undefined) return client;
    client = await open();
    await work(client);
    return client;
  };
}

async function ourClient() {
  const client = createResourceClient({ url, clientOptions: pinned });
  await client.connect();
  return client;
}

/** @type {Record<string, Record<string, {ms: number, cpuMs: number}[]>>} */
const measured = {};
// The first round does not count: code is compiled in it.
for (let round = -1; round < rounds; round++) {
  for (const [name, { expected, ...clients }] of Object.entries(CASES)) {
    const turns = Object.entries(clients);
    for (let turn = 0; turn < turns.length; turn++) {
      // Each round begins with another client, so that none is always the first.
      const [target, { open, work, stays = false }] = turns[(round + 1 + turn) % turns.length];
      const client = await open();
      const before = process.cpuUsage();
      const start = performance.now();
      const done = await work(client);
      const ms = performance.now() - start;
      const { user, system } = process.cpuUsage(before);
      if (!stays) await client.close();
      if (done !== expected) throw new Error(`${name}, ${target}: ${done} of ${expected}`);
      measured[name] ??= {};
      measured[name][target] ??= [];
      if (round >= 0) measured[name][target].push({ ms, cpuMs: (user + system) / 1_000 });
    }
  }
}
process.stdout.write(JSON.stringify(measured), () => process.exit());
