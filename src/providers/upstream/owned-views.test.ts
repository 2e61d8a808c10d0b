import { expect, it } from 'vitest';
import { SILENT } from '../../core/context.ts';
import { createOwnedViews } from './owned-views.ts';
import type { View } from './view.ts';

const closed: string[] = [];

const viewOf = (key: string, facts: Partial<View>): View =>
  ({
    key,
    running: 1,
    usedAt: 0,
    ending: undefined,
    watching: { busy: false },
    close: async () => void closed.push(key),
    ...facts,
  }) as View;

it('makes room by closing an unused view first, then one whose last client has gone, and no other', async () => {
  await using views = viewsOf(3);
  views.owned.add(viewOf('left', { ending: Promise.resolve() }));
  views.owned.add(viewOf('unused', { running: 0 }));
  views.owned.add(viewOf('used', {}));
  const made = [1, 2, 3].map(() => {
    const has = views.owned.hasRoom();
    if (has) views.owned.add(viewOf('new', {}));
    return has;
  });
  expect(made).toEqual([true, true, false]);
  expect(closed).toEqual(['unused', 'left']);
});

function viewsOf(max: number) {
  const owned = createOwnedViews({ name: 'up', log: SILENT, max, isProgram: true, shared: viewOf('shared', {}) });
  return { owned, [Symbol.asyncDispose]: () => owned.close() };
}
