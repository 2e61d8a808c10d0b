/** Creates the tracer and the metrics of one engine. */
import {
  type Attributes,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { scrub } from '../../core/text/scrub.ts';
import { VERSION } from '../../core/version.ts';
import {
  CLIENT_DURATION,
  MOUNT_BYTES,
  MOUNT_DURATION,
  OTHER,
  SECONDS,
  SERVER_DURATION,
  SESSION_DURATION,
  SHORT_SECONDS,
} from './names.ts';

export interface TelemetryOptions {
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Default: the global one. */
  readonly meterProvider?: MeterProvider | undefined;
  /** Whether spans have URIs, cut at 512 characters. URIs can be private, as names of files can. Default: `false`. */
  readonly uris?: boolean | undefined;
}

const SCOPE = 'vitrine';

/** The most characters of a name in an attribute, and of a URI. */
const MAX_NAME = 128;
const MAX_URI = 512;

/** The most names of tools and prompts in metrics: each is a time series. */
const MAX_NAMES = 1_000;

export interface Instruments {
  readonly tracer: Tracer;
  readonly meter: Meter;
  readonly served: Histogram;
  readonly asked: Histogram;
  readonly sessions: Histogram;
  readonly operations: Histogram;
  addBytes(bytes: number, attributes: Attributes): void;
  /** The URI as spans may show it: cut and scrubbed; undefined unless `uris` is on. */
  uriOf(uri: string | undefined): string | undefined;
  /** The name for metrics; `OTHER` if there are too many. @param exists whether a tool or prompt of that name is known to exist */
  counted(name: string, exists: boolean): string;
}

export function createInstruments(options: TelemetryOptions): Instruments {
  const tracer = (options.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE, VERSION);
  const meter = (options.meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE, VERSION);
  const seconds = (name: string, description: string, bounds: number[] = SECONDS): Histogram =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: bounds } });
  const bytes = meter.createCounter(MOUNT_BYTES, { unit: 'By', description: 'Bytes that were read from a mount' });
  const names = new Set<string>();
  return {
    tracer,
    meter,
    served: seconds(SERVER_DURATION, 'From the arrival of a request to its result'),
    asked: seconds(CLIENT_DURATION, 'From sending a request to a mounted server to its result'),
    sessions: seconds(SESSION_DURATION, 'How long a session or connection lasted'),
    operations: seconds(MOUNT_DURATION, 'One operation of a mount', SHORT_SECONDS),
    addBytes: (count, attributes) => bytes.add(count, attributes),
    uriOf: (uri) => (options.uris === true && uri !== undefined ? scrub(uri.slice(0, MAX_URI)) : undefined),
    counted(name, exists) {
      // A name that a caller made up gets no time series.
      if (exists && names.size < MAX_NAMES) names.add(name);
      return names.has(name) ? name : OTHER;
    },
  };
}

/** Cuts and scrubs a name for an attribute. */
export const nameOf = (name: string): string => scrub(name.slice(0, MAX_NAME));
