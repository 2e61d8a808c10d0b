import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { guarded, uriOf, without } from '../../../test/security/access/guarded.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { MemoryProvider } from '../../providers/memory/index.ts';
import type { AccessOptions } from './index.ts';
import { TICK_MS } from './together.ts';

const ctx = createContext();

interface Watching {
  /** The resource that is changed. */
  readonly path?: string;
  /** Its text before it is watched. Default: what the provider has. */
  readonly first?: string | undefined;
  /** Whether no resource can be described now. */
  readonly fails?: () => boolean;
}

describe.each(['hide', 'deny'] as const)('changes under %s [SEC-RES-2]', (effect) => {
  const byUri = without(effect);
  /** Large resources may not be seen, so the resource itself has to be looked at. */
  const bySize: AccessOptions = {
    rules: [
      { effect, uris: ['memory:///private/**'] },
      { effect, minBytes: 100 },
    ],
    default: 'allow',
  };

  /** Watches a URI. `change` changes resources, and returns the URIs of the changes that the caller is told. */
  async function watching(
    access: AccessOptions,
    uri: string | undefined,
    { path = 'a.txt', first, fails = () => false }: Watching = {},
  ) {
    let memory: MemoryProvider | undefined;
    let tell: Parameters<NonNullable<ResourceProvider['watch']>>[1] = () => {};
    const provider = await guarded(access, (inner) => {
      memory = inner;
      return {
        metadata: async (about, seen) => {
          if (fails()) throw new ResourceError('unavailable', 'Not now');
          return await inner.metadata(about, seen);
        },
        async watch(_uri, onChange) {
          tell = onChange;
          return { [Symbol.asyncDispose]: async () => {} };
        },
      };
    });
    if (first !== undefined) memory?.set(path, { text: first });
    const told: string[] = [];
    const watch = await provider.watch?.(
      uri,
      (event) => told.push(event.kind === 'updated' ? event.uri : event.kind),
      ctx,
    );
    return {
      watch,
      async change(text: string | undefined, changed = path): Promise<readonly string[]> {
        told.length = 0;
        if (text === undefined) memory?.delete(changed);
        else memory?.set(changed, { text });
        tell({ kind: 'updated', uri: uriOf(changed) });
        await after(TICK_MS);
        return [...told];
      },
    };
  }
  const LARGE = 'x'.repeat(200);

  it.each([
    ['by its URI', byUri],
    ['by its attributes', bySize],
  ])(
    'of a resource that is withheld %s are not reported, whether it exists or not; a denied one cannot be watched',
    async (_how, access) => {
      for (const path of ['private/c.txt', 'private/missing.txt']) {
        const watched = watching(access, uriOf(path), { path });
        if (effect === 'deny') {
          await expect(watched).rejects.toMatchObject({ code: 'denied' });
          continue;
        }
        const { watch, change } = await watched;
        expect(watch).toBeDefined();
        for (const text of ['new', LARGE, undefined, 'again']) expect(await change(text)).toEqual([]);
      }
    },
  );

  it.each([
    ['by URI', byUri],
    ['by attributes', bySize],
  ])('below a watched folder are reported only of what may be seen: %s', async (_how, access) => {
    const { change } = await watching(access, uriOf('public'), { path: 'public/e.txt' });
    expect(await change('new')).toEqual([uriOf('public/e.txt')]);
    expect(await change('new', 'private/c.txt')).toEqual([]);
    expect(await change(undefined, 'private/c.txt')).toEqual([]);
    expect(await change(undefined, 'private/never.txt')).toEqual([]);
  });

  it('of a resource that cannot be seen any more are not reported, its end included', async () => {
    const { change } = await watching(bySize, uriOf('a.txt'));
    expect(await change('new')).toEqual([uriOf('a.txt')]);
    expect(await change(LARGE)).toEqual([]);
    expect(await change(undefined)).toEqual([]);
    expect(await change('small')).toEqual([uriOf('a.txt')]);
    expect(await change(undefined)).toEqual([uriOf('a.txt')]);
  });

  it.each([undefined, LARGE])(
    'of a resource are reported once it may be seen, whatever was there before: %#',
    async (first) => {
      // A rule about attributes also holds for what is missing.
      const watched = watching(bySize, uriOf('new.txt'), { path: 'new.txt', first });
      if (effect === 'deny') {
        await expect(watched).rejects.toMatchObject({ code: 'denied' });
        return;
      }
      const { change } = await watched;
      expect(await change(`${LARGE}!`)).toEqual([]);
      expect(await change(undefined)).toEqual([]);
      expect(await change('small')).toEqual([uriOf('new.txt')]);
      expect(await change(undefined)).toEqual([uriOf('new.txt')]);
    },
  );

  it('of a resource that cannot be described now are reported to those who could see it last', async () => {
    let fails = false;
    const { change } = await watching(bySize, uriOf('a.txt'), { fails: () => fails });
    fails = true;
    expect(await change('new')).toEqual([uriOf('a.txt')]);
    fails = false;
    expect(await change(LARGE)).toEqual([]);
    fails = true;
    expect(await change(LARGE)).toEqual([]);
    expect(await change('small')).toEqual([]);
    fails = false;
    expect(await change('small')).toEqual([uriOf('a.txt')]);
  });

  it('of a resource that was seen are reported with its end', async () => {
    const { change } = await watching(bySize, uriOf('a.txt'));
    expect(await change(undefined)).toEqual([uriOf('a.txt')]);
    expect(await change('back')).toEqual([uriOf('a.txt')]);
  });
});
