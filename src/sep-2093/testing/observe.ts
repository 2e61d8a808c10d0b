/** Requests that the laws send, and lookups in the results. */
import assert from 'node:assert/strict';
import { type Data, isData } from '../../protocol/data.ts';
import { INVALID_PARAMS, LEGACY_RESOURCE_NOT_FOUND } from '../../protocol/error-codes.ts';
import type { HierarchyFixture } from './fixture.ts';

/** The most pages of one list. */
const MAX_PAGES = 1_000;

/** The most resources of one list that a law looks at. */
const SAMPLE = 50;

export const list = async (fixture: HierarchyFixture, params: Data): Promise<readonly Data[]> =>
  dataIn(await fixture.request('resources/list', params), 'resources');

/** The children of the fixture's container, from all pages. */
export async function childrenOf(fixture: HierarchyFixture): Promise<readonly Data[]> {
  const { uri } = fixture.container;
  const found: Data[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await fixture.request('resources/list', { uri, ...(cursor !== undefined && { cursor }) });
    found.push(...dataIn(result, 'resources'));
    cursor = result.nextCursor;
    if (cursor === undefined) return found;
    assert.equal(typeof cursor, 'string', 'A cursor is a text');
  }
  return assert.fail(`The list of ${uri} did not end after ${MAX_PAGES} pages`);
}

/** Some of the default list, the children of the container, and both resources that the fixture names. */
export async function sampleOf(fixture: HierarchyFixture): Promise<readonly Data[]> {
  const listed = [...(await list(fixture, {})).slice(0, SAMPLE), ...(await childrenOf(fixture)).slice(0, SAMPLE)];
  const named = [await metadataOf(fixture, fixture.container.uri), await metadataOf(fixture, fixture.leaf)];
  return [...listed, ...named];
}

export async function metadataOf(fixture: HierarchyFixture, uri: unknown): Promise<Data> {
  const { resource } = await fixture.request('resources/metadata', { uri });
  assert.ok(isData(resource), `The metadata of ${uri} has no resource`);
  return resource;
}

export const contentsOf = async (fixture: HierarchyFixture, uri: string): Promise<readonly Data[]> =>
  dataIn(await fixture.request('resources/read', { uri }), 'contents');

/** @returns a capability of a resource; false if it is absent (2093-12) */
export const flagOf = ({ capabilities }: Data, flag: string): boolean =>
  isData(capabilities) && capabilities[flag] === true;

/** Returns the error of a request; undefined if the request succeeded. */
export async function errorOf(fixture: HierarchyFixture, method: string, params: Data): Promise<Data | undefined> {
  try {
    await fixture.request(method, params);
    return undefined;
  } catch (error) {
    // The message of an error is not enumerable, so its fields are copied one by one.
    const { code, data } = error as Data;
    return { code, data, message: String((error as Error).message) };
  }
}

/** Sends a request that the server has to refuse. @returns the error */
export async function refusalOf(fixture: HierarchyFixture, method: string, uri: string): Promise<Data> {
  const error = await errorOf(fixture, method, { uri });
  assert.ok(error !== undefined, `${method} of ${uri} was answered`);
  const codes: readonly unknown[] = [INVALID_PARAMS, LEGACY_RESOURCE_NOT_FOUND];
  assert.ok(codes.includes(error.code), `${method} of ${uri} was refused with ${error.code}: ${error.message}`);
  return error;
}

function dataIn(result: Data, field: string): readonly Data[] {
  const entries: unknown = result[field];
  assert.ok(Array.isArray(entries) && entries.every(isData), `A result has no list of ${field}`);
  return entries;
}
