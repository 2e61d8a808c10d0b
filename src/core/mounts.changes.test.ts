import { describe, expect, it } from 'vitest';
import { memoryProvider } from '../providers/memory/index.ts';
import { flatProvider } from '../testing/flat-fixture.ts';
import { createContext } from './context.ts';
import { wrapProvider } from './layer.ts';
import { mountTree } from './mounts.ts';
import type { ChangeEvent, ResourceProvider } from './provider.ts';

const ctx = createContext();
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const mounted = (provider: ResourceProvider): ResourceProvider => mountTree([{ name: 'docs', provider }]);

describe('changes in mounts [RES-4]', () => {
  it('are reported under the published URI, by the mount in which they happen', async () => {
    const one = memoryProvider({ resources: { a: { text: '1' } } });
    const two = memoryProvider({ resources: { a: { text: '1' } } });
    const tree = mountTree([
      { name: 'one', provider: one },
      { name: 'two', provider: two },
    ]);
    const told: ChangeEvent[] = [];
    await using _watch = await tree.watch?.('two+memory:///a', (event) => told.push(event), ctx);
    one.set('a', { text: '2' });
    expect(told).toEqual([]);
    two.set('a', { text: '2' });
    expect(told).toEqual([{ kind: 'updated', uri: 'two+memory:///a' }]);
  });

  it('of the listed set come from every mount, and from none once the watch has ended', async () => {
    const providers = [memoryProvider(), memoryProvider(), flatProvider({ resources: new Map() })] as const;
    const tree = mountTree(providers.map((provider, index) => ({ name: `m${index}`, provider })));
    let told = 0;
    const watch = await tree.watch?.(undefined, () => told++, ctx);
    providers[0].set('a', { text: '' });
    providers[1].set('a', { text: '' });
    expect(told).toBe(2);
    await watch?.[Symbol.asyncDispose]();
    providers[0].set('b', { text: '' });
    expect(told).toBe(2);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('no watch'))],
    [
      'throws',
      () => {
        throw new Error('no watch');
      },
    ],
  ])('of the listed set cannot be watched when one mount %s, and then nothing stays open', async (_how, watch) => {
    let open = 0;
    const counted = wrapProvider(memoryProvider(), {
      watch: async () => {
        open++;
        return { [Symbol.asyncDispose]: async () => void open-- };
      },
    });
    const tree = mountTree([
      { name: 'a', provider: counted },
      { name: 'b', provider: wrapProvider(memoryProvider(), { watch }) },
      { name: 'c', provider: counted },
    ]);
    await expect(tree.watch?.(undefined, () => {}, ctx)).rejects.toThrow('no watch');
    expect(open).toBe(0);
  });

  it('cannot be watched where the mount cannot', async () => {
    const tree = mounted(flatProvider({ resources: new Map([['memo:x', bytes('')]]) }));
    await expect(tree.watch?.('docs+memo:x', () => {}, ctx)).rejects.toMatchObject({
      code: 'invalid',
      uri: 'docs+memo:x',
    });
  });
});

describe('the end of mounts', () => {
  it('closes each provider, whichever fails', async () => {
    const closed: string[] = [];
    const closing = (name: string): ResourceProvider =>
      wrapProvider(memoryProvider(), {
        close: async () => {
          closed.push(name);
          throw new Error('cannot close');
        },
      });
    await mountTree(['a', 'b', 'c'].map((name) => ({ name, provider: closing(name) }))).close?.();
    expect(closed).toEqual(['a', 'b', 'c']);
  });
});
