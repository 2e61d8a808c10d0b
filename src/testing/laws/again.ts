/** Laws of `again`: it says yes only if a fresh read would give the same, and no if it is not sure. A provider may lack it. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isRepeatable } from '../../core/again.ts';
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { largestLeaf, missingPath, type ProviderFixture } from '../fixture.ts';
import { canChange, type ProviderLaw } from '../law.ts';
import { drainBody, EVERYTHING } from '../observe.ts';

/** How long to wait before a read, in milliseconds, because a provider may say yes only if nothing has changed for a moment. */
const SETTLING_MS = 120;

/** How many leaves to try beside the largest one, since a provider may keep only small ones. */
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
          const saysYes = saysAgain(provider, bodies, uri, want);
          const before = await contentsOf(bodies);
          const after = saysYes ? await contentsOf(await provider.read(uri, want, createContext())) : before;
          assert.deepEqual(after, before, `The fresh read of ${uri}`);
        }
      }
    },
  },
  {
    name: '`again` says no once a leaf was replaced or removed, or made anew',
    applies: canChange,
    async check(fixture) {
      const { provider, mutate } = fixture;
      if (provider.again === undefined) return;
      const [uri = ''] = await triedLeaves(fixture);
      const [path = ''] = fixture.leaves.keys();
      const assertNew = async (bodies: readonly ResourceBody[], what: string): Promise<void> => {
        assert.ok(!saysAgain(provider, bodies, uri), `\`again\` says yes after the leaf was ${what}`);
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
    name: '`again` says no to bodies that it has not given, and for another resource or part; it never throws',
    async check(fixture) {
      const { provider } = fixture;
      if (provider.again === undefined) return;
      const [uri = '', other = fixture.uriOf(missingPath(fixture))] = await triedLeaves(fixture);
      const bodies = await provider.read(uri, EVERYTHING, createContext());
      const isNo = (given: readonly ResourceBody[], of: string, want = EVERYTHING): void =>
        assert.ok(provider.again?.(given, of, want, createContext()) !== true, `\`again\` says yes for ${of}`);
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
  assert.ok(!yes || isRepeatable(bodies), `\`again\` says yes for ${uri}, whose bodies are not marked as repeatable`);
  return yes;
};

/** Waits for a moment. @returns the URIs of the first leaves, and of the largest */
async function triedLeaves(fixture: ProviderFixture): Promise<readonly string[]> {
  await pause(SETTLING_MS);
  const paths = [...[...fixture.leaves.keys()].slice(0, TRIED), largestLeaf(fixture)];
  return [...new Set(paths)].map((path) => fixture.uriOf(path));
}

const contentsOf = async (bodies: readonly ResourceBody[]) =>
  Promise.all(bodies.map(async (body) => ({ resource: body.resource, bytes: await drainBody(body) })));
