/** Tests that open containers are bounded, are opened once for all callers, and are closed when nobody uses them. */
import { describe, expect, it } from 'vitest';
import { until } from '../../../test/e2e/waiting.ts';
import { flatProvider } from '../../testing/flat-fixture.ts';
import type { Inner } from './kind.ts';
import { createOpenings, MAX_OPEN, MAX_WEIGHT } from './openings.ts';

function place() {
  const log = { opened: [] as string[], closed: [] as string[] };
  const open =
    (name: string, weight = 1) =>
    async (): Promise<Inner> => {
      log.opened.push(name);
      const provider = flatProvider({ resources: new Map() });
      return { provider: { ...provider, close: async () => void log.closed.push(name) }, scheme: 'memo', weight };
    };
  return { log, open };
}

describe('openings', () => {
  it('open a container once for all callers, and again in another state while the old one is still in use', async () => {
    const { log, open } = place();
    const openings = createOpenings();
    const [first, second] = await Promise.all([
      openings.use('a', '1', open('a1'), 'x'),
      openings.use('a', '1', open('a1'), 'y'),
    ]);
    expect(log.opened).toEqual(['a1']);
    first.release();
    const later = await openings.use('a', '2', open('a2'), 'x');
    expect(log).toEqual({ opened: ['a1', 'a2'], closed: [] });
    second.release();
    second.release();
    await until(() => log.closed.includes('a1'), 'the old one is closed');
    later.release();
    await openings.close();
    expect(log.closed).toEqual(['a1', 'a2']);
  });

  it('keep a limited number, none that is too heavy, and none that nobody uses', async () => {
    const { log, open } = place();
    await using openings = disposable(createOpenings(60_000));
    for (let at = 0; at <= MAX_OPEN; at++) (await openings.use(`k${at}`, '', open(`k${at}`), 'x')).release();
    await until(() => log.closed.includes('k0'), 'the oldest is closed');
    expect(openings.open).toBe(MAX_OPEN);
    (await openings.use('heavy', '', open('heavy', MAX_WEIGHT + 1), 'x')).release();
    await until(() => log.closed.includes('heavy'), 'what is too heavy is closed');

    const idle = place();
    await using short = disposable(createOpenings(20));
    const lease = await short.use('a', '', idle.open('a'), 'x');
    (await short.use('b', '', idle.open('b'), 'x')).release();
    await until(() => idle.log.closed.includes('b'), 'what is idle is closed');
    expect(idle.log.closed).toEqual(['b']);
    lease.release();
    await until(() => idle.log.closed.includes('a'), 'what was in use is closed after it');
  });

  it('refuse everything when they are closed, and keep nothing that failed', async () => {
    const { log, open } = place();
    const openings = createOpenings();
    const failing = (): Promise<Inner> => Promise.reject(new Error('no'));
    await expect(openings.use('a', '', failing, 'x')).rejects.toThrow('no');
    (await openings.use('a', '', open('a'), 'x')).release();
    await openings.use('b', '', open('b'), 'x');
    await openings.close();
    expect(log.closed).toEqual(['a', 'b']);
    await expect(openings.use('a', '', open('a'), 'x')).rejects.toMatchObject({ code: 'unavailable' });
  });
});

const disposable = (openings: ReturnType<typeof createOpenings>) =>
  Object.assign(Object.create(openings) as typeof openings, { [Symbol.asyncDispose]: () => openings.close() });
