/** The mount of a URI, also while the schemes of a mounted server become known. */
import { describe, expect, it } from 'vitest';
import { memoryProvider } from '../../providers/memory/index.ts';
import type { ResourceProvider } from '../provider.ts';
import type { Mount } from './mount.ts';
import { createResolver } from './resolver.ts';

/** A provider whose schemes may change. */
function changing(...first: readonly string[]) {
  let schemes = first;
  let looked = 0;
  const inner = memoryProvider({ resources: {} });
  const provider: ResourceProvider = {
    ...inner,
    features: {
      ...inner.features,
      get schemes() {
        looked++;
        return schemes;
      },
    },
  };
  return {
    provider,
    looked: () => looked,
    become: (...next: readonly string[]) => {
      schemes = next;
    },
  };
}

const bare = (name: string, provider: ResourceProvider): Mount => ({ name, provider, prefix: 'none' });

describe('the mount of a URI', () => {
  it('is found as soon as its scheme is known', () => {
    const { provider, become } = changing();
    const { mountOf } = createResolver([bare('far', provider)]);
    expect(mountOf('x:///a')).toBeUndefined();
    become('x');
    expect(mountOf('x:///a')).toBe('far');
    become('y');
    expect(mountOf('x:///a')).toBeUndefined();
  });

  it('is another one when the scheme moves to it', () => {
    const [one, two] = [changing('*'), changing()];
    const { resolve, mountOf } = createResolver([bare('one', one.provider), bare('two', two.provider)]);
    expect(mountOf('x:///a')).toBe('one');
    two.become('x');
    expect(resolve('x:///a')).toMatchObject({ mount: { name: 'two' }, native: 'x:///a' });
    two.become();
    expect(mountOf('ui://x/a')).toBe('one');
    two.become('ui');
    expect(mountOf('ui://x/a')).toBe('two');
  });

  it('is found once for all layers, without a look at schemes if its prefix decides', () => {
    const { provider, looked } = changing('x');
    const { resolve } = createResolver([{ name: 'far', provider }, bare('near', provider)]);
    const found = resolve('far+x:///a');
    expect(found).toMatchObject({ mount: { name: 'far' }, native: 'x:///a' });
    expect(resolve('far+x:///a')).toBe(found);
    expect(looked()).toBe(0);
    expect(resolve('x:///a')).toMatchObject({ mount: { name: 'near' } });
    expect(resolve('far+x:///a')).toMatchObject({ mount: { name: 'far' } });
  });
});
