/** Looks at a provider from outside: drains pages and bodies, catches refusals, waits for changes. */
import assert from 'node:assert/strict';
import { type BodyWindow, chunksOf, closeBodies, type ResourceBody } from '../core/body.ts';
import { type Context, createContext } from '../core/context.ts';
import { ResourceError, type ResourceErrorCode } from '../core/errors.ts';
import type { ByteRange, ChangeEvent, Page, ReadOptions, ResourceProvider } from '../core/provider.ts';
import type { Resource } from '../protocol/resources.ts';
import { childrenOf, containersOf, type ProviderFixture, rootsOf } from './fixture.ts';

/** Page sizes under which every list is drained. */
export const PAGE_SIZES: readonly number[] = [1, 2, 7, 100];

/** A list that has not ended after this many pages counts as endless. */
const MAX_PAGES = 5_000;

/** Milliseconds within which a change has to be reported, unless the fixture says otherwise. */
const PATIENCE_MS = 5_000;

/** Options with which a read gives all that a fixture has. */
export const EVERYTHING: ReadOptions = { maxBytes: 64 * 1024 * 1024, maxChildren: 10_000 };

interface AnyPage<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string | undefined;
}

/** All items of a paged list. `between` runs after each page that has a next one. */
export async function drain<T>(
  fetch: (page: Page) => Promise<AnyPage<T>>,
  limit: number,
  between: (shown: readonly T[]) => Promise<void> = async () => {},
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await fetch({ cursor, limit });
    assert.ok(page.items.length <= limit, `A page of ${limit} had ${page.items.length} entries`);
    all.push(...page.items);
    if (page.nextCursor === undefined) return all;
    assert.equal(typeof page.nextCursor, 'string', 'The type of a cursor');
    cursor = page.nextCursor;
    await between(all);
  }
  assert.fail(`A list did not end after ${MAX_PAGES} pages of ${limit}`);
}

/** All entries of a container, or the roots. */
export function listAll(
  provider: ResourceProvider,
  uri: string | undefined,
  limit = 100,
  between?: (shown: readonly Resource[]) => Promise<void>,
): Promise<Resource[]> {
  const ctx = createContext();
  return drain(
    async (page) => {
      const { resources, nextCursor } = await provider.list(uri, page, ctx);
      return { items: resources, nextCursor };
    },
    limit,
    between,
  );
}

/** All entries of all lists: of the roots, and of each container. */
export async function listTree(fixture: ProviderFixture): Promise<readonly Resource[]> {
  const found = [...(await listAll(fixture.provider, undefined))];
  for (const container of containersOf(fixture)) {
    found.push(...(await listAll(fixture.provider, fixture.uriOf(container))));
  }
  return found;
}

/** The URIs that a container, or the list of roots, ought to have; sorted. */
export function expectedUris(fixture: ProviderFixture, container: string | undefined): string[] {
  const paths = container === undefined ? rootsOf(fixture) : childrenOf(fixture, container);
  return paths.map((path) => fixture.uriOf(path)).sort();
}

export const urisOf = (resources: readonly Resource[]): string[] => resources.map((resource) => resource.uri);

/** The bytes of a body, which is closed afterwards. */
export async function drainBody(body: ResourceBody): Promise<Uint8Array> {
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of chunksOf(body.content)) chunks.push(chunk);
    // Not a Buffer: bytes are compared by value and by type.
    return new Uint8Array(Buffer.concat(chunks));
  } finally {
    await body.close?.();
  }
}

/** The result of reading a leaf, its first body drained and all of them closed. */
export interface LeafRead {
  readonly bodies: readonly ResourceBody[];
  readonly bytes: Uint8Array;
  readonly window: BodyWindow | undefined;
}

export async function readLeaf(
  provider: ResourceProvider,
  uri: string,
  range?: ByteRange,
  ctx: Context = createContext(),
): Promise<LeafRead> {
  const bodies = await provider.read(uri, { ...EVERYTHING, range }, ctx);
  try {
    const [body] = bodies;
    assert.ok(body !== undefined, `A read of ${uri} gave no body at all`);
    return { bodies, bytes: await drainBody(body), window: body.window };
  } finally {
    await closeBodies(bodies);
  }
}

/** Expects the work to be refused with one of these codes, and returns the ResourceError, whose `uri` the caller can check. */
export async function refusal(
  work: () => Promise<unknown>,
  codes: readonly ResourceErrorCode[] | 'any',
  what: string,
): Promise<ResourceError> {
  const error = await thrownBy(work);
  assert.ok(error !== undefined, `${what} was not refused`);
  assert.ok(error instanceof ResourceError, `${what} was refused with something else than a ResourceError: ${error}`);
  if (codes !== 'any') {
    assert.ok(codes.includes(error.code), `${what} was refused with "${error.code}", not with ${codes.join(' or ')}`);
  }
  return error;
}

/** The error that the work threw, or undefined. */
export async function thrownBy(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** A watch whose events are kept. */
export interface Observation extends AsyncDisposable {
  readonly events: readonly ChangeEvent[];
  /** Runs the change. Resolves with the first event after its start, once the change has ended, too. */
  after(what: string, change: () => Promise<void> | void): Promise<ChangeEvent>;
}

/** Watches a URI, or the list of resources. */
export async function observe(fixture: ProviderFixture, uri: string | undefined): Promise<Observation> {
  const { provider, patienceMs = PATIENCE_MS } = fixture;
  assert.ok(provider.watch !== undefined, 'The provider declares that it can be watched, but has no `watch`');
  const events: ChangeEvent[] = [];
  let wake: (event: ChangeEvent) => void = () => {};
  const handle = await provider.watch(
    uri,
    (event) => {
      events.push(event);
      wake(event);
    },
    createContext(),
  );
  return {
    events,
    async after(what, change) {
      let timer: NodeJS.Timeout | undefined;
      const event = new Promise<ChangeEvent>((resolve, reject) => {
        wake = resolve;
        timer = setTimeout(
          () => reject(new Error(`${what}: no event within ${patienceMs} ms for ${uri ?? 'the list'}`)),
          patienceMs,
        );
      });
      try {
        await Promise.all([change(), event]);
        return await event;
      } finally {
        clearTimeout(timer);
      }
    },
    [Symbol.asyncDispose]: async () => handle[Symbol.asyncDispose](),
  };
}
