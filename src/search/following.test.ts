import { describe, expect, it } from 'vitest';
import { createContext } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import type { Resource } from '../protocol/resources.ts';
import { createFollowing, type Following, MAX_FOLLOWED } from './following.ts';

const resource = (name: string, subscribe = true): Resource => ({
  uri: `m+memory:///${name}`,
  name,
  capabilities: { list: false, subscribe },
});

describe('the watches of an index', () => {
  /** The resources that cannot be watched now. */
  const failing = new Set<string>();
  let tried = 0;

  function following(): Following {
    failing.clear();
    tried = 0;
    const watch = async (uri: string): Promise<AsyncDisposable> => {
      tried++;
      if (failing.has(uri)) throw new ResourceError('unavailable', 'The source is away', { uri });
      return { async [Symbol.asyncDispose]() {} };
    };
    return createFollowing(
      { watch },
      () => false,
      () => {},
      createContext(),
    );
  }

  async function round(all: Following, resources: readonly Resource[]): Promise<boolean> {
    all.begin();
    for (const each of resources) all.found(each, undefined, false);
    await all.opened();
    return all.whole;
  }

  it('are complete again when everything can be watched', async () => {
    const all = following();
    expect(await round(all, [resource('a'), resource('b')])).toBe(true);
    expect(await round(all, [resource('a'), resource('c', false)])).toBe(false);
    expect(await round(all, [resource('a'), resource('c')])).toBe(true);
    expect(tried).toBe(3);
  });

  it('are incomplete if a folder could not be listed', async () => {
    const all = following();
    expect(await round(all, [resource('a')])).toBe(true);
    all.begin();
    all.missed();
    expect(all.whole).toBe(false);
    expect(await round(all, [resource('a')])).toBe(true);
  });

  it('are tried again in the next round, once', async () => {
    const all = following();
    failing.add('m+memory:///b');
    const both = [resource('a'), resource('b')];
    expect(await round(all, both)).toBe(false);
    expect(await round(all, both)).toBe(false);
    expect(tried).toBe(3);
    failing.clear();
    expect(await round(all, both)).toBe(true);
    expect(await round(all, both)).toBe(true);
    expect(tried).toBe(4);
  });

  it('are complete again when there are no longer too many', async () => {
    const all = following();
    const many = Array.from({ length: MAX_FOLLOWED + 1 }, (_, at) => resource(String(at)));
    expect(await round(all, many)).toBe(false);
    all.lost('m+memory:///0');
    expect(await round(all, many.slice(1))).toBe(true);
    await all.close();
  });
});
