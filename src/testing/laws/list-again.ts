/** Laws of `listAgain`: a provider says yes only if a fresh list would give the same page, and no if it is not sure. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isRepeatable } from '../../core/again.ts';
import { createContext } from '../../core/context.ts';
import type { Page, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { busiestContainer, containersOf, join, missingPath } from '../fixture.ts';
import { canChange, type ProviderLaw } from '../law.ts';

/** How long to wait before a list, in milliseconds, because a provider may say yes only if nothing has changed for a moment. */
const SETTLING_MS = 120;

/** How often to list, because a provider may keep only pages that are requested repeatedly. */
const TIMES = 3;

const WANT: Page = { limit: 100 };

export const listAgainLaws: readonly ProviderLaw[] = [
  {
    name: '`listAgain` says yes only where a fresh list is equal, of every container and of the roots',
    async check(fixture) {
      const { provider } = fixture;
      if (provider.listAgain === undefined) return;
      await pause(SETTLING_MS);
      for (const uri of [undefined, ...containersOf(fixture).map((path) => fixture.uriOf(path))]) {
        const page = await listedOften(provider, uri);
        if (!saysAgain(provider, page, uri)) continue;
        const before = structuredClone(page.resources);
        const after = await provider.list(uri, WANT, createContext());
        assert.deepEqual(after.resources, before, `The fresh list of ${uri}`);
        assert.equal(after.nextCursor, page.nextCursor, `The cursor of the fresh list of ${uri}`);
      }
    },
  },
  {
    name: '`listAgain` says no once an entry was added or removed',
    applies: canChange,
    async check(fixture) {
      const { provider, mutate } = fixture;
      const container = busiestContainer(fixture);
      if (provider.listAgain === undefined || container === undefined) return;
      const uri = fixture.uriOf(container);
      const path = join(container, 'new entry.txt');
      const first = await listed(provider, uri);
      await mutate?.create(path, 'a text');
      assert.ok(!saysAgain(provider, first, uri), '`listAgain` says yes after an entry was added');
      const second = await listed(provider, uri);
      await mutate?.remove(path);
      for (const page of [first, second])
        assert.ok(!saysAgain(provider, page, uri), '`listAgain` says yes after an entry was removed');
    },
  },
  {
    name: '`listAgain` says no to pages that it has not given, and for another resource or part; it never throws',
    async check(fixture) {
      const { provider } = fixture;
      const container = busiestContainer(fixture);
      if (provider.listAgain === undefined || container === undefined) return;
      const uri = fixture.uriOf(container);
      const page = await listed(provider, uri);
      const isNo = (given: ResourcePage, of: string | undefined, want = WANT): void =>
        assert.ok(provider.listAgain?.(given, of, want, createContext()) !== true, `\`listAgain\` says yes for ${of}`);
      isNo({ ...page }, uri);
      isNo({ resources: [] }, uri);
      for (const each of [undefined, fixture.uriOf(missingPath(fixture)), 'no URI', '']) isNo(page, each);
      isNo(page, uri, { limit: 1 });
      isNo(page, uri, { ...WANT, cursor: 'another' });
    },
  },
];

function saysAgain(provider: ResourceProvider, page: ResourcePage, uri: string | undefined): boolean {
  const yes = provider.listAgain?.(page, uri, WANT, createContext()) === true;
  assert.ok(!yes || isRepeatable(page), `\`listAgain\` says yes for ${uri}, whose page is not marked as repeatable`);
  return yes;
}

/** Waits for a moment, then lists several times. @returns the last page */
async function listed(provider: ResourceProvider, uri: string | undefined): Promise<ResourcePage> {
  await pause(SETTLING_MS);
  return listedOften(provider, uri);
}

/** Lists several times. @returns the last page */
async function listedOften(provider: ResourceProvider, uri: string | undefined): Promise<ResourcePage> {
  let page = await provider.list(uri, WANT, createContext());
  for (let times = 1; times < TIMES; times++) page = await provider.list(uri, WANT, createContext());
  return page;
}
