/** Counts open sessions and streams, and reads the state of the engine and the process when metrics are read. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import type { EngineState, Telemetry } from '../../core/telemetry.ts';
import type { NetworkTransport } from '../../core/trace.ts';
import type { Instruments } from './instruments.ts';
import { ATTR_NETWORK_TRANSPORT, MOUNT } from './names.ts';

/** The states of an upstream: the gauge of its present state is 1, the others are 0. */
const STATES = ['idle', 'connecting', 'ready', 'away'] as const;

/** The states of an index: the gauge of its present state is 1, the others are 0. */
const INDEX_STATES = ['opening', 'building', 'ready', 'down'] as const;

const BUS_DIRECTION = 'vitrine.bus.direction';

/** The states of a bus: the gauge of its present state is 1, the other is 0. */
const BUS_STATES = ['whole', 'away'] as const;

/** The states of shared answers; `whole` if they could be read and kept the last time. The present one is 1, the other is 0. */
const ANSWERS_STATES = ['whole', 'away'] as const;

const DELAY_RESOLUTION_MS = 20;

/** Counts open sessions and streams, and measures the duration of sessions. */
export function openedOf({ meter, sessions }: Instruments): Telemetry['opened'] {
  const open = {
    session: meter.createUpDownCounter('vitrine.sessions', { unit: '{session}', description: 'Sessions now' }),
    stream: meter.createUpDownCounter('vitrine.streams', {
      unit: '{stream}',
      description: 'Open streams of notifications',
    }),
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

/** Observes the engine and the process until the returned object is disposed of. */
export function engineGauges(meter: Meter, state: EngineState): Disposable {
  const index = state.index === undefined ? [] : [indexOf(meter, state.index)];
  const bus = state.bus === undefined ? [] : [busOf(meter, state.bus)];
  const conversions = state.conversions === undefined ? [] : [conversionsOf(meter, state.conversions)];
  const answers = state.answers === undefined ? [] : [answersOf(meter, state.answers)];
  const all = [
    engineOf(meter, state),
    ...index,
    ...bus,
    ...conversions,
    ...answers,
    processOf(meter),
    eventLoopOf(meter),
  ];
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
    description: 'Open watches of resources and lists',
  });
  const upstream = meter.createObservableGauge('vitrine.upstream.state', {
    description: '1 for the present state of a mounted server',
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

function busOf(meter: Meter, stateOf: NonNullable<EngineState['bus']>): Observed {
  const counter = (which: string, unit: string, description: string) =>
    meter.createObservableCounter(`vitrine.bus.${which}`, { unit, description });
  const gauge = (which: string, unit: string, description: string) =>
    meter.createObservableGauge(`vitrine.bus.${which}`, { unit, description });
  const state = meter.createObservableGauge('vitrine.bus.state', { description: '1 for the state of the bus' });
  const messages = counter('messages', '{message}', 'Messages between replicas, by direction');
  const bytes = counter('io', 'By', 'Bytes of messages between replicas, by direction');
  const dropped = counter('dropped', '{message}', 'Messages that were never sent');
  const mended = counter('mended', '{time}', 'Times that everything counted as changed');
  const waiting = gauge('waiting', '{message}', 'Messages waiting to be sent');
  const lag = gauge('lag', 's', 'Waiting time of the messages sent last');
  return {
    observables: [state, messages, bytes, dropped, mended, waiting, lag],
    observe(result) {
      const now = stateOf();
      for (const each of BUS_STATES)
        result.observe(state, (each === 'whole') === now.whole ? 1 : 0, { 'vitrine.bus.state': each });
      for (const [direction, count, size] of [
        ['sent', now.sent, now.sentBytes],
        ['heard', now.heard, now.heardBytes],
      ] as const) {
        result.observe(messages, count, { [BUS_DIRECTION]: direction });
        result.observe(bytes, size, { [BUS_DIRECTION]: direction });
      }
      result.observe(dropped, now.dropped);
      result.observe(mended, now.mended);
      result.observe(waiting, now.waiting);
      if (now.lagMs !== undefined) result.observe(lag, now.lagMs / 1_000);
    },
  };
}

function conversionsOf(meter: Meter, count: NonNullable<EngineState['conversions']>): Observed {
  const conversions = meter.createObservableCounter('vitrine.forms.conversions', {
    unit: '{conversion}',
    description: 'Conversions of documents that were begun',
  });
  return { observables: [conversions], observe: (result) => result.observe(conversions, count()) };
}

function answersOf(meter: Meter, stateOf: NonNullable<EngineState['answers']>): Observed {
  const counter = (which: string, description: string) =>
    meter.createObservableCounter(`vitrine.answers.${which}`, { unit: '{answer}', description });
  const state = meter.createObservableGauge('vitrine.answers.state', {
    description: '1 for the state of shared answers',
  });
  const asked = counter('asked', 'Shared answers that were asked for, by what became of that');
  const kept = counter('kept', 'Answers that were kept for others');
  const lost = counter('lost', 'Answers that could not be kept');
  const damaged = counter('damaged', 'Answers that were not as they had been kept');
  return {
    observables: [state, asked, kept, lost, damaged],
    observe(result) {
      const now = stateOf();
      for (const each of ANSWERS_STATES)
        result.observe(state, (each === 'whole') === now.whole ? 1 : 0, { 'vitrine.answers.state': each });
      for (const each of ['found', 'missing', 'failed'] as const)
        result.observe(asked, now[each], { 'vitrine.answers.result': each });
      result.observe(kept, now.kept);
      result.observe(lost, now.lost);
      result.observe(damaged, now.damaged);
    },
  };
}

function processOf(meter: Meter): Observed {
  const memory = meter.createObservableUpDownCounter('process.memory.usage', {
    unit: 'By',
    description: 'Resident memory',
  });
  const heap = meter.createObservableUpDownCounter('v8js.memory.heap.used', { unit: 'By', description: 'Heap in use' });
  const cpu = meter.createObservableCounter('process.cpu.time', { unit: 's', description: 'Processor time' });
  const uptime = meter.createObservableGauge('process.uptime', { unit: 's', description: 'Time since the start' });
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

/** Measures the delays of the event loop since the last reading. */
function eventLoopOf(meter: Meter): Observed {
  const gauge = (which: string) =>
    meter.createObservableGauge(`nodejs.eventloop.delay.${which}`, { unit: 's', description: 'Event loop delay' });
  const [mean, p50, p99, max] = [gauge('mean'), gauge('p50'), gauge('p99'), gauge('max')];
  const used = meter.createObservableGauge('nodejs.eventloop.utilization', {
    unit: '1',
    description: 'The fraction of time in which the event loop was busy',
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
