/** Laws of `list` and `metadata`: pages, direct children, and equal descriptions of a resource in both. */
import assert from 'node:assert/strict';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import {
  busiestContainer,
  childrenOf,
  containersOf,
  join,
  largestLeaf,
  missingPath,
  type ProviderFixture,
} from '../fixture.ts';
import { canChange, type ProviderLaw } from '../law.ts';
import { EVERYTHING, expectedUris, listAll, listTree, PAGE_SIZES, refusal, thrownBy, urisOf } from '../observe.ts';

/** The lists to check: that of the roots, and that of every container. */
const lists = (fixture: ProviderFixture): readonly (string | undefined)[] => [undefined, ...containersOf(fixture)];

const uriOf = (fixture: ProviderFixture, container: string | undefined): string | undefined =>
  container === undefined ? undefined : fixture.uriOf(container);

/** Cursors that no provider has given. Clients cannot send such cursors, because they are sealed, but providers must not rely on that. */
const GARBAGE_CURSORS: readonly string[] = [
  '',
  ' ',
  'garbage',
  '0',
  '-1',
  'null',
  '{}',
  '[]',
  '{"',
  '["nowhere"]',
  '[1,2]',
  '\u0000',
  '\ud800',
  '😀',
  '../..',
  'x'.repeat(10_000),
];

/** The number of pages of one list after which the law makes no more changes. */
const CHANGES = 6;

export const listingLaws: readonly ProviderLaw[] = [
  {
    name: 'a list has the direct children of its container, and nothing else [2093-4]',
    async check(fixture) {
      for (const container of lists(fixture)) {
        const listed = urisOf(await listAll(fixture.provider, uriOf(fixture, container)));
        assert.deepEqual(listed.sort(), expectedUris(fixture, container), `Children of ${container ?? 'the roots'}`);
      }
    },
  },
  {
    name: 'pages of any size lose and repeat nothing, and keep one order',
    async check(fixture) {
      for (const container of lists(fixture)) {
        const uri = uriOf(fixture, container);
        const whole = urisOf(await listAll(fixture.provider, uri));
        for (const size of PAGE_SIZES) {
          const paged = urisOf(await listAll(fixture.provider, uri, size));
          assert.deepEqual(paged, whole, `Pages of ${size} of ${uri ?? 'the roots'}`);
        }
      }
    },
  },
  {
    name: 'entries that come and go between pages neither lose nor repeat the others',
    applies: (fixture) =>
      busiestContainer(fixture) === undefined ? 'The fixture has no containers' : canChange(fixture),
    async check(fixture) {
      for (const size of [1, 2, 7]) await drainUnderChange(fixture, size);
    },
  },
  {
    name: 'a list describes each entry as `metadata` does [2093-2]',
    async check(fixture) {
      for (const entry of await listTree(fixture)) {
        assert.deepEqual(await fixture.provider.metadata(entry.uri, createContext()), entry);
      }
    },
  },
  {
    name: 'every resource carries capabilities, and `list` is true exactly where listing works [2093-3]',
    async check(fixture) {
      for (const { uri, capabilities } of await listTree(fixture)) {
        assert.equal(typeof capabilities?.list, 'boolean', `capabilities.list of ${uri}`);
        assert.equal(typeof capabilities?.subscribe, 'boolean', `capabilities.subscribe of ${uri}`);
        const refused = await thrownBy(() => fixture.provider.list(uri, { limit: 1 }, createContext()));
        assert.equal(refused === undefined, capabilities?.list, `capabilities.list of ${uri}`);
      }
    },
  },
  {
    name: 'a container has the type inode/directory, or none [2093-8]',
    async check(fixture) {
      for (const container of containersOf(fixture)) {
        const { mimeType } = await fixture.provider.metadata(fixture.uriOf(container), createContext());
        assert.ok(mimeType === undefined || mimeType === 'inode/directory', `A container is ${mimeType}`);
      }
    },
  },
  {
    name: 'listing a leaf is refused as not-listable [2093-4]',
    async check(fixture) {
      const uri = fixture.uriOf(largestLeaf(fixture));
      const error = await refusal(
        () => fixture.provider.list(uri, { limit: 10 }, createContext()),
        ['not-listable'],
        'Listing a leaf',
      );
      assert.equal(error.uri, uri, 'The URI of the error');
    },
  },
  {
    name: 'list, metadata and read refuse a missing resource as not-found, with its URI [2093-4, RES-2]',
    async check(fixture) {
      const { provider } = fixture;
      const ctx = createContext();
      const missing = [missingPath(fixture), missingPath(fixture, 'no/such place')];
      if (fixture.hierarchical) missing.push(join(largestLeaf(fixture), 'below a leaf'));
      for (const uri of missing.map((path) => fixture.uriOf(path))) {
        for (const [what, work] of [
          ['list', () => provider.list(uri, { limit: 10 }, ctx)],
          ['metadata', () => provider.metadata(uri, ctx)],
          ['read', () => provider.read(uri, EVERYTHING, ctx)],
        ] as const) {
          const error = await refusal(work, ['not-found'], `${what} of ${uri}`);
          assert.equal(error.uri, uri, `The URI of the error of ${what}`);
        }
      }
    },
  },
  {
    name: 'a cursor that is not its own is refused as invalid, or goes on from some place of the same list',
    async check(fixture) {
      for (const container of lists(fixture).slice(0, 3)) {
        const uri = uriOf(fixture, container);
        const expected = new Set(expectedUris(fixture, container));
        for (const cursor of GARBAGE_CURSORS) await tryCursor(fixture, uri, cursor, expected);
      }
    },
  },
  {
    name: 'an aborted signal stops a list [RES-7]',
    async check(fixture) {
      const container = busiestContainer(fixture);
      const reason = new Error('The caller is gone');
      const ctx = createContext({ signal: AbortSignal.abort(reason) });
      const uri = uriOf(fixture, container);
      const error = await thrownBy(() => fixture.provider.list(uri, { limit: 100 }, ctx));
      assert.ok(error !== undefined, 'An aborted list gave a page');
      assert.ok(error === reason || error instanceof ResourceError, `An aborted list threw ${error}`);
    },
  },
  {
    name: 'an aborted `metadata` answers in full or ends with the reason',
    async check(fixture) {
      const reason = new Error('The caller is gone');
      const ctx = createContext({ signal: AbortSignal.abort(reason) });
      const uri = fixture.uriOf(largestLeaf(fixture));
      const expected = await fixture.provider.metadata(uri, createContext());
      const outcome = await fixture.provider.metadata(uri, ctx).catch((error: unknown) => error);
      if (outcome === reason || outcome instanceof ResourceError) return;
      assert.deepEqual(outcome, expected);
    },
  },
];

async function tryCursor(
  fixture: ProviderFixture,
  uri: string | undefined,
  cursor: string,
  expected: ReadonlySet<string>,
): Promise<void> {
  const what = `The cursor ${JSON.stringify(cursor.slice(0, 20))}`;
  const outcome = await fixture.provider
    .list(uri, { cursor, limit: 3 }, createContext())
    .catch((error: unknown) => ({ error }));
  if ('resources' in outcome) {
    for (const entry of outcome.resources)
      assert.ok(expected.has(entry.uri), `${what} led to ${entry.uri}, which is not in a list without a cursor`);
    return;
  }
  const { error } = outcome;
  assert.ok(error instanceof ResourceError, `${what} was refused with something else than a ResourceError: ${error}`);
  assert.equal(error.code, 'invalid', `${what} was refused with another code`);
}

/**
 * Pages through the busiest container and changes it between pages. A leaf is removed: in turn the last one shown, which the cursor
 * may name, and the last one that is still to come. A leaf is also made at the beginning and at the end. Every entry that exists all
 * the time has to appear once, in the same order.
 */
async function drainUnderChange(fixture: ProviderFixture, size: number): Promise<void> {
  const { provider, mutate } = fixture;
  const container = busiestContainer(fixture);
  assert.ok(mutate !== undefined && container !== undefined, 'Needs a container that can be changed');
  const uri = fixture.uriOf(container);
  const before = urisOf(await listAll(provider, uri));
  const leaves = new Map(
    childrenOf(fixture, container).flatMap((path) => (fixture.leaves.has(path) ? [[fixture.uriOf(path), path]] : [])),
  );
  const removed = new Set<string>();
  const created: string[] = [];
  const remove = async (entry: string | undefined): Promise<void> => {
    const path = entry === undefined ? undefined : leaves.get(entry);
    if (entry === undefined || path === undefined || removed.has(entry)) return;
    removed.add(entry);
    await mutate.remove(path);
  };
  let round = 0;
  const seen = urisOf(
    await listAll(provider, uri, size, async (shown) => {
      if (++round > CHANGES) return;
      const already = urisOf(shown);
      if (round % 2 === 1) await remove(already.findLast((entry) => leaves.has(entry)));
      else
        await remove(before.findLast((entry) => leaves.has(entry) && !removed.has(entry) && !already.includes(entry)));
      for (const name of [`aaa-${size}-${round}.txt`, `zzz-${size}-${round}.txt`]) {
        const path = join(container, name);
        await mutate.create(path, name);
        created.push(path);
      }
    }),
  );
  assert.equal(new Set(seen).size, seen.length, `Pages of ${size} repeated an entry`);
  const stayed = before.filter((entry) => !removed.has(entry));
  assert.deepEqual(
    seen.filter((entry) => stayed.includes(entry)),
    stayed,
    `Pages of ${size} lost or reordered entries that were there all the time`,
  );
  for (const path of created) await mutate.remove(path);
  for (const entry of removed) {
    const path = leaves.get(entry);
    if (path !== undefined) await mutate.create(path, 'back again');
  }
}
