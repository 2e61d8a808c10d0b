/** Laws of `watch`: every kind of change is reported to every open watch. */
import assert from 'node:assert/strict';
import { createContext } from '../../core/context.ts';
import { busiestContainer, join, type ProviderFixture } from '../fixture.ts';
import { canChange, type ProviderLaw } from '../law.ts';
import { listTree, observe } from '../observe.ts';

const NEW_NAME = 'new & 100% #1.txt';

/** A place in the busiest container for a new leaf. */
interface Place {
  readonly mutate: NonNullable<ProviderFixture['mutate']>;
  /** The path of the leaf, which does not exist yet. */
  readonly path: string;
  readonly uri: string;
  readonly container: string;
}

function placeIn(fixture: ProviderFixture): Place {
  const container = busiestContainer(fixture) ?? '';
  const path = join(container, NEW_NAME);
  assert.ok(fixture.mutate !== undefined, 'Needs a fixture that can be changed');
  return { mutate: fixture.mutate, path, uri: fixture.uriOf(path), container };
}

export const watchingLaws: readonly ProviderLaw[] = [
  {
    name: 'creation, change, replacement, removal and creation anew of a resource are reported, with its URI [RES-4]',
    feature: 'watch',
    applies: canChange,
    async check(fixture) {
      const { mutate, path, uri } = placeIn(fixture);
      for (const [what, change] of [
        ['creation', () => mutate.create(path, 'one')],
        ['change', () => mutate.replace(path, 'two')],
        ['replacement', () => mutate.replace(path, 'three, which is longer than before')],
        ['removal', () => mutate.remove(path)],
        ['creation anew', () => mutate.create(path, 'four')],
      ] as const) {
        // Each change gets its own watch, so that a late event of one change is not taken for an event of the next.
        await using watch = await observe(fixture, uri);
        assert.deepEqual(await watch.after(what, change), { kind: 'updated', uri }, what);
      }
    },
  },
  {
    name: 'one watch reports one change after another [RES-4]',
    feature: 'watch',
    applies: canChange,
    async check(fixture) {
      const { mutate, path, uri } = placeIn(fixture);
      await using watch = await observe(fixture, uri);
      await watch.after('creation', () => mutate.create(path, 'one'));
      await watch.after('removal', () => mutate.remove(path));
      await watch.after('creation anew', () => mutate.create(path, 'two'));
      await watch.after('change', () => mutate.replace(path, 'three'));
    },
  },
  {
    name: 'a container is reported as updated when a child is added or removed [RES-4]',
    feature: 'watch',
    applies: (fixture) => {
      if (busiestContainer(fixture) === undefined) return 'The fixture has no containers';
      return canChange(fixture);
    },
    async check(fixture) {
      const { mutate, path, container } = placeIn(fixture);
      const uri = fixture.uriOf(container);
      for (const [what, change] of [
        ['a child that comes', () => mutate.create(path, 'one')],
        ['a child that goes', () => mutate.remove(path)],
      ] as const) {
        await using watch = await observe(fixture, uri);
        assert.deepEqual(await watch.after(what, change), { kind: 'updated', uri }, what);
      }
    },
  },
  {
    name: 'a change of the list is reported when a resource is added or removed [RES-4]',
    feature: 'watch',
    applies: canChange,
    async check(fixture) {
      const { mutate, path } = placeIn(fixture);
      for (const [what, change] of [
        ['a resource that comes', () => mutate.create(path, 'one')],
        ['a resource that goes', () => mutate.remove(path)],
      ] as const) {
        await using watch = await observe(fixture, undefined);
        assert.deepEqual(await watch.after(what, change), { kind: 'list-changed' }, what);
      }
    },
  },
  {
    name: 'a watch that was disposed of, once or twice, gets no more events; others still do',
    feature: 'watch',
    applies: canChange,
    async check(fixture) {
      const { mutate, path, uri } = placeIn(fixture);
      await using staying = await observe(fixture, uri);
      const leaving = await observe(fixture, uri);
      await leaving.after('creation', () => mutate.create(path, 'one'));
      await leaving[Symbol.asyncDispose]();
      await leaving[Symbol.asyncDispose]();
      const before = leaving.events.length;
      await staying.after('change', () => mutate.replace(path, 'two'));
      await staying.after('removal', () => mutate.remove(path));
      assert.equal(leaving.events.length, before, 'An event came after the watch was disposed of');
    },
  },
  {
    name: 'a resource with any name can be watched under its URI',
    feature: 'watch',
    applies: canChange,
    async check(fixture) {
      const { mutate } = placeIn(fixture);
      for (const path of fixture.leaves.keys()) {
        const uri = fixture.uriOf(path);
        await using watch = await observe(fixture, uri);
        const event = await watch.after('change', () => mutate.replace(path, `another content of ${path}`));
        assert.deepEqual(event, { kind: 'updated', uri });
      }
    },
  },
  {
    name: 'capabilities.subscribe is true exactly where watching works [2093-3]',
    async check(fixture) {
      for (const { uri, capabilities } of await listTree(fixture)) {
        assert.equal(await canBeWatched(fixture, uri), capabilities?.subscribe, `capabilities.subscribe of ${uri}`);
      }
    },
  },
];

async function canBeWatched({ provider }: ProviderFixture, uri: string): Promise<boolean> {
  try {
    const handle = await provider.watch?.(uri, () => {}, createContext());
    await handle?.[Symbol.asyncDispose]();
    return handle !== undefined;
  } catch {
    return false;
  }
}
