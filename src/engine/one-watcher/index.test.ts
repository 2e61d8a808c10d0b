import { afterEach, describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { defineProvider } from '../../core/define-provider.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import { busAt, createHub } from '../../serving/bus/hub.ts';
import { createOneWatcher, type OneWatcher } from './index.ts';

const hub = createHub();
const open: { readonly watcher: OneWatcher; readonly bus: ReturnType<typeof busAt> }[] = [];

afterEach(async () => {
  for (const { watcher, bus } of open.splice(0)) {
    await watcher.close();
    await bus.close();
  }
});

function oneWatcher(): OneWatcher {
  const bus = busAt(hub);
  const watcher = createOneWatcher(bus);
  open.push({ watcher, bus });
  return watcher;
}

interface Counted {
  readonly mount: Mount;
  /** The number of open watches at the source. */
  watches: number;
  readonly heard: (string | undefined)[];
  tell(uri?: string): void;
}

/** @param costs whether watching it is expensive */
function counted({ source, costs = true }: { readonly source?: string; readonly costs?: boolean } = {}): Counted {
  let told: (uri?: string) => void = () => {};
  const made = { watches: 0, heard: [] as (string | undefined)[], tell: (uri?: string) => told(uri) };
  const provider = defineProvider({
    scheme: 'note',
    list: () => [{ uri: 'note:a' }],
    read: () => 'a',
    watch(tell) {
      told = tell;
      made.watches++;
      return () => made.watches--;
    },
    ...(costs && { heard: (uri) => void made.heard.push(uri) }),
  });
  return Object.assign(made, { mount: { name: 'notes', provider, source } });
}

const watchIn = async (watcher: OneWatcher, { mount }: Counted, uri: string | undefined, onChange: () => void) => {
  const handle = await watcher.share(mount).provider.watch?.(uri, onChange, createContext());
  if (handle === undefined) throw new Error('It can be watched');
  return handle;
};

describe('a mount among several replicas', () => {
  it('is unchanged without a bus, and if watching it is cheap', () => {
    const [dear, cheap] = [counted(), counted({ costs: false })];
    expect(createOneWatcher(undefined).share(dear.mount)).toBe(dear.mount);
    expect(oneWatcher().share(cheap.mount)).toBe(cheap.mount);
  });

  it('is the same each time, with everything that its provider has', () => {
    const watcher = oneWatcher();
    const { mount } = counted();
    const shared = watcher.share(mount);
    expect(watcher.share(mount)).toBe(shared);
    expect(shared.provider.features).toBe(mount.provider.features);
    expect(shared.provider.heard).toBeTypeOf('function');
  });

  it('is watched in one replica, its list as well; the caches of the others are dropped before their listeners are called', async () => {
    const [one, other] = [counted(), counted()];
    const [first, second] = [oneWatcher(), oneWatcher()];
    const told: string[] = [];
    await watchIn(first, one, 'note:a', () => told.push('one'));
    const heard = new Promise<void>((resolve) => {
      void watchIn(second, other, 'note:a', () => {
        told.push(`other, after ${other.heard.join()}`);
        resolve();
      }).then(() => one.tell('note:a'));
    });
    await heard;
    expect(told).toEqual(['one', 'other, after note:a']);
    const listed = new Promise<void>((resolve) => {
      void watchIn(second, other, undefined, resolve).then(() => one.tell());
    });
    await listed;
    expect(other.heard).toEqual(['note:a', undefined]);
    expect([one.watches, other.watches]).toEqual([1, 0]);
  });

  it('is watched separately if it has another source', async () => {
    const [one, other] = [counted({ source: 'here' }), counted({ source: 'there' })];
    await watchIn(oneWatcher(), one, 'note:a', () => {});
    await watchIn(oneWatcher(), other, 'note:a', () => {});
    expect([one.watches, other.watches]).toEqual([1, 1]);
  });

  it('is watched in another replica when the first one no longer serves it', async () => {
    const [one, other] = [counted(), counted()];
    const [first, second] = [oneWatcher(), oneWatcher()];
    await watchIn(first, one, 'note:a', () => {});
    const told = new Promise<void>((resolve) => {
      void watchIn(second, other, 'note:a', resolve).then(() => first.end(one.mount));
    });
    await told;
    expect([one.watches, other.watches]).toEqual([0, 1]);
  });
});
