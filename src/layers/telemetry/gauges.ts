/** Counts open sessions and streams, and reads the engine and the process whenever metrics are read. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import type { EngineState, Telemetry } from '../../core/telemetry.ts';
import type { NetworkTransport } from '../../core/trace.ts';
import type { Instruments } from './instruments.ts';
import { ATTR_NETWORK_TRANSPORT, MOUNT } from './names.ts';

/** Every state of an upstream: the one that it is in is 1, the others are 0. */
const STATES = ['idle', 'connecting', 'ready', 'away'] as const;

/** Every state of an index: the one that it is in is 1, the others are 0. */
const INDEX_STATES = ['opening', 'building', 'ready', 'down'] as const;

const DELAY_RESOLUTION_MS = 20;

/** Sessions and streams that are open, and how long sessions last. */
export function openedOf({ meter, sessions }: Instruments): Telemetry['opened'] {
  const open = {
    session: meter.createUpDownCounter('vitrine.sessions', { unit: '{session}', description: 'Sessions now' }),
    stream: meter.createUpDownCounter('vitrine.streams', { unit: '{stream}', description: 'Streams of notices now' }),
  };
  return (kind, transport: NetworkTransport) => {
    const attributes = { [ATTR_NETWORK_TRANSPORT]: transport };
    const from = performance.now();
    let ended = false;
    open[kind].add(1, attributes);
    return () => {
      if (ended) return;
      ended = true;
      open[kind].add(-1, attributes);
      if (kind === 'session') sessions.record((performance.now() - from) / 1_000, attributes);
    };
  };
}

type Observe = (result: BatchObservableResult) => void;

/** Reads the engine and the process until it is disposed. */
export function engineGauges(meter: Meter, state: EngineState): Disposable {
  const index = state.index === undefined ? [] : [indexOf(meter, state.index)];
  const all = [engineOf(meter, state), ...index, processOf(meter), eventLoopOf(meter)];
  for (const { observe, observables } of all) meter.addBatchObservableCallback(observe, observables);
  return {
    [Symbol.dispose]() {
      for (const { observe, observables, stop } of all) {
        meter.removeBatchObservableCallback(observe, observables);
        stop?.();
      }
    },
  };
}

interface Observed {
  readonly observables: Observable[];
  readonly observe: Observe;
  readonly stop?: () => void;
}

function engineOf(meter: Meter, { watches, upstreams }: EngineState): Observed {
  const watched = meter.createObservableUpDownCounter('vitrine.watches', {
    unit: '{watch}',
    description: 'Watches of resources and lists now',
  });
  const upstream = meter.createObservableGauge('vitrine.upstream.state', {
    description: '1 for the state that a mounted server is in',
  });
  return {
    observables: [watched, upstream],
    observe(result) {
      result.observe(watched, watches());
      for (const { mount, state } of upstreams())
        for (const each of STATES) {
          result.observe(upstream, each === state ? 1 : 0, { [MOUNT]: mount, 'vitrine.upstream.state': each });
        }
    },
  };
}

function indexOf(meter: Meter, stateOf: NonNullable<EngineState['index']>): Observed {
  const gauge = (which: string, unit: string, description: string) =>
    meter.createObservableGauge(`vitrine.index.${which}`, { unit, description });
  const state = meter.createObservableGauge('vitrine.index.state', { description: '1 for the state of the index' });
  const resources = gauge('resources', '{resource}', 'Resources in the index');
  const passages = gauge('passages', '{passage}', 'Passages in the index');
  const bytes = gauge('size', 'By', 'Bytes of the index');
  const leftOut = gauge('left_out', '{resource}', 'Resources whose text is not in the index, by the reason');
  return {
    observables: [state, resources, passages, bytes, leftOut],
    observe(result) {
      const now = stateOf();
      if (now === undefined) return;
      for (const each of INDEX_STATES)
        result.observe(state, each === now.state ? 1 : 0, { 'vitrine.index.state': each });
      result.observe(resources, now.resources);
      result.observe(passages, now.passages);
      result.observe(bytes, now.bytes);
      for (const [reason, count] of Object.entries(now.leftOut))
        result.observe(leftOut, count, { 'vitrine.index.reason': reason });
    },
  };
}

function processOf(meter: Meter): Observed {
  const memory = meter.createObservableUpDownCounter('process.memory.usage', {
    unit: 'By',
    description: 'Resident memory',
  });
  const heap = meter.createObservableUpDownCounter('v8js.memory.heap.used', { unit: 'By', description: 'Heap in use' });
  const cpu = meter.createObservableCounter('process.cpu.time', { unit: 's', description: 'Time of processors' });
  const uptime = meter.createObservableGauge('process.uptime', { unit: 's', description: 'Since the start' });
  return {
    observables: [memory, heap, cpu, uptime],
    observe(result) {
      const { rss, heapUsed } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      result.observe(memory, rss);
      result.observe(heap, heapUsed);
      result.observe(cpu, user / 1_000_000, { 'cpu.mode': 'user' });
      result.observe(cpu, system / 1_000_000, { 'cpu.mode': 'system' });
      result.observe(uptime, process.uptime());
    },
  };
}

/** Delays since they were read last. */
function eventLoopOf(meter: Meter): Observed {
  const gauge = (which: string) =>
    meter.createObservableGauge(`nodejs.eventloop.delay.${which}`, { unit: 's', description: 'Event loop delay' });
  const [mean, p50, p99, max] = [gauge('mean'), gauge('p50'), gauge('p99'), gauge('max')];
  const used = meter.createObservableGauge('nodejs.eventloop.utilization', {
    unit: '1',
    description: 'The part of the time in which the event loop was busy',
  });
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  let before = performance.eventLoopUtilization();
  return {
    observables: [mean, p50, p99, max, used],
    observe(result) {
      const now = performance.eventLoopUtilization();
      result.observe(used, performance.eventLoopUtilization(now, before).utilization);
      before = now;
      if (delay.count === 0) return;
      const seconds = (nanoseconds: number): number => nanoseconds / 1e9;
      result.observe(mean, seconds(delay.mean));
      result.observe(p50, seconds(delay.percentile(50)));
      result.observe(p99, seconds(delay.percentile(99)));
      result.observe(max, seconds(delay.max));
      delay.reset();
    },
    stop: () => void delay.disable(),
  };
}
