import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLeases } from './leases.ts';

const TTL_MS = 100;

it('a lease never has two holders, and can be taken again when the time of its last holder is over', async () => {
  const step = fc.record({
    who: fc.constantFrom('a', 'b', 'c'),
    does: fc.constantFrom('lease' as const, 'release' as const),
    later: fc.integer({ min: 0, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      let now = 0;
      const leases = createLeases(() => now);
      let held: { readonly by: string; readonly until: number } | undefined;
      for (const { who, does, later } of steps) {
        now += later;
        if (held !== undefined && held.until <= now) held = undefined;
        if (does === 'release') {
          await leases.release('l', who);
          if (held?.by === who) held = undefined;
          continue;
        }
        const free = held === undefined || held.by === who;
        expect(await leases.lease('l', who, TTL_MS)).toBe(free);
        if (free) held = { by: who, until: now + TTL_MS };
      }
    }),
  );
});

it('the number of leases is limited, and those that have expired make room', async () => {
  let now = 0;
  const leases = createLeases(() => now);
  for (let each = 0; each < 10_000; each++) await leases.lease(`l${each}`, 'a', TTL_MS);
  await expect(leases.lease('one more', 'a', TTL_MS)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await leases.lease('l7', 'a', TTL_MS)).toBe(true);
  now = TTL_MS;
  expect(await leases.lease('one more', 'a', TTL_MS)).toBe(true);
});
