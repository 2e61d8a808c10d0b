import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SILENT } from '../context.ts';
import { sealedAnswers } from './sealed-answers.ts';
import type { AnswerStore } from './shared-answers.ts';

const OLD = new Uint8Array(32).fill(1);
const NEW = new Uint8Array(32).fill(2);
const KEY = ['format', 'digest', 'pdf'];
const MIB = 1024 * 1024;
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString();

interface MemoryStore extends AnswerStore {
  readonly files: Map<string, Uint8Array>;
}

function memoryStore(others: Partial<AnswerStore> = {}): MemoryStore {
  const files = new Map<string, Uint8Array>();
  return {
    files,
    maxAnswerBytes: 16 * MIB,
    read: async (name) => files.get(name),
    write: async (name, sealed) => void files.set(name, sealed),
    remove: async (name) => void files.delete(name),
    ...others,
  };
}

/** A store that lets one process at a time make an answer. */
function leasingStore(now: () => number = () => 0) {
  const leases = new Map<string, { readonly holder: string; readonly ends: number }>();
  return {
    ...memoryStore(),
    leases,
    async lease(name: string, holder: string, ttlMs: number) {
      const has = leases.get(name);
      if (has !== undefined && has.holder !== holder && has.ends > now()) return false;
      leases.set(name, { holder, ends: now() + ttlMs });
      return true;
    },
    async release(name: string, holder: string) {
      if (leases.get(name)?.holder === holder) leases.delete(name);
    },
  };
}

/** Returns a signal that is never aborted. */
const never = (): AbortSignal => new AbortController().signal;

function told() {
  const said: string[] = [];
  return { ...SILENT, said, warn: (message: string) => void said.push(message) };
}

/** Keeps one answer, and waits until it is kept. */
async function keep(store: AnswerStore, keys: readonly Uint8Array[], key: readonly string[], answer: Uint8Array) {
  const answers = sealedAnswers({ store, keys, log: SILENT });
  answers.put(key, answer);
  await answers.close();
  return answers;
}

afterEach(() => void vi.useRealTimers());

describe('shared answers', () => {
  it('come back unchanged with any bytes, and only under their key', async () => {
    const any = fc.oneof(
      fc.uint8Array({ maxLength: 3_000 }),
      fc.integer({ min: 0, max: 100_000 }).map((length) => new Uint8Array(length).fill(7)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), any, async (key, answer) => {
        const store = memoryStore();
        const answers = sealedAnswers({ store, keys: [OLD], log: SILENT });
        const writer = await keep(store, [OLD], key, answer);
        expect(writer.state()).toMatchObject({ kept: 1, lost: 0, whole: true });
        expect(Buffer.compare((await answers.get(key, MIB)) ?? Buffer.of(1), answer)).toBe(0);
        expect(await answers.get([...key, ''], MIB)).toBeUndefined();
      }),
    );
  });

  it('leave no plain text in the store, neither of answers nor of their keys', async () => {
    const store = memoryStore();
    const secret = 'the combination of the safe';
    await keep(store, [OLD], ['format', 'digest of the vault'], Buffer.from(secret));
    await keep(store, [OLD], ['format', 'the same, compressed'], Buffer.from(secret.repeat(100)));
    expect(store.files.size).toBe(2);
    for (const [name, sealed] of store.files) {
      expect(name).toMatch(/^[0-9a-f]{64}$/);
      expect(Buffer.from(sealed).toString('latin1')).not.toContain('safe');
    }
    // Two sealed copies of the same answer differ.
    const [before] = [...store.files.values()];
    await keep(store, [OLD], ['format', 'digest of the vault'], Buffer.from(secret));
    expect(store.files.get([...store.files.keys()][0] ?? '')).not.toEqual(before);
  });

  it('are found while one key replaces another, and not with other keys', async () => {
    const store = memoryStore();
    await keep(store, [OLD], KEY, Buffer.from('old'));
    const during = sealedAnswers({ store, keys: [NEW, OLD], log: SILENT });
    expect(text(await during.get(KEY, MIB))).toBe('old');
    const stranger = sealedAnswers({ store, keys: [NEW], log: SILENT });
    expect(await stranger.get(KEY, MIB)).toBeUndefined();
    expect(stranger.state()).toMatchObject({ missing: 1, damaged: 0 });
  });

  it('are missing, removed and counted once they were altered, cut off or put in the place of others', async () => {
    const answer = Buffer.from('an answer of some length '.repeat(50));
    const alter = fc.oneof(
      fc
        .nat()
        .map((at) => (sealed: Uint8Array) => sealed.map((byte, i) => (i === at % sealed.length ? byte ^ 1 : byte))),
      fc.nat().map((at) => (sealed: Uint8Array) => sealed.subarray(0, at % sealed.length)),
      fc.uint8Array().map((other) => () => other),
    );
    await fc.assert(
      fc.asyncProperty(alter, async (altered) => {
        const store = memoryStore();
        await keep(store, [OLD], KEY, answer);
        for (const [name, sealed] of store.files) store.files.set(name, altered(sealed));
        const answers = sealedAnswers({ store, keys: [OLD], log: SILENT });
        expect(await answers.get(KEY, MIB)).toBeUndefined();
        expect(answers.state()).toMatchObject({ found: 0, missing: 1, damaged: 1, whole: true });
        expect(store.files.size).toBe(0);
      }),
    );
    const store = memoryStore();
    await keep(store, [OLD], ['a'], Buffer.from('of a'));
    const [[a, ofA = new Uint8Array()] = ['']] = [...store.files];
    await keep(store, [OLD], ['b'], Buffer.from('of b'));
    const b = [...store.files.keys()].find((name) => name !== a) ?? '';
    store.files.set(b, ofA);
    expect(await sealedAnswers({ store, keys: [OLD], log: SILENT }).get(['b'], MIB)).toBeUndefined();
  });

  it('have no more bytes than are wanted, also when they were compressed', async () => {
    const store = memoryStore();
    await keep(store, [OLD], KEY, new Uint8Array(MIB));
    const answers = sealedAnswers({ store, keys: [OLD], log: SILENT });
    expect(await answers.get(KEY, MIB - 1)).toBeUndefined();
    const small = memoryStore({ maxAnswerBytes: 100 });
    expect((await keep(small, [OLD], KEY, crypto.getRandomValues(new Uint8Array(100)))).state()).toMatchObject({
      kept: 0,
      lost: 1,
      whole: true,
    });
  });

  it('are missing while the store is away; it is logged once, tried rarely, and logged again when it is back', async () => {
    let away = true;
    let asked = 0;
    let now = 0;
    const log = told();
    const store = memoryStore();
    const answers = sealedAnswers({
      store: {
        ...store,
        async read(name) {
          asked++;
          if (away) throw new Error('no connection');
          return store.read(name);
        },
      },
      keys: [OLD],
      log,
      now: () => now,
    });
    for (let each = 0; each < 10; each++) {
      expect(await answers.get(KEY, MIB)).toBeUndefined();
      answers.put(KEY, Buffer.from('made here'));
    }
    expect(asked).toBe(1);
    expect(answers.state()).toMatchObject({ failed: 10, lost: 10, kept: 0, whole: false });
    now += 5_000;
    expect(await answers.get(KEY, MIB)).toBeUndefined();
    expect(asked).toBe(2);
    away = false;
    now += 5_000;
    expect(await answers.get(KEY, MIB)).toBeUndefined();
    answers.put(KEY, Buffer.from('made here'));
    await answers.close();
    expect(text(await answers.get(KEY, MIB))).toBe('made here');
    expect(answers.state()).toMatchObject({ missing: 1, found: 1, whole: true });
    expect(log.said).toEqual(['shared answers cannot be read, and are made here', 'shared answers are read again']);
  });

  it('are read while nothing can be kept', async () => {
    const log = told();
    const store = memoryStore();
    await keep(store, [OLD], KEY, Buffer.from('kept before'));
    const full = () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
    const answers = sealedAnswers({ store: { ...store, write: full }, keys: [OLD], log });
    for (let each = 0; each < 3; each++) answers.put(['other'], Buffer.from('lost'));
    await answers.close();
    answers.put(['other'], Buffer.from('lost'));
    expect(text(await answers.get(KEY, MIB))).toBe('kept before');
    expect(answers.state()).toMatchObject({ lost: 4, found: 1, whole: false });
    expect(log.said).toEqual(['shared answers cannot be kept']);
  });

  it('are made once by processes that want the same one at the same moment', async () => {
    const store = leasingStore();
    const processes = Array.from({ length: 5 }, () => sealedAnswers({ store, keys: [OLD], log: SILENT }));
    let made = 0;
    const work = async (): Promise<Uint8Array> => {
      made++;
      await pause(50);
      return Buffer.from('made once');
    };
    const all = await Promise.all(processes.map((each) => each.make(KEY, MIB, work, never())));
    expect(all.map(text)).toEqual(Array.from({ length: 5 }, () => 'made once'));
    expect(made).toBe(1);
    await Promise.all(processes.map((each) => each.close()));
    expect(store.leases.size).toBe(0);
  });

  it('are made by the next one where the first gives up, and no longer waited for by who has left', async () => {
    const store = leasingStore();
    const [one, other, third] = Array.from({ length: 3 }, () => sealedAnswers({ store, keys: [OLD], log: SILENT }));
    let fail: ((error: Error) => void) | undefined;
    const failing = one?.make(KEY, MIB, () => new Promise((_resolve, reject) => (fail = reject)), never());
    await vi.waitUntil(() => fail !== undefined);
    const left = new AbortController();
    const leaving = third?.make(KEY, MIB, () => Promise.reject(new Error('nobody wants it')), left.signal);
    const waiting = other?.make(KEY, MIB, async () => Buffer.from('made by the other'), never());
    left.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    fail?.(new Error('it is no document'));
    await expect(failing).rejects.toThrow('it is no document');
    expect(text(await waiting)).toBe('made by the other');
  });

  it('are made by another process if the one that made them is dead, or if the store cannot say who makes them', async () => {
    let now = 0;
    const store = leasingStore(() => now);
    store.leases.set('dead', { holder: 'dead', ends: 6_000 });
    const answers = sealedAnswers({ store, keys: [OLD], log: SILENT });
    const lease = store.lease;
    const waiting = sealedAnswers({
      store: { ...store, lease: (_name, holder, ttlMs) => lease('dead', holder, ttlMs) },
      keys: [OLD],
      log: SILENT,
    }).make(KEY, MIB, async () => Buffer.from('made anew'), never());
    now = 6_001;
    expect(text(await waiting)).toBe('made anew');
    const broken = { ...store, lease: () => Promise.reject(new Error('no connection')) };
    const alone = sealedAnswers({ store: broken, keys: [OLD], log: SILENT });
    expect(text(await alone.make(['other'], MIB, async () => Buffer.from('made here'), never()))).toBe('made here');
    await alone.close();
    expect(text(await answers.get(['other'], MIB))).toBe('made here');
  });

  it('are not waited for when the store hangs, and then hold at most MAX_WAITING_BYTES', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const hangs = () => new Promise<never>(() => {});
    const reading = sealedAnswers({ store: memoryStore({ read: hangs }), keys: [OLD], log: SILENT });
    const asked = reading.get(KEY, MIB);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await asked).toBeUndefined();
    expect(reading.state()).toMatchObject({ failed: 1, whole: false });
    const keeping = sealedAnswers({ store: memoryStore({ write: hangs }), keys: [OLD], log: SILENT });
    for (let each = 0; each < 9; each++) keeping.put([`${each}`], new Uint8Array(10 * MIB));
    expect(keeping.state().lost).toBe(3);
    const closed = keeping.close();
    await vi.advanceTimersByTimeAsync(2_000);
    await closed;
  });
});
