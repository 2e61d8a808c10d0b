import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';
import type { Link } from './wire/link.ts';

interface Fake extends Link {
  ended: boolean;
}

function fake(): Fake {
  const link = {
    era: 'legacy' as const,
    capabilities: {},
    name: 'fake',
    version: '1',
    introduction: {},
    instructions: undefined,
    ended: false,
    request: async () => ({}),
    listen: async () => {
      throw new Error('not here');
    },
    alive: async () => !link.ended,
    close: async () => {
      link.ended = true;
    },
  };
  return link;
}

describe('a supervisor', () => {
  /** The attempts to connect, in order. The last one repeats. */
  let attempts: (() => Promise<Link>)[];
  let opened: number;
  let ups: boolean[];
  let supervisor: Supervisor;
  let given: AbortSignal | undefined;

  const refused = (): Promise<Link> => Promise.reject(new ResourceError('unavailable', 'refused'));

  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(1);
    attempts = [async () => fake()];
    opened = 0;
    ups = [];
    supervisor = createSupervisor({
      name: 'fake',
      log: SILENT,
      open(signal) {
        given = signal;
        opened++;
        const attempt = attempts.length > 1 ? attempts.shift() : attempts[0];
        return attempt === undefined ? refused() : attempt();
      },
      up: (_link, again) => void ups.push(again),
    });
  });

  afterEach(async () => {
    await supervisor.close();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('opens one connection for all concurrent requests', async () => {
    const [a, b] = await Promise.all([supervisor.get(), supervisor.get()]);
    expect(a).toBe(b);
    expect(opened).toBe(1);
    expect(ups).toEqual([false]);
    expect(supervisor.state).toBe('ready');
  });

  it('reports a connection after a failed attempt as a reconnection', async () => {
    attempts = [refused, async () => fake()];
    using _kept = supervisor.keep();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened).toBe(2);
    expect(ups).toEqual([true]);
  });

  it('fails at once while the next attempt is not due', async () => {
    attempts = [refused];
    await expect(supervisor.get()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(supervisor.get()).rejects.toMatchObject({ details: { retryAfterMs: 250 } });
    expect(opened).toBe(1);
    expect(supervisor).toMatchObject({ state: 'away', failures: 1, lastError: 'refused' });
    await vi.advanceTimersByTimeAsync(250);
    await expect(supervisor.get()).rejects.toMatchObject({ code: 'unavailable' });
    expect(opened).toBe(2);
  });

  it('tries again with growing pauses, up to a longest one, while it is kept', async () => {
    attempts = [refused];
    const kept = supervisor.keep();
    await vi.advanceTimersByTimeAsync(0);
    let pause = 250;
    for (let attempt = 1; attempt < 12; attempt++) {
      expect(opened).toBe(attempt);
      await vi.advanceTimersByTimeAsync(pause - 1);
      expect(opened).toBe(attempt);
      await vi.advanceTimersByTimeAsync(1);
      pause = Math.min(pause * 2, 30_000);
    }
    kept[Symbol.dispose]();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(opened).toBe(12);
  });

  it('reopens the first connection at once when it ends, and those that end soon after longer and longer pauses', async () => {
    using _kept = supervisor.keep();
    await vi.advanceTimersByTimeAsync(0);
    for (const [pause, times] of [
      [0, 2],
      [500, 3],
      [1_000, 4],
    ] as const) {
      const link = supervisor.current as Fake;
      link.ended = true;
      supervisor.ended(link);
      if (pause > 0) {
        await vi.advanceTimersByTimeAsync(pause - 1);
        expect(opened).toBe(times - 1);
      }
      await vi.advanceTimersByTimeAsync(1);
      expect(opened).toBe(times);
    }
    expect(ups).toEqual([false, true, true, true]);
  });

  it('starts again with short pauses after a lasting connection', async () => {
    const first = await supervisor.get();
    supervisor.ended(first);
    const second = await supervisor.get();
    await vi.advanceTimersByTimeAsync(10_000);
    supervisor.ended(second);
    expect(supervisor.failures).toBe(1);
    await supervisor.get();
    expect(opened).toBe(3);
  });

  it('is idle, not away, when it rests after a good connection, and forgets the failures before it', async () => {
    attempts = [refused, refused, async () => fake()];
    await expect(supervisor.get()).rejects.toThrow('refused');
    await vi.advanceTimersByTimeAsync(250);
    await expect(supervisor.get()).rejects.toThrow('refused');
    await vi.advanceTimersByTimeAsync(500);
    const link = await supervisor.get();
    await vi.advanceTimersByTimeAsync(10_000);
    await supervisor.rest();
    expect(link.ended).toBe(true);
    expect(supervisor).toMatchObject({ state: 'idle', failures: 0, lastError: undefined });

    attempts = [refused];
    await expect(supervisor.get()).rejects.toThrow('refused');
    await expect(supervisor.get()).rejects.toMatchObject({ details: { retryAfterMs: 250 } });
  });

  it('is idle when it rests after a short connection, and the pauses still grow', async () => {
    const first = await supervisor.get();
    supervisor.ended(first);
    await supervisor.get();
    await vi.advanceTimersByTimeAsync(9_999);
    await supervisor.rest();
    expect(supervisor).toMatchObject({ state: 'idle', failures: 1, lastError: undefined });

    attempts = [refused];
    await expect(supervisor.get()).rejects.toThrow('refused');
    await expect(supervisor.get()).rejects.toMatchObject({ details: { retryAfterMs: 500 } });
  });

  it('stays away when it rests without a connection', async () => {
    attempts = [refused];
    await expect(supervisor.get()).rejects.toThrow('refused');
    await supervisor.rest();
    expect(supervisor).toMatchObject({ state: 'away', failures: 1, lastError: 'refused' });
  });

  it('reopens after a rest, and is away if that fails', async () => {
    await supervisor.get();
    await supervisor.rest();
    expect(supervisor.state).toBe('idle');
    await supervisor.get();
    expect(supervisor.state).toBe('ready');
    await supervisor.rest();
    attempts = [refused];
    await expect(supervisor.get()).rejects.toThrow('refused');
    expect(supervisor.state).toBe('away');
  });

  it('ignores the end of a former connection, and keeps the present one', async () => {
    const first = await supervisor.get();
    supervisor.ended(first);
    const second = await supervisor.get();
    supervisor.ended(first);
    expect(supervisor.current).toBe(second);
  });

  it('continues to connect for the others if one of them leaves', async () => {
    let done = (_link: Link): void => {};
    attempts = [
      () =>
        new Promise<Link>((resolve) => {
          done = resolve;
        }),
    ];
    const leaving = new AbortController();
    const left = supervisor.get(leaving.signal);
    const stays = supervisor.get();
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    const link = fake();
    done(link);
    expect(await stays).toBe(link);
  });

  it('aborts connecting when it closes, and closes a connection that comes too late', async () => {
    let done = (_link: Link): void => {};
    attempts = [
      () =>
        new Promise<Link>((resolve) => {
          done = resolve;
        }),
    ];
    const wanted = supervisor.get();
    wanted.catch(() => {});
    const closing = supervisor.close();
    expect(given?.aborted).toBe(true);
    const late = fake();
    done(late);
    await closing;
    expect(late.ended).toBe(true);
    await expect(wanted).rejects.toMatchObject({ code: 'unavailable' });
    await expect(supervisor.get()).rejects.toMatchObject({ message: 'The server is shutting down' });
  });
});
