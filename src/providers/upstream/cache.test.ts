import { expect, it } from 'vitest';
import { createCache } from './cache.ts';
import { createKnownResources } from './known.ts';

it('[RES-6] keeps an answer as long and as widely as its hints say, and gives the remaining time', () => {
  let now = 1_000;
  const cache = createCache(() => now);
  cache.put('resources/read', 'a', 'one', { text: 'mine', ttlMs: 100, cacheScope: 'private' }, 0);
  cache.put('resources/read', 'b', 'one', { text: 'ours', ttlMs: 100, cacheScope: 'public' }, 0);
  now += 40;
  expect(cache.get('resources/read', 'a', 'one')).toMatchObject({ text: 'mine', ttlMs: 60 });
  expect(cache.get('resources/read', 'a', 'two')).toBeUndefined();
  expect(cache.get('resources/read', 'b', 'two')).toMatchObject({ text: 'ours', ttlMs: 60 });
  now += 60;
  expect(cache.get('resources/read', 'a', 'one')).toBeUndefined();
  expect(cache.get('resources/read', 'b', 'two')).toBeUndefined();
});

it.each([{}, { ttlMs: 0 }, { ttlMs: -5 }, { ttlMs: '100' }, { ttlMs: Number.NaN }])('keeps nothing for %o', (hint) => {
  const cache = createCache();
  cache.put('resources/read', 'a', 'one', { text: 'mine', ...hint }, 0);
  expect(cache.get('resources/read', 'a', 'one')).toBeUndefined();
});

it('an answer with an unknown audience is for its caller only', () => {
  const cache = createCache();
  cache.put('resources/read', 'a', 'one', { ttlMs: 1_000, cacheScope: 'everybody' }, 0);
  expect(cache.get('resources/read', 'a', 'one')).toBeDefined();
  expect(cache.get('resources/read', 'a', 'two')).toBeUndefined();
});

it('forgets a method, or one answer of it for every audience', () => {
  const cache = createCache();
  const keep = (method: string, key: string, audience: string): void =>
    cache.put(method, key, audience, { ttlMs: 1_000, cacheScope: 'private' }, cache.forgotten);
  keep('resources/read', 'a', 'one');
  keep('resources/read', 'a', 'two');
  keep('resources/read', 'ab', 'one');
  keep('resources/readings', 'a', 'one');
  cache.forget('resources/read', 'a');
  expect(cache.get('resources/read', 'a', 'one') ?? cache.get('resources/read', 'a', 'two')).toBeUndefined();
  expect(cache.get('resources/read', 'ab', 'one')).toBeDefined();
  cache.forget('resources/read');
  expect(cache.get('resources/read', 'ab', 'one')).toBeUndefined();
  expect(cache.get('resources/readings', 'a', 'one')).toBeDefined();
});

it('does not keep an answer to a request from before a change', () => {
  const cache = createCache();
  const asked = cache.forgotten;
  cache.forget('tools/list');
  cache.put('tools/list', 'a', 'one', { ttlMs: 1_000, cacheScope: 'public' }, asked);
  expect(cache.get('tools/list', 'a', 'one')).toBeUndefined();
  cache.put('tools/list', 'a', 'one', { ttlMs: 1_000, cacheScope: 'public' }, cache.forgotten);
  expect(cache.get('tools/list', 'a', 'one')).toBeDefined();
});

it('a list is kept for longer if its server reports changes, and is dropped at a change', () => {
  let now = 0;
  const known = createKnownResources(() => now);
  known.learn([{ uri: 'a:1', name: 'one' }], true, known.period);
  known.learnedAll(false, known.period);
  expect(known.whole).toBe(true);
  now = 60_000;
  expect(known.whole).toBe(false);
  known.learnedAll(true, known.period);
  now = 120_000;
  expect(known.whole).toBe(true);
  expect(known.get('a:1')).toMatchObject({ name: 'one' });
  known.clear();
  expect(known.whole).toBe(false);
  expect(known.get('a:1')).toBeUndefined();
});

it('a list from before a change is not kept', () => {
  const known = createKnownResources();
  const asked = known.period;
  known.clear();
  known.learn([{ uri: 'a:1' }], true, asked);
  known.keep([{ uri: 'a:2' }], true, asked);
  known.learnedAll(true, asked);
  expect([known.get('a:1'), known.get('a:2'), known.whole]).toEqual([undefined, undefined, false]);
});

it('the description of one resource from before a change is not kept, and replaces no newer one', () => {
  const known = createKnownResources();
  const asked = known.period;
  known.learnUnlisted('a:1', { uri: 'a:1', name: 'first' }, true, asked);
  expect(known.get('a:1')).toMatchObject({ name: 'first' });
  known.clear();
  known.learnUnlisted('a:1', { uri: 'a:1', name: 'late' }, true, asked);
  expect(known.get('a:1')).toBeUndefined();
  known.learnUnlisted('a:1', { uri: 'a:1', name: 'new' }, true, known.period);
  known.learnUnlisted('a:1', { uri: 'a:1', name: 'late' }, true, asked);
  expect(known.get('a:1')).toMatchObject({ name: 'new' });
});

it('contents with versions stay after their time, to be revalidated for the same audience, until they have changed', () => {
  let now = 0;
  const cache = createCache(() => now);
  const result = { contents: [{ uri: 'a:1', text: 'one', _meta: { 'vitrine/version': '"1"' } }], ttlMs: 100 };
  const others = { contents: [...result.contents, { uri: 'a:2', text: 'two' }], ttlMs: 100 };
  cache.put('resources/read', 'a', 'one', result, 0);
  cache.put('resources/read', 'b', 'one', others, 0);
  cache.put('resources/read', 'c', 'one', { contents: result.contents }, 0);
  now = 100;
  for (const key of ['a', 'b', 'c']) expect(cache.get('resources/read', key, 'one')).toBeUndefined();
  expect(cache.old('resources/read', 'a', 'one')).toBe(result);
  expect(cache.old('resources/read', 'b', 'one')).toBeUndefined();
  expect(cache.old('resources/read', 'c', 'one')).toEqual({ contents: result.contents });
  expect(cache.old('resources/read', 'a', 'two')).toBeUndefined();
  cache.forget('resources/read');
  expect(cache.old('resources/read', 'a', 'one')).toBeUndefined();
});
