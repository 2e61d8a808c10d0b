/** The client library with servers that follow SEP-2093, or are older: directly, and through the gateway. */
import { describe, expect, it } from 'vitest';
import { createResourceClient, type ResourceClient } from '../../../src/client/index.ts';
import { connectResourceClient } from '../../../src/client/node/index.ts';
import { MATRIX } from '../../e2e/harness.ts';
import { connectToStranger, type StrangerWay, startStranger, WAYS } from './link.ts';

/** One of each era, for tests in which the transport makes no difference. */
const OVER_HTTP: typeof WAYS = WAYS.filter(({ transport }) => transport === 'http');

interface Reached extends AsyncDisposable {
  readonly resources: ResourceClient;
  /** A URI of the server, as the client sees it. */
  readonly uri: (native: string) => string;
}

async function directly(name: string, way: StrangerWay): Promise<Reached> {
  const server = await startStranger(name, way);
  const resources = await connectResourceClient(server.mount as { url: string });
  return {
    resources,
    uri: (native) => native,
    async [Symbol.asyncDispose]() {
      await resources.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const through =
  (client: (typeof MATRIX)[number]) =>
  async (name: string, way: StrangerWay): Promise<Reached> => {
    const on = await connectToStranger(client, name, way);
    const resources = createResourceClient(on.client);
    return {
      resources,
      uri: (native) => `stranger+${native}`,
      async [Symbol.asyncDispose]() {
        await resources.close();
        await on.close();
      },
    };
  };

const PLACES = [
  { where: 'without a gateway', reach: directly },
  ...MATRIX.map((client) => ({
    where: `through the gateway, over ${client.transport}, ${client.era}`,
    reach: through(client),
  })),
];

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe.concurrent.each(PLACES)('$where', ({ reach }) => {
  it.each(WAYS)('a cyclic tree over $transport, $era is walked once, to a limited depth [2093-10]', async (way) => {
    await using at = await reach('sep', way);
    const walk = at.resources.walk(at.uri('shelf:///'));
    const found = await all(walk);
    expect(found.map(({ resource }) => resource.uri).sort()).toEqual(
      ['loop', 'note/1', 'note/2', 'note/3', 'note/4', 'note/5', 'report'].map((name) => at.uri(`shelf:///${name}`)),
    );
    // The loop leads to itself and to the start.
    expect(walk.report).toMatchObject({ stopped: { visited: 2 }, complete: true, containers: 2 });
    const shallow = at.resources.walk(undefined, { maxDepth: 1 });
    // The other entries of the list are below the shelf, as their URIs show.
    expect((await all(shallow)).map(({ resource }) => resource.uri)).toEqual([at.uri('shelf:///')]);
    expect(shallow.report).toMatchObject({ stopped: { 'max-depth': 2 }, complete: false });
    const short = at.resources.walk(at.uri('shelf:///'), { maxResources: 3 });
    expect(await all(short)).toHaveLength(3);
    expect(short.report).toMatchObject({ stopped: { 'max-resources': 1 }, complete: false });
  });

  it.each(WAYS)(
    'metadata over $transport, $era comes from the server’s method, or from its list [2093-2, 2093-11]',
    async (way) => {
      await using sep = await reach('sep', way);
      expect(await sep.resources.metadata(sep.uri('shelf:///note/4'))).toMatchObject({
        source: 'metadata',
        resource: { name: 'Note 4', capabilities: { list: false, subscribe: true, seek: true } },
      });
      await expect(sep.resources.metadata(sep.uri('shelf:///none'))).rejects.toMatchObject({ code: 'not-found' });
      await using older = await reach('older', way);
      const { resource } = await older.resources.metadata(older.uri('old:/one'));
      expect(resource).toMatchObject({ name: 'The one', title: 'Listed with a title' });
      await expect(older.resources.metadata(older.uri('old:/none'))).rejects.toMatchObject({ code: 'not-found' });
    },
  );

  it.each(WAYS)(
    'children over $transport, $era are listed, and a list of any other resource is refused [2093-4, 2093-12]',
    async (way) => {
      await using at = await reach('sep', way);
      const listing = at.resources.list(at.uri('shelf:///'));
      expect(await all(listing)).toHaveLength(7);
      expect(listing.report).toMatchObject({ via: 'scoped-list', pages: 3 });
      const [report] = await all(at.resources.list(at.uri('shelf:///report'))).catch((error: unknown) => [error]);
      expect(report).toMatchObject({ code: expect.stringMatching(/^not-(?:listable|found)$/) });
      const [missing] = await all(at.resources.list(at.uri('shelf:///none'))).catch((error: unknown) => [error]);
      expect(missing).toMatchObject({ code: 'not-found' });
    },
  );

  it.each(OVER_HTTP)(
    'no resource over $transport, $era counts as a container if its server does not say so [2093-12]',
    async (way) => {
      await using at = await reach('older', way);
      const walk = at.resources.walk();
      const found = await all(walk);
      expect(found.map(({ resource }) => resource.uri)).toEqual(
        ['day', 'one', 'boast'].map((name) => at.uri(`old:/${name}`)),
      );
      expect(found.filter(({ resource }) => resource.capabilities?.list === true)).toEqual([]);
      expect(walk.report).toMatchObject({ containers: 1, stopped: {}, complete: true });
      const [alone] = await all(at.resources.list(at.uri('old:/one'))).catch((error: unknown) => [error]);
      expect(alone).toMatchObject({ code: 'not-listable' });
      // The read of a container has two of its seven children. A list has all of them.
      await using sep = await reach('sep', way);
      const { alternatives, others, children } = await sep.resources.read(sep.uri('shelf:///'));
      expect([...alternatives, ...others, ...children]).toHaveLength(2);
      expect(await all(sep.resources.list(sep.uri('shelf:///')))).toHaveLength(7);
    },
  );

  it.each(WAYS)('several URIs in one read over $transport, $era are accepted [2093-7]', async (way) => {
    await using at = await reach('older', way);
    const { primary, others, children } = await at.resources.read(at.uri('old:/day'));
    // The gateway says that it is a container with these children. The server itself says nothing.
    if (at.uri('') === '') expect(primary?.resource.uri).toBe('old:/day/9h');
    else expect(children).toHaveLength(4);
    const given = [...(primary === undefined ? [] : [primary]), ...others, ...children];
    expect(given.map((item) => item.resource.uri)).toEqual(
      ['9h', '12h', '12h', '20h'].map((hour) => at.uri(`old:/day/${hour}`)),
    );
  });
});
