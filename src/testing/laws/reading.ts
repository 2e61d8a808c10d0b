/** Laws of `read`: whole leaves, limited children of containers, and bodies and streams that are left early. */
import assert from 'node:assert/strict';
import { chunksOf, closeBodies, knownSize, type ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ReadOptions } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import { busiestContainer, childrenOf, containersOf, largestLeaf, type ProviderFixture } from '../fixture.ts';
import type { ProviderLaw } from '../law.ts';
import { drainBody, EVERYTHING, readLeaf, thrownBy, urisOf } from '../observe.ts';

const hasContainers = (fixture: ProviderFixture): true | string =>
  containersOf(fixture).length > 0 || 'The fixture has no containers';

export const readingLaws: readonly ProviderLaw[] = [
  {
    name: 'a read of a leaf gives its bytes, under its own URI [2093-6]',
    async check(fixture) {
      for (const [path, expected] of fixture.leaves) {
        const uri = fixture.uriOf(path);
        const { bodies, bytes, window } = await readLeaf(fixture.provider, uri);
        assert.deepEqual(bytes, new Uint8Array(expected), `The bytes of ${uri}`);
        assert.deepEqual([...new Set(bodies.map((body) => body.resource.uri))], [uri], 'The URIs of the bodies');
        assert.ok(!bodies.some((body) => body.child), 'A body of a leaf is marked as a child');
        assert.equal(window, undefined, 'A whole leaf is marked as a window');
      }
    },
  },
  {
    name: 'a body describes its resource as `metadata` does, except for the type and `_meta` [2093-1, 2093-3]',
    async check(fixture) {
      for (const [path, expected] of fixture.leaves) {
        const uri = fixture.uriOf(path);
        const described = await fixture.provider.metadata(uri, createContext());
        const { bodies } = await readLeaf(fixture.provider, uri);
        const [body] = bodies;
        assert.deepEqual(apartFromType(body?.resource), apartFromType(described));
        for (const size of [described.size, body && knownSize(body.content)]) {
          assert.ok(size === undefined || size === expected.byteLength, `The size of ${uri} is given as ${size}`);
        }
      }
    },
  },
  {
    name: 'a read of a container gives direct children, each whole and marked as a child [2093-5]',
    applies: hasContainers,
    async check(fixture) {
      for (const container of containersOf(fixture)) {
        const bytesOf = await readContainer(fixture, container, EVERYTHING);
        for (const path of childrenOf(fixture, container)) {
          const bytes = bytesOf.get(fixture.uriOf(path));
          const expected = fixture.leaves.get(path);
          if (bytes !== undefined && expected !== undefined) assert.deepEqual(bytes, new Uint8Array(expected));
        }
      }
    },
  },
  {
    name: 'a read of a container stays within maxChildren and maxBytes [2093-5, SEC-RES-3]',
    applies: hasContainers,
    async check(fixture) {
      for (const container of containersOf(fixture)) {
        for (const maxChildren of [1, 3]) {
          const children = await readContainer(fixture, container, { ...EVERYTHING, maxChildren });
          assert.ok(children.size <= maxChildren, `${children.size} children, where ${maxChildren} were allowed`);
        }
        for (const maxBytes of [0, 1, 64]) {
          const children = await readContainer(fixture, container, { ...EVERYTHING, maxBytes });
          const total = [...children.values()].reduce((sum, bytes) => sum + bytes.byteLength, 0);
          assert.ok(total <= maxBytes, `${total} bytes of children, where ${maxBytes} were allowed`);
        }
      }
    },
  },
  {
    name: 'bodies can be closed unread, twice, and after they are drained',
    async check(fixture) {
      const targets = [largestLeaf(fixture), busiestContainer(fixture)].filter((path) => path !== undefined);
      for (const uri of targets.map((path) => fixture.uriOf(path))) {
        const unread = await fixture.provider.read(uri, EVERYTHING, createContext());
        for (const body of [...unread, ...unread]) await body.close?.();
        const drained = await fixture.provider.read(uri, EVERYTHING, createContext());
        for (const body of drained) {
          await drainBody(body);
          await body.close?.();
        }
      }
    },
  },
  {
    name: 'a stream may be left in the middle, and the resource read again',
    async check(fixture) {
      const path = largestLeaf(fixture);
      const uri = fixture.uriOf(path);
      const bodies = await fixture.provider.read(uri, EVERYTHING, createContext());
      for (const body of bodies) {
        for await (const _chunk of chunksOf(body.content)) break;
      }
      await closeBodies(bodies);
      assert.deepEqual((await readLeaf(fixture.provider, uri)).bytes, new Uint8Array(fixture.leaves.get(path) ?? []));
    },
  },
  {
    name: 'an aborted signal stops a stream [RES-7]',
    async check(fixture) {
      const uri = fixture.uriOf(largestLeaf(fixture));
      const reason = new Error('The caller is gone');
      const caller = new AbortController();
      const bodies = await fixture.provider.read(uri, EVERYTHING, createContext({ signal: caller.signal }));
      try {
        for (const body of bodies) await abortMidway(body, caller, reason);
      } finally {
        await closeBodies(bodies);
      }
    },
  },
];

/** A resource without its type and `_meta`. These may differ, because only a read has seen the bytes (SEC-RES-6). */
function apartFromType(resource: Resource | undefined): Partial<Resource> {
  const { mimeType: _mimeType, _meta, ...rest } = resource ?? {};
  return rest;
}

/** Reads a container and checks its children. @returns the bytes of the children by URI */
async function readContainer(
  fixture: ProviderFixture,
  container: string,
  want: ReadOptions,
): Promise<Map<string, Uint8Array>> {
  const uri = fixture.uriOf(container);
  const allowed = new Set(childrenOf(fixture, container).map((path) => fixture.uriOf(path)));
  const bodies = await fixture.provider.read(uri, want, createContext());
  try {
    const children = bodies.filter((body) => body.resource.uri !== uri);
    assert.equal(new Set(urisOf(children.map((body) => body.resource))).size, children.length, 'A child came twice');
    const bytes = new Map<string, Uint8Array>();
    for (const body of children) {
      assert.ok(allowed.has(body.resource.uri), `${body.resource.uri} is no direct child of ${uri}`);
      assert.equal(body.child, true, 'A child is not marked as a child');
      assert.equal(body.window, undefined, 'A child is marked as a window');
      assert.equal(typeof body.resource.capabilities?.list, 'boolean', 'The capabilities of a child have no `list`');
      bytes.set(body.resource.uri, await drainBody(body));
    }
    return bytes;
  } finally {
    await closeBodies(bodies);
  }
}

/** Takes one chunk, aborts, and goes on: the stream has to end with an error. Does nothing for bytes in memory. */
async function abortMidway(body: ResourceBody, caller: AbortController, reason: Error): Promise<void> {
  if (body.content.kind === 'bytes') return;
  let chunks = 0;
  const error = await thrownBy(async () => {
    for await (const _chunk of chunksOf(body.content)) {
      if (++chunks === 1) caller.abort(reason);
    }
  });
  assert.ok(error !== undefined, `A stream went on to its end, ${chunks} chunks, after its caller was gone`);
  assert.ok(error === reason || error instanceof ResourceError, `An aborted stream threw ${error}`);
}
