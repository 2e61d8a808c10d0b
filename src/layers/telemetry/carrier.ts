/**
 * Reads W3C trace context and baggage from requests, and writes them: `traceparent`, `tracestate` and `baggage`, in `_meta`
 * (SEP-414) or in HTTP headers. Received values are not trusted: they are bounded, and dropped if they are malformed.
 */
import {
  type Baggage,
  baggageEntryMetadataFromString,
  type Context,
  createTraceState,
  isSpanContextValid,
  propagation,
  type SpanContext,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { TraceMeta } from '../../core/trace.ts';

/** The most characters of `tracestate`, and of `baggage`: more than any tracer keeps. */
const MAX_STATE = 512;
const MAX_BAGGAGE = 8_192;
const MAX_ENTRIES = 64;

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

type Get = (key: 'traceparent' | 'tracestate' | 'baggage') => unknown;

/** The trace context that the sender put into the request; undefined if there is none. */
export function contextIn(get: Get, base: Context): Context | undefined {
  const remote = spanContextOf(get('traceparent'), get('tracestate'));
  if (remote === undefined) return undefined;
  const within = trace.setSpanContext(base, remote);
  const baggage = baggageOf(get('baggage'));
  return baggage === undefined ? within : propagation.setBaggage(within, baggage);
}

function spanContextOf(traceparent: unknown, tracestate: unknown): SpanContext | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > MAX_STATE) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(traceparent) ?? [];
  // Version 00 has four fields, later versions may have more, and `ff` is no version.
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  const state = typeof tracestate === 'string' && tracestate.length <= MAX_STATE ? tracestate : undefined;
  const found: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(state !== undefined && { traceState: createTraceState(state) }),
  };
  return isSpanContextValid(found) ? found : undefined;
}

function baggageOf(text: unknown): Baggage | undefined {
  if (typeof text !== 'string' || text.length > MAX_BAGGAGE) return undefined;
  let baggage: Baggage | undefined;
  for (const member of text.split(',').slice(0, MAX_ENTRIES)) {
    const [pair = '', ...properties] = member.split(';');
    const at = pair.indexOf('=');
    const key = pair.slice(0, at).trim();
    if (at < 1 || !/^[!#$%&'*+.^_`|~\dA-Za-z-]+$/.test(key)) continue;
    const value = decoded(pair.slice(at + 1).trim());
    if (value === undefined) continue;
    const metadata = properties.length === 0 ? {} : { metadata: baggageEntryMetadataFromString(properties.join(';')) };
    baggage = (baggage ?? propagation.createBaggage()).setEntry(key, { value, ...metadata });
  }
  return baggage;
}

function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** Returns the trace context to send to another server; empty if there is no span. */
export function metaOf(context: Context): TraceMeta {
  const span = trace.getSpanContext(context);
  if (span === undefined || !isSpanContextValid(span)) return {};
  const flags = (span.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0');
  const state = span.traceState?.serialize() ?? '';
  const baggage = baggageText(propagation.getBaggage(context));
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(state !== '' && { tracestate: state }),
    ...(baggage !== '' && { baggage }),
  };
}

function baggageText(baggage: Baggage | undefined): string {
  let text = '';
  for (const [key, { value, metadata }] of baggage?.getAllEntries().slice(0, MAX_ENTRIES) ?? []) {
    const entry = `${key}=${encodeURIComponent(value)}${metadata === undefined ? '' : `;${metadata.toString()}`}`;
    if (text.length + entry.length < MAX_BAGGAGE) text = text === '' ? entry : `${text},${entry}`;
  }
  return text;
}
