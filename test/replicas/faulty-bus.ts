/** A bus within one process that can be cut, delayed and made to deliver twice, like a network. */
import type { Bus, BusMemory } from '../../src/core/bus.ts';
import { ResourceError } from '../../src/core/errors.ts';
import { type CarrierEvents, createBus } from '../../src/serving/bus/bus.ts';
import type { Hub } from '../../src/serving/bus/hub.ts';

export interface FaultyBus {
  readonly bus: Bus;
  /** Lets nothing through any more, in either direction, and keeps nothing: everything from now on is lost. */
  cut(): void;
  /** Holds back messages of the others until `mend`. */
  delay(): void;
  /** Delivers messages of the others twice. */
  double(): void;
  /** Tells the replica that messages may be lost, as it is told when its connection to a restarted store is back. */
  forgotten(): void;
  /** Lets everything through again, also what was held back. After a cut, tells the replica that messages may be lost. */
  mend(): void;
}

/** @param kept gives the store of the shared state for each command; it may be another one each time */
export function faultyBus(hub: Hub, kept: () => BusMemory = () => hub.memory): FaultyBus {
  let state: 'whole' | 'cut' | 'delayed' | 'doubled' = 'whole';
  let held: string[] = [];
  let events: CarrierEvents | undefined;
  const { send, leave } = hub.join((text) => {
    if (state === 'cut') return;
    if (state === 'delayed') return void held.push(text);
    events?.received(text);
    if (state === 'doubled') events?.received(text);
  });
  const reached = <T>(command: () => Promise<T>): Promise<T> =>
    state === 'cut' ? Promise.reject(new ResourceError('unavailable', 'The bus is cut')) : command();
  const memory: BusMemory = {
    put: (...all) => reached(() => kept().put(...all)),
    replace: (...all) => reached(() => kept().replace(...all)),
    remove: (...all) => reached(() => kept().remove(...all)),
    take: (...all) => reached(() => kept().take(...all)),
    lease: (...all) => reached(() => kept().lease(...all)),
    release: (...all) => reached(() => kept().release(...all)),
    all: (...all) => reached(() => kept().all(...all)),
    keep: (...all) => reached(() => kept().keep(...all)),
    kept: (...all) => reached(() => kept().kept(...all)),
  };
  const bus = createBus((theirs) => {
    events = theirs;
    return {
      async send(text) {
        if (state === 'cut') return false;
        send(text);
        return true;
      },
      get whole() {
        return state !== 'cut';
      },
      memory,
      async close() {
        leave();
      },
    };
  });
  return {
    bus,
    cut: () => {
      state = 'cut';
      held = [];
    },
    delay: () => {
      if (state !== 'cut') state = 'delayed';
    },
    double: () => {
      if (state !== 'cut') state = 'doubled';
    },
    forgotten: () => events?.mended(),
    mend() {
      const wasCut = state === 'cut';
      state = 'whole';
      for (const text of held.splice(0)) events?.received(text);
      if (wasCut) events?.mended();
    },
  };
}
