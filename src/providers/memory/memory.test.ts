import { describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { memoryFixture, streaming } from '../../testing/memory-fixture.ts';
import { listAll, readLeaf } from '../../testing/observe.ts';
import { providerContract } from '../../testing/provider-contract.ts';
import { memoryProvider } from './index.ts';

providerContract('memory', (seed) => memoryFixture(seed));
providerContract('memory, in streams', (seed) => memoryFixture(seed, streaming));

const ctx = createContext();
const names = async (provider: ReturnType<typeof memoryProvider>, uri: string): Promise<string[]> =>
  (await listAll(provider, uri)).map(({ name }) => name);

describe('the memory provider', () => {
  it('lists folders first, then names by code unit', async () => {
    const provider = memoryProvider({
      resources: Object.fromEntries(['b', 'a', 'Z', 'é', 'z/1', 'c/1', '😀'].map((path) => [path, { text: '' }])),
    });
    expect(await names(provider, 'memory:///')).toEqual(['c', 'z', 'Z', 'a', 'b', 'é', '😀']);
  });

  it('describes a resource as it was given, and finds the type by the name if none is given', async () => {
    const provider = memoryProvider({
      name: 'notes',
      scheme: 'notes',
      resources: {
        'a.md': { text: 'é', title: 'A', annotations: { priority: 1 }, _meta: { 'example/kept': true } },
        'b.md': { bytes: new Uint8Array([1]), mimeType: 'application/x-b', name: 'Bee' },
      },
    });
    expect(await provider.metadata('notes:///a.md', ctx)).toEqual({
      uri: 'notes:///a.md',
      name: 'a.md',
      title: 'A',
      mimeType: 'text/markdown',
      size: 2,
      annotations: { priority: 1, lastModified: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) },
      capabilities: { list: false, subscribe: true },
      _meta: { 'example/kept': true },
    });
    expect(await provider.metadata('notes:///b.md', ctx)).toMatchObject({ name: 'Bee', mimeType: 'application/x-b' });
    expect(await provider.metadata('notes:///', ctx)).toMatchObject({ name: 'notes', mimeType: 'inode/directory' });
  });

  it('has folders for as long as there are resources in them', async () => {
    const provider = memoryProvider({ resources: { 'a/b/c': { text: '' }, 'a/d': { text: '' } } });
    expect(provider.delete('a/b/c')).toBe(true);
    await expect(provider.metadata('memory:///a/b', ctx)).rejects.toMatchObject({ code: 'not-found' });
    expect(await names(provider, 'memory:///a')).toEqual(['d']);
    expect(provider.delete('a/d')).toBe(true);
    expect(await names(provider, 'memory:///')).toEqual([]);
    for (const path of ['a/d', 'a', 'nothing', 'a/b/c/d']) expect(provider.delete(path), path).toBe(false);
  });

  it('replaces content, and refuses invalid paths', async () => {
    const provider = memoryProvider({ resources: { 'a/b': { text: 'one' } } });
    provider.set('a/b', { text: 'two' });
    expect(Buffer.from((await readLeaf(provider, 'memory:///a/b')).bytes).toString()).toBe('two');
    for (const path of ['', '/a', 'a/', 'a//b', '.', '../a', 'a\\b', 'a\u0000', 'a', 'a/b/c']) {
      expect(() => provider.set(path, { text: '' }), path).toThrow(expect.objectContaining({ code: 'invalid' }));
    }
  });

  it('reports changes of watched resources, and of no others', async () => {
    const provider = memoryProvider({ resources: { 'a/b': { text: '' }, 'a/c': { text: '' } } });
    const told: ChangeEvent[] = [];
    for (const uri of ['memory:///a/b', 'memory:///a', 'memory:///z', undefined]) {
      await provider.watch?.(uri, (event) => told.push(event), ctx);
    }
    provider.set('a/c', { text: 'changed' });
    provider.delete('nothing');
    expect(told).toEqual([]);
    provider.set('a/b', { text: 'changed' });
    expect(told.splice(0)).toEqual([{ kind: 'updated', uri: 'memory:///a/b' }]);
    provider.delete('a/c');
    expect(told.splice(0)).toEqual([{ kind: 'updated', uri: 'memory:///a' }, { kind: 'list-changed' }]);
    await provider.close?.();
    provider.set('a/b', { text: 'changed again' });
    expect(told).toEqual([]);
  });
});
