/** Laws of URIs: any name can be in a URI, and a URI names one resource. */
import assert from 'node:assert/strict';
import { createContext } from '../../core/context.ts';
import { containersOf, type ProviderFixture } from '../fixture.ts';
import type { ProviderLaw } from '../law.ts';
import { EVERYTHING, listAll, listTree, readLeaf, refusal, urisOf } from '../observe.ts';

/** A URI as RFC 3986 allows it, with complete escapes in upper case. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-F]{2})*$/;

const hasSlashes = (fixture: ProviderFixture): true | string =>
  fixture.hierarchical === true || 'The fixture does not say that it is `hierarchical`';

/** The URIs of containers that do not end with a slash yet; a root such as `file:///` does. */
const unslashed = (fixture: ProviderFixture): string[] =>
  containersOf(fixture)
    .map((path) => fixture.uriOf(path))
    .filter((uri) => !uri.endsWith('/'));

export const namingLaws: readonly ProviderLaw[] = [
  {
    name: 'every URI is valid by RFC 3986, and belongs to one resource [RES-1]',
    async check(fixture) {
      const { schemes } = fixture.provider.features;
      const uris = urisOf(await listTree(fixture));
      for (const uri of uris) {
        assert.match(uri, URI);
        assert.ok(
          schemes.includes(uri.slice(0, uri.indexOf(':')).toLowerCase()),
          `The scheme of ${uri} is not declared`,
        );
      }
      assert.equal(new Set(uris).size, uris.length, 'Two resources have the same URI');
    },
  },
  {
    name: 'every listed URI is described under itself and read as the bytes of that name',
    async check(fixture) {
      const { provider } = fixture;
      const listed = new Set(urisOf(await listTree(fixture)));
      for (const [path, bytes] of fixture.leaves) {
        const uri = fixture.uriOf(path);
        assert.ok(listed.has(uri), `${JSON.stringify(path)} is not listed as ${uri}`);
        const resource = await provider.metadata(uri, createContext());
        assert.equal(resource.uri, uri);
        assert.ok(resource.name.length > 0, `${uri} has no name`);
        assert.deepEqual((await readLeaf(provider, uri)).bytes, new Uint8Array(bytes), `The bytes of ${uri}`);
      }
    },
  },
  {
    name: 'an escape is decoded once: a name that looks like an escape stays that name',
    applies: hasSlashes,
    async check(fixture) {
      for (const path of fixture.leaves.keys()) {
        const decoded = decodedAgain(path);
        if (decoded === undefined || fixture.leaves.has(decoded)) continue;
        // The resource with the literal name exists, and the one with the decoded name does not.
        await fixture.provider.metadata(fixture.uriOf(path), createContext());
        await refusal(
          () => fixture.provider.metadata(fixture.uriOf(decoded), createContext()),
          ['not-found', 'invalid'],
          `${decoded}, which is ${path} decoded again,`,
        );
      }
    },
  },
  {
    name: 'a slash at the end is accepted for a container, and means the same',
    applies: hasSlashes,
    async check(fixture) {
      const { provider } = fixture;
      const ctx = createContext();
      for (const uri of unslashed(fixture)) {
        assert.deepEqual(await provider.metadata(`${uri}/`, ctx), await provider.metadata(uri, ctx));
        assert.deepEqual(await listAll(provider, `${uri}/`), await listAll(provider, uri));
        const bodies = await provider.read(`${uri}/`, EVERYTHING, ctx);
        for (const body of bodies) await body.close?.();
      }
    },
  },
  {
    name: 'a slash at the end of a leaf names nothing',
    applies: hasSlashes,
    async check(fixture) {
      const { provider } = fixture;
      const ctx = createContext();
      for (const path of fixture.leaves.keys()) {
        const uri = `${fixture.uriOf(path)}/`;
        await refusal(() => provider.metadata(uri, ctx), ['not-found'], `metadata of ${uri}`);
        await refusal(() => provider.read(uri, EVERYTHING, ctx), ['not-found'], `read of ${uri}`);
        await refusal(() => provider.list(uri, { limit: 1 }, ctx), ['not-found'], `list of ${uri}`);
      }
    },
  },
];

/** The path with its escapes decoded; undefined if it has none, or they are invalid. */
function decodedAgain(path: string): string | undefined {
  try {
    const decoded = decodeURIComponent(path);
    return decoded === path ? undefined : decoded;
  } catch {
    return undefined;
  }
}
