/** Laws of `resources/list`, `resources/metadata` and of what resources say of themselves. */
import assert from 'node:assert/strict';
import { isData } from '../../protocol/data.ts';
import { INVALID_PARAMS } from '../../protocol/error-codes.ts';
import { RESOURCE_HIERARCHY_EXTENSION } from '../../protocol/meta.ts';
import type { HierarchyLaw } from './fixture.ts';
import { childrenOf, errorOf, flagOf, list, metadataOf, refusalOf, sampleOf } from './observe.ts';

/** The fields that a list and metadata have to agree on. */
const SHARED = ['uri', 'name', 'title', 'description', 'mimeType', 'size', 'capabilities'] as const;

export const LISTING_LAWS: readonly HierarchyLaw[] = [
  {
    name: 'the server declares `resources`; if it declares the extension, it does so with an object',
    async check({ capabilities: { resources, extensions } }) {
      assert.ok(isData(resources), '`resources` is not declared');
      const declared = isData(extensions) ? extensions[RESOURCE_HIERARCHY_EXTENSION] : undefined;
      assert.ok(declared === undefined || isData(declared), 'The extension is declared with something else');
    },
  },
  {
    name: 'a list with a URI has the direct children, all of them and each once [2093-4]',
    async check(fixture) {
      const uris = (await childrenOf(fixture)).map(({ uri }) => uri);
      assert.deepEqual(uris.sort(), [...fixture.container.children].sort(), 'The children differ');
    },
  },
  {
    name: 'a cursor that the server never gave is refused as invalid, or goes on within the same list [2093-4]',
    async check(fixture) {
      const { uri, children } = fixture.container;
      const params = { uri, cursor: 'no server gives this one' };
      const error = await errorOf(fixture, 'resources/list', params);
      if (error !== undefined) return assert.equal(error.code, INVALID_PARAMS, 'The code for a wrong cursor differs');
      for (const entry of await list(fixture, params)) {
        assert.ok(children.includes(String(entry.uri)), `A wrong cursor led to ${entry.uri}`);
      }
    },
  },
  {
    name: 'what is missing is refused by list, metadata and read [2093-4]',
    async check(fixture) {
      for (const method of ['list', 'metadata', 'read'])
        await refusalOf(fixture, `resources/${method}`, fixture.missing);
    },
  },
  {
    name: 'a resource without children is refused by list, and not as if it were missing [2093-4]',
    async check(fixture) {
      const words = ({ message, data }: Readonly<Record<string, unknown>>, uri: string): string =>
        JSON.stringify([message, data]).replaceAll(uri, '');
      const childless = await refusalOf(fixture, 'resources/list', fixture.leaf);
      const missing = await refusalOf(fixture, 'resources/list', fixture.missing);
      const different = words(childless, fixture.leaf) !== words(missing, fixture.missing);
      assert.ok(different, 'The refusals of a leaf and of nothing are the same');
    },
  },
  {
    name: 'every resource has a name, and says of itself what works: `list` and `subscribe` [2093-3]',
    async check(fixture) {
      for (const { uri, name, capabilities } of await sampleOf(fixture)) {
        assert.equal(typeof name, 'string', `The name of ${uri}`);
        for (const flag of ['list', 'subscribe']) {
          const value = isData(capabilities) ? capabilities[flag] : undefined;
          assert.equal(typeof value, 'boolean', `capabilities.${flag} of ${uri}`);
        }
      }
    },
  },
  {
    name: '`list` is true exactly where a list works [2093-3]',
    async check(fixture) {
      for (const resource of await sampleOf(fixture)) {
        const refused = await errorOf(fixture, 'resources/list', { uri: resource.uri });
        assert.equal(refused === undefined, flagOf(resource, 'list'), `capabilities.list of ${resource.uri}`);
      }
    },
  },
  {
    name: '`subscribe` is true only where the server declares subscriptions [2093-3]',
    async check(fixture) {
      const { resources } = fixture.capabilities;
      const declared = isData(resources) && resources.subscribe === true;
      for (const resource of await sampleOf(fixture)) {
        assert.ok(declared || !flagOf(resource, 'subscribe'), `capabilities.subscribe of ${resource.uri}`);
      }
    },
  },
  {
    name: 'metadata says of a resource what a list says, and has no content [2093-2]',
    async check(fixture) {
      for (const listed of await sampleOf(fixture)) {
        const described = await metadataOf(fixture, listed.uri);
        assert.ok(!('text' in described) && !('blob' in described), `The metadata of ${listed.uri} has content`);
        for (const field of SHARED) {
          assert.deepEqual(described[field], listed[field], `${field} of ${listed.uri} differs`);
        }
      }
    },
  },
  {
    name: 'parameters that it does not know are let through [2093-11]',
    async check(fixture) {
      const unknown = { 'example.com/unknown': 1, _meta: { 'example.com/unknown': { of: [null] } } };
      for (const method of ['resources/metadata', 'resources/read']) {
        const error = await errorOf(fixture, method, { uri: fixture.leaf, ...unknown });
        assert.equal(error, undefined, `${method} refuses parameters that it does not know`);
      }
    },
  },
];
