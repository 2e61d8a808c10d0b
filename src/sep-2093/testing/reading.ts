/** Laws of `resources/read`: which contents a read gives, and what they say. */
import assert from 'node:assert/strict';
import { INVALID_PARAMS } from '../../protocol/error-codes.ts';
import type { HierarchyLaw } from './fixture.ts';
import { contentsOf, errorOf, metadataOf } from './observe.ts';

/** The fields that are the same in all formats of one content. */
const ALIKE = ['name', 'title', 'description', 'annotations'] as const;

export const READING_LAWS: readonly HierarchyLaw[] = [
  {
    name: 'a resource without children reads as at least one item, each with its URI and either text or blob [2093-6]',
    async check(fixture) {
      const contents = await contentsOf(fixture, fixture.leaf);
      assert.ok(contents.length > 0, 'There are no contents');
      for (const { uri, text, blob } of contents) {
        assert.equal(uri, fixture.leaf, 'Contents have another URI');
        assert.notEqual(typeof text === 'string', typeof blob === 'string', 'An item has text and blob, or neither');
      }
    },
  },
  {
    name: 'formats of one content differ in their types and say the same otherwise [2093-6]',
    async check(fixture) {
      const contents = await contentsOf(fixture, fixture.leaf);
      const types = contents.map(({ mimeType }) => mimeType);
      assert.equal(new Set(types).size, types.length, 'Two formats have the same type');
      for (const item of contents) {
        for (const field of ALIKE) assert.deepEqual(item[field], contents[0]?.[field], `${field} of formats differs`);
      }
    },
  },
  {
    name: 'contents have the same fields as metadata [2093-1]',
    async check(fixture) {
      const described = await metadataOf(fixture, fixture.leaf);
      for (const item of await contentsOf(fixture, fixture.leaf)) {
        for (const field of [...ALIKE, 'icons', 'capabilities']) {
          assert.deepEqual(item[field], described[field], `${field} of contents differs`);
        }
      }
    },
  },
  {
    name: 'the described type is one of the types that a read gives [2093-8]',
    async check(fixture) {
      const { mimeType } = await metadataOf(fixture, fixture.leaf);
      const types = (await contentsOf(fixture, fixture.leaf)).map((item) => item.mimeType);
      assert.ok(mimeType === undefined || types.includes(mimeType), `A read of ${mimeType} gives ${types.join(', ')}`);
    },
  },
  {
    name: 'the size of an item is the number of its bytes, before base64 [2093-6]',
    async check(fixture) {
      for (const { mimeType, size, text, blob } of await contentsOf(fixture, fixture.leaf)) {
        const bytes = typeof blob === 'string' ? atob(blob).length : new TextEncoder().encode(String(text)).length;
        assert.ok(size === undefined || size === bytes, `The size of ${mimeType} is ${size} and not ${bytes}`);
      }
    },
  },
  {
    name: 'the read of a container gives nothing but itself and children of it, each with its name, or is refused [2093-5]',
    async check(fixture) {
      const { uri, children } = fixture.container;
      const refused = await errorOf(fixture, 'resources/read', { uri });
      if (refused !== undefined) return assert.equal(refused.code, INVALID_PARAMS, 'The read of a container fails');
      for (const item of await contentsOf(fixture, uri)) {
        assert.ok([uri, ...children].includes(String(item.uri)), `The read of a container gives ${item.uri}`);
        assert.equal(typeof item.name, 'string', `The name of ${item.uri}`);
      }
    },
  },
];
