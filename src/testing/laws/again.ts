/** Laws of `again`: it says yes only where a read would give the same, and no whenever it is not sure. Without it nobody says yes. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isRepeatable } from '../../core/again.ts';
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { largestLeaf, missingPath, type ProviderFixture } from '../fixture.ts';
import { canChange, type ProviderLaw } from '../law.ts';
import { drainBody, EVERYTHING } from '../observe.ts';

/** A provider may want what it reads to have been left alone for a moment: this long, in milliseconds. */
const SETTLING_MS = 120;

/** Leaves that are tried: among them small ones, which are the ones that are kept. */
const TRIED = 12;

export const againLaws: readonly ProviderLaw[] = [
  {
    name: '`again` says yes only where a fresh read is equal, in contents and metadata',
    async check(fixture) {
      const { provider } = fixture;
      if (provider.again === undefined) return;
      for (const uri of await triedLeaves(fixture)) {
        for (const want of [EVERYTHING, { ...EVERYTHING, range: { offset: 0, length: 3 } }]) {
          const bodies = await provider.read(uri, want, createContext());
          const said = saysAgain(provider, bodies, uri, want);
          const before = await contentsOf(bodies);
          const after = said ? await contentsOf(await provider.read(uri, want, createContext())) : before;
          assert.deepEqual(after, before, `What is read again of ${uri}`);
        }
      }
    },
  },
  {
    name: '`again` says no once a leaf was replaced, or removed, or came back',
    applies: canChange,
    async check(fixture) {
      const { provider, mutate } = fixture;
      if (provider.again === undefined) return;
      const [uri = ''] = await triedLeaves(fixture);
      const [path = ''] = fixture.leaves.keys();
      const assertNew = async (bodies: readonly ResourceBody[], what: string): Promise<void> => {
        assert.ok(!saysAgain(provider, bodies, uri), `A leaf that was ${what} is said to be what it was`);
        await closeBodies(bodies);
      };
      const read = () => provider.read(uri, EVERYTHING, createContext());
      const first = await read();
      await mutate?.replace(path, 'another text');
      await assertNew(first, 'replaced');
      await pause(SETTLING_MS);
      const second = await read();
      await mutate?.remove(path);
      await assertNew(second, 'removed');
      await mutate?.create(path, 'another text');
      await assertNew(second, 'removed and made anew');
    },
  },
  {
    name: '`again` says no to what it has not given, and of another resource, or a part; it never throws',
    async check(fixture) {
      const { provider } = fixture;
      if (provider.again === undefined) return;
      const [uri = '', other = fixture.uriOf(missingPath(fixture))] = await triedLeaves(fixture);
      const bodies = await provider.read(uri, EVERYTHING, createContext());
      const isNo = (given: readonly ResourceBody[], of: string, want = EVERYTHING): void =>
        assert.ok(provider.again?.(given, of, want, createContext()) !== true, `It says yes of ${of}`);
      isNo([...bodies], uri);
      isNo([], uri);
      for (const each of [other, fixture.uriOf(missingPath(fixture)), 'no URI', '']) isNo(bodies, each);
      isNo(bodies, uri, { ...EVERYTHING, range: { offset: 0, length: 1 } });
      await closeBodies(bodies);
      const part = { ...EVERYTHING, range: { offset: 0, length: 3 } };
      const window = await provider.read(uri, part, createContext());
      isNo(window, uri);
      isNo(window, uri, { ...part, range: { offset: 1, length: 3 } });
      isNo(window, uri, { ...part, range: { offset: 0, length: 2 } });
      await closeBodies(window);
    },
  },
];

const saysAgain = (
  provider: ResourceProvider,
  bodies: readonly ResourceBody[],
  uri: string,
  want = EVERYTHING,
): boolean => {
  const yes = provider.again?.(bodies, uri, want, createContext()) === true;
  assert.ok(!yes || isRepeatable(bodies), `It says yes of ${uri}, and has not marked what it gave`);
  return yes;
};

/** URIs of the first leaf, and of some others, once they have settled. */
async function triedLeaves(fixture: ProviderFixture): Promise<readonly string[]> {
  await pause(SETTLING_MS);
  const paths = [...[...fixture.leaves.keys()].slice(0, TRIED), largestLeaf(fixture)];
  return [...new Set(paths)].map((path) => fixture.uriOf(path));
}

const contentsOf = async (bodies: readonly ResourceBody[]) =>
  Promise.all(bodies.map(async (body) => ({ resource: body.resource, bytes: await drainBody(body) })));
