import { access, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { locked } from './lock.ts';

// Each step takes a different time, as on a busy machine, so that the steps of several processes mix.
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  let steps = 0;
  const slow =
    <A extends unknown[], R>(step: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      await pause((++steps * 7) % 19);
      return await step(...given);
    };
  return { ...real, open: slow(real.open), rename: slow(real.rename), rm: slow(real.rm) };
});

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-lock-'));
  path = join(folder, 'file.lock');
});

afterEach(() => rm(folder, { recursive: true }));

/** Makes a file look two minutes old. */
async function age(file: string): Promise<void> {
  const longAgo = new Date(Date.now() - 120_000);
  await utimes(file, longAgo, longAgo);
}

/** Work that tells when it has begun, and ends when the test lets it. */
function gate(): { readonly entered: Promise<void>; readonly enter: () => Promise<void>; readonly leave: () => void } {
  let leave = (): void => {};
  let begun = (): void => {};
  const entered = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const enter = (): Promise<void> => {
    begun();
    return left;
  };
  return { entered, enter, leave: () => leave() };
}

describe('a lock', () => {
  it('admits one at a time, and everybody in the end', async () => {
    let inside = 0;
    const seen: number[] = [];
    const work = async (): Promise<void> => {
      inside++;
      await new Promise(setImmediate);
      seen.push(inside);
      inside--;
    };
    await Promise.all(Array.from({ length: 8 }, () => locked(path, work)));
    expect(seen).toEqual(Array.from({ length: 8 }, () => 1));
    await expect(access(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is released when the work fails', async () => {
    const failing = locked(path, async () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await locked(path, async () => 'again')).toBe('again');
  });

  it('of a process that died is taken over', async () => {
    await writeFile(path, '');
    await age(path);
    expect(await locked(path, async () => 'in')).toBe('in');
    expect(await readdir(folder)).toEqual([]);
  });

  it('that is stale is taken over by one at a time, even if many see it', async () => {
    const all = Array.from({ length: 20 }, async (_each, n) => {
      const lock = join(folder, `${n}.lock`);
      await writeFile(lock, '');
      await age(lock);
      let inside = 0;
      let most = 0;
      const work = async (): Promise<void> => {
        most = Math.max(most, ++inside);
        await pause(20);
        inside--;
      };
      await Promise.all(Array.from({ length: 5 }, () => locked(lock, work)));
      return most;
    });
    expect(Math.max(...(await Promise.all(all)))).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is taken over even if a process died while taking it over', async () => {
    await writeFile(path, '');
    await age(path);
    const { ino, mtimeNs } = await stat(path, { bigint: true });
    const claim = `${path}.${ino}-${mtimeNs}`;
    await writeFile(claim, '');
    await age(claim);
    expect(await locked(path, async () => 'in')).toBe('in');
    expect(await readdir(folder)).toEqual([]);
  });

  it('stays when work ends that took so long that another process took the lock over', async () => {
    const slow = gate();
    const next = gate();
    const before = locked(path, slow.enter);
    await slow.entered;
    await age(path);
    const after = locked(path, next.enter);
    await next.entered;
    slow.leave();
    await before;
    await access(path);
    next.leave();
    await after;
    expect(await readdir(folder)).toEqual([]);
  });

  it('stays if somebody else made it again', async () => {
    await locked(path, async () => {
      await rm(path);
      await writeFile(path, 'of another process');
    });
    await access(path);
  });

  it('may be gone when the work ends', async () => {
    expect(await locked(path, () => rm(path).then(() => 'done'))).toBe('done');
  });

  it('that cannot be created gives its own error', async () => {
    await expect(locked(join(folder, 'missing', 'lock'), async () => 'in')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
