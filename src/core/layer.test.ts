import { describe, expect, it } from 'vitest';
import { memoryProvider } from '../providers/memory/index.ts';
import { createContext } from './context.ts';
import { applyLayers, type Layer, wrapProvider } from './layer.ts';
import { OPTIONAL_METHODS, type ResourceProvider } from './provider.ts';

const ctx = createContext();
const memory = memoryProvider({ resources: { a: { text: 'hello' } } });

/** A provider with no optional method at all. */
const bare: ResourceProvider = {
  name: 'bare',
  features: { ...memory.features, watch: false, templates: false, completion: false },
  list: memory.list,
  metadata: memory.metadata,
  read: memory.read,
};

describe('a wrapped provider', () => {
  it('answers like the inner one where nothing is overridden', async () => {
    const wrapped = wrapProvider(memory, {});
    expect(wrapped.name).toBe('memory');
    expect(wrapped.features).toBe(memory.features);
    expect(await wrapped.list(undefined, { limit: 1 }, ctx)).toEqual(await memory.list(undefined, { limit: 1 }, ctx));
    expect(await wrapped.metadata('memory:///a', ctx)).toEqual(await memory.metadata('memory:///a', ctx));
    expect(await wrapped.listTemplates?.({ limit: 1 }, ctx)).toEqual(await memory.listTemplates?.({ limit: 1 }, ctx));
  });

  it('has the overrides in place of the inner methods', async () => {
    const wrapped = wrapProvider(memory, { name: 'other', metadata: async (uri) => ({ uri, name: 'made up' }) });
    expect(wrapped.name).toBe('other');
    expect(await wrapped.metadata('memory:///a', ctx)).toEqual({ uri: 'memory:///a', name: 'made up' });
    expect(await wrapped.list('memory:///', { limit: 1 }, ctx)).toMatchObject({ resources: [{ name: 'a' }] });
  });

  it('ignores an override that is undefined', () => {
    const wrapped = wrapProvider(memory, { name: undefined, watch: undefined } as unknown as ResourceProvider);
    expect(wrapped.name).toBe('memory');
    expect(wrapped.watch).toBeTypeOf('function');
  });

  it('has each optional method that the inner one has, and no other, whatever is overridden', () => {
    const overrides = wrapProvider(memory, { async *search() {} });
    expect(OPTIONAL_METHODS.filter((method) => wrapProvider(bare, memory)[method] !== undefined)).toEqual([]);
    expect(OPTIONAL_METHODS.filter((method) => overrides[method] !== undefined)).toEqual([
      'again',
      'listAgain',
      'listTemplates',
      'complete',
      'watch',
      'close',
    ]);
  });

  it('has no `again` if `read` is overridden, unless `again` is overridden too', () => {
    const read: ResourceProvider['read'] = (uri, want, context) => memory.read(uri, want, context);
    expect(wrapProvider(memory, { read }).again).toBeUndefined();
    expect(wrapProvider(memory, { read, again: () => false }).again).toBeTypeOf('function');
    expect(wrapProvider(bare, { read, again: () => false }).again).toBeUndefined();
  });

  it('has no `listAgain` if `list` is overridden, unless `listAgain` is overridden too', () => {
    const list: ResourceProvider['list'] = (uri, page, context) => memory.list(uri, page, context);
    expect(wrapProvider(memory, { list }).listAgain).toBeUndefined();
    expect(wrapProvider(memory, { list }).again).toBeTypeOf('function');
    expect(wrapProvider(memory, { list, listAgain: () => false }).listAgain).toBeTypeOf('function');
    expect(wrapProvider(bare, { list, listAgain: () => false }).listAgain).toBeUndefined();
  });

  it('gives `again` to no copy, which may have another `read`', () => {
    expect(memory.again).toBeTypeOf('function');
    const copies: ResourceProvider[] = [{ ...memory }, { ...wrapProvider(memory, {}) }, Object.assign({}, memory)];
    for (const copy of copies) expect(copy.again).toBeUndefined();
  });

  it('overrides an optional method that the inner one has', async () => {
    const wrapped = wrapProvider(memory, { complete: async () => ({ values: ['x'], hasMore: false }) });
    const request = { uriTemplate: '', variable: '', value: '', known: {}, limit: 1 };
    expect(await wrapped.complete?.(request, ctx)).toEqual({ values: ['x'], hasMore: false });
  });

  it('calls the methods of an object that has a state as that object', async () => {
    class Counting implements ResourceProvider {
      readonly name = 'counting';
      readonly features = memory.features;
      #count = 0;
      list = memory.list;
      read = memory.read;
      async metadata(uri: string) {
        return { uri, name: String(++this.#count) };
      }
      async close() {
        this.#count = 100;
      }
    }
    const wrapped = wrapProvider(new Counting(), {});
    expect((await wrapped.metadata('a:b', ctx)).name).toBe('1');
    await wrapped.close?.();
    expect((await wrapped.metadata('a:b', ctx)).name).toBe('101');
  });
});

describe('layers', () => {
  it('are applied with the first outermost', async () => {
    const passed: string[] = [];
    const noting =
      (name: string): Layer =>
      (inner) =>
        wrapProvider(inner, {
          async metadata(uri, context) {
            passed.push(name);
            return inner.metadata(uri, context);
          },
        });
    await applyLayers(memory, [noting('audit'), noting('cache'), noting('mime')]).metadata('memory:///a', ctx);
    expect(passed).toEqual(['audit', 'cache', 'mime']);
  });

  it('may be none', () => {
    expect(applyLayers(memory, [])).toBe(memory);
  });
});
