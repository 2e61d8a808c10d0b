import { describe, expect, it } from 'vitest';
import { until } from '../../../test/e2e/waiting.ts';
import {
  type Engine,
  embeddedIn,
  engineOf,
  memoryEngine,
  structured,
  textOf,
  toolsOf,
} from '../../../test/tools/engine.ts';
import { createContext } from '../../core/context.ts';
import { wrapProvider } from '../../core/layer.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { createVitrine } from '../../vitrine.ts';
import type { BookPage } from './subscribing/book.ts';

const STATE = 'vitrine+state:///subscriptions';

const pageOf = async (engine: Engine, peer = 'p'): Promise<BookPage> =>
  structured<BookPage>(await engine.call('list_subscriptions', {}, { peer }));

describe('the subscription tools [CB-8]', () => {
  it('say how often a resource has changed since the subscription', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'one' }, 'b.txt': { text: 'one' } });
    const uri = 'm+memory:///a.txt';
    expect(textOf(await engine.call('subscribe', { uri }, { peer: 'p' }))).toContain(`Subscribed to ${uri}.`);
    expect(textOf(await engine.call('subscribe', { uri: `${uri}#L2` }, { peer: 'p' }))).toContain('already');
    engine.memory.set('b.txt', { text: 'two' });
    engine.memory.set('a.txt', { text: 'two' });
    const page = await until(async () => {
      const now = await pageOf(engine);
      return now.subscriptions[0]?.changes === 1 && now;
    }, 'the change to be counted');
    expect(page).toEqual({
      subscriptions: [{ uri, since: expect.any(String), changes: 1, lastChange: expect.any(String) }],
    });
    const text = textOf(await engine.call('list_subscriptions', {}, { peer: 'p' }));
    expect(text).toMatch(/^m\+memory:\/\/\/a\.txt {2}1 change since \S+, the last at \S+\nChanges of the list are not/);
    expect(textOf(await engine.call('unsubscribe', { uri }, { peer: 'p' }))).toBe(`Unsubscribed from ${uri}.`);
    expect(textOf(await engine.call('unsubscribe', { uri }, { peer: 'p' }))).toContain('You had not subscribed');
    expect(await pageOf(engine)).toEqual({ subscriptions: [] });
    expect(engine.vitrine.changes.size).toBe(0);
  });

  it('say whether the list has changed', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'one' } });
    expect(textOf(await engine.call('subscribe_list_changes', {}, { peer: 'p' }))).toContain('Subscribed');
    expect(textOf(await engine.call('subscribe_list_changes', {}, { peer: 'p' }))).toContain('already');
    engine.memory.set('b.txt', { text: 'new' });
    await until(async () => (await pageOf(engine)).listChanges?.changes === 1, 'the change to be counted');
    expect(textOf(await engine.call('list_subscriptions', {}, { peer: 'p' }))).toContain(
      'Changes of the list  1 change',
    );
    expect(textOf(await engine.call('unsubscribe_list_changes', {}, { peer: 'p' }))).toContain('Unsubscribed');
    expect(textOf(await engine.call('unsubscribe_list_changes', {}, { peer: 'p' }))).toContain('You had not');
    expect(await pageOf(engine)).toEqual({ subscriptions: [] });
  });

  it('recognise a resource in any spelling, and end the subscription of a resource that is gone', async () => {
    await using engine = memoryEngine({ 'a b.txt': { text: 'one' }, 'c.txt': { text: 'one' } });
    await engine.call('subscribe', { uri: 'm+memory:///a b.txt' }, { peer: 'p' });
    await engine.call('subscribe', { uri: 'm+memory:///c.txt' }, { peer: 'p' });
    expect((await pageOf(engine)).subscriptions.map(({ uri }) => uri)).toEqual([
      ...['m+memory:///a%20b.txt', 'm+memory:///c.txt'],
    ]);
    await engine.call('unsubscribe', { uri: 'm+memory:///a b.txt' }, { peer: 'p' });
    engine.memory.delete('c.txt');
    await engine.call('unsubscribe', { uri: 'm+memory:///c.txt' }, { peer: 'p' });
    expect(await pageOf(engine)).toEqual({ subscriptions: [] });
  });

  it('share one watch for all subscribers of a resource', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'one' } });
    const uri = 'm+memory:///a.txt';
    await engine.call('subscribe', { uri }, { peer: 'p' });
    await engine.call('subscribe', { uri }, { peer: 'q' });
    expect(engine.vitrine.changes.size).toBe(1);
    await engine.call('unsubscribe', { uri }, { peer: 'p' });
    engine.memory.set('a.txt', { text: 'two' });
    await until(async () => (await pageOf(engine, 'q')).subscriptions[0]?.changes === 1, 'the change to be counted');
  });

  it('limit a client to a hundred resources, and say so [SEC-RES-4]', async () => {
    const names = Array.from({ length: 101 }, (_, index) => `${index}.txt`);
    await using engine = memoryEngine(Object.fromEntries(names.map((name) => [name, { text: name }])));
    for (const name of names.slice(0, 100)) await engine.call('subscribe', { uri: `m+memory:///${name}` });
    const refusal = await engine.refusal('subscribe', { uri: 'm+memory:///100.txt' });
    expect(refusal).toContain('You have 100 subscriptions, which is the most; end one first');
  });

  it('refuse missing resources, and resources without subscriptions', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'one' } });
    expect(await engine.refusal('subscribe', { uri: 'm+memory:///nope' })).toContain('list shows what there is');
    expect(await engine.refusal('subscribe', { uri: STATE })).toContain('cannot be subscribed to');
    expect(await pageOf(engine)).toEqual({ subscriptions: [] });
  });

  it('do not exist if nothing can be watched [SEC-CAP-1]', async () => {
    const memory = memoryProvider({ resources: { 'a.txt': { text: 'one' } } });
    const still = wrapProvider(memory, { features: { ...memory.features, watch: false } });
    await using engine = engineOf({ m: still });
    const names = (await toolsOf(engine.vitrine)).map(({ name }) => name);
    expect(names).toContain('read');
    expect(names.filter((name) => name.includes('subscri'))).toEqual([]);
  });
});

describe('the state of the subscription tools as a resource [CB-8]', () => {
  it('gives each client the result that list_subscriptions gives to it', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'one' } });
    await engine.call('subscribe', { uri: 'm+memory:///a.txt' }, { peer: 'p' });
    await engine.call('subscribe_list_changes', {}, { peer: 'p' });
    for (const peer of ['p', 'q']) {
      const [item] = embeddedIn(await engine.call('read', { uri: STATE }, { peer }));
      expect(item).toMatchObject({ uri: STATE, mimeType: 'application/json' });
      expect(JSON.parse(item !== undefined && 'text' in item ? item.text : '')).toEqual(await pageOf(engine, peer));
    }
    expect((await pageOf(engine, 'p')).subscriptions).toHaveLength(1);
    expect((await pageOf(engine, 'q')).subscriptions).toHaveLength(0);
  });

  it('has metadata, has no children, and is in no list', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'one' } });
    expect(textOf(await engine.call('describe', { uri: STATE }))).toContain('application/json');
    expect(await engine.refusal('list', { uri: STATE })).toContain('no children');
    expect(await engine.refusal('read', { uri: `${STATE}/x` })).toContain('not found');
    expect(await engine.refusal('read', { uri: 'vitrine+state:///' })).toContain('not found');
    const { provider } = engine.vitrine;
    const roots = await provider.list(undefined, { limit: 10 }, createContext());
    expect(roots.resources.map(({ uri }) => uri)).toEqual(['m+memory:///']);
    // A page that is exactly full can be the last one.
    expect((await provider.list(undefined, { limit: 1 }, createContext())).nextCursor).toBeUndefined();
  });

  it('can be read in windows', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'one' } });
    const result = await engine.call('read', { uri: STATE, as: 'plain', start_offset: 4, max_bytes: 15 });
    expect(result.content[0]).toMatchObject({ text: '"subscriptions"' });
    expect(await engine.refusal('read', { uri: STATE, start_offset: 10_000 })).toContain('past the end');
  });

  it('has a name that no other mount may have, unless the tools are off', async () => {
    const mounts = [{ name: 'vitrine', provider: memoryProvider() }];
    expect(() => createVitrine({ mounts })).toThrow(/"vitrine" is taken.*Choose another one/);
    const vitrine = createVitrine({ mounts, resourceTools: false });
    expect(vitrine.tools.some).toBe(false);
    await vitrine.close();
  });
});
