/** Many clients, well and badly behaved, for a number of operations. `npm run soak -- --operations 200000` runs longer. */
import { expect, it } from 'vitest';
import type { Lasting } from '../../src/core/admission.ts';
import { until, within } from '../e2e/waiting.ts';
import { forgetSent } from '../errors/sent.ts';
import { ACTS } from './acts.ts';
import { heapInUse, moreThan, openHandles } from './measure.ts';
import { HELD, makePlace, type Place } from './place.ts';

const given = process.env.VITRINE_SOAK_OPERATIONS;
const operations = Number(given ?? 420);
/** Concurrent clients. */
const CLIENTS = 12;
/** The share of operations at the start that fill caches and compile code. */
const WARM_UP = 0.4;
/** Bytes of the heap that an operation may leave behind, and that may come with time alone. */
const PER_OPERATION = 512;
const AT_ALL = 3 * 1024 * 1024;

/** Each act in turn, many at the same time. */
async function act(place: Place, from: number, to: number): Promise<void> {
  let next = from;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (next < to) {
        const at = next++;
        const each = ACTS[at % ACTS.length];
        try {
          await each?.run(place);
        } catch (cause) {
          throw new Error(`operation ${at}: ${each?.name}`, { cause });
        }
        if (given !== undefined && at % 10_000 === 0) process.stderr.write(`${at} of ${to}\n`);
      }
    }),
  );
}

/** Checks that everything was released: there is room for as much as allowed. */
function expectRoom({ vitrine }: Place): void {
  const principal = { id: 'token:soak', subject: 'soak' };
  for (const what of ['subscriptions', 'sessions', 'streams'] satisfies Lasting[]) {
    const held = Array.from({ length: HELD[what] }, () => vitrine.admission.hold(what, principal));
    for (const release of held) release();
  }
}

/** Waits until the server has noticed that clients have gone. */
async function quiet(place: Place, handles: Readonly<Record<string, number>>): Promise<void> {
  const { open, vitrine } = place;
  const busy = (): readonly string[] => [
    ...moreThan(handles),
    ...(open.session + open.stream > 0 ? [JSON.stringify(open)] : []),
    ...(vitrine.changes.size > 0 ? [`watches: ${vitrine.changes.size}`] : []),
  ];
  await until(() => busy().length === 0, 'everything to be given back').catch((cause: unknown) => {
    throw new Error(`still open: ${busy().join(', ')}`, { cause });
  });
}

it(`${operations} operations of many clients leave nothing behind [SEC-RES-4]`, {
  timeout: 300_000 + operations * 50,
}, async () => {
  const unhandled: unknown[] = [];
  const keep = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', keep);
  const outside = openHandles();
  try {
    {
      await using place = await makePlace();
      // Each act once: what its first use opens for good counts as part of the start.
      await act(place, 0, ACTS.length);
      await until(() => place.open.session + place.open.stream === 0, 'idle sessions to end');
      const handles = openHandles();
      const warm = Math.ceil(operations * WARM_UP);
      await act(place, 0, warm);
      await quiet(place, handles);
      // The messages that this process keeps belong to the test, not to the server.
      forgetSent();
      const before = await heapInUse();
      await act(place, warm, operations);
      await quiet(place, handles);
      const allowed = AT_ALL + (operations - warm) * PER_OPERATION;
      let grown = 0;
      await until(async () => {
        forgetSent();
        grown = (await heapInUse()) - before;
        return grown < allowed;
      }, 'memory to be what it was').catch((cause: unknown) => {
        throw new Error(`${grown} bytes more after ${operations - warm} operations`, { cause });
      });
      expectRoom(place);
      await within(act(place, 0, ACTS.length), 'what still has to be served');
    }
    await until(() => moreThan(outside).length === 0, `handles to be closed: ${moreThan(outside)}`);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', keep);
  }
});
