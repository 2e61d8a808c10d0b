import { propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { contextIn, metaOf } from './carrier.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const GOOD = `00-${TRACE}-${SPAN}-01`;

type Carrier = Readonly<Record<string, unknown>>;
const read = (carrier: Carrier) => contextIn((key) => carrier[key], ROOT_CONTEXT);

describe('a received trace context', () => {
  it.each([
    ['version 00', GOOD, 1],
    ['not sampled', `00-${TRACE}-${SPAN}-00`, 0],
    ['flags that are not known yet', `00-${TRACE}-${SPAN}-ff`, 1],
    ['a later version, with more fields', `01-${TRACE}-${SPAN}-01-more`, 1],
  ])('is accepted: %s', (_what, traceparent, traceFlags) => {
    const found = read({ traceparent });
    expect(found && trace.getSpanContext(found)).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags, isRemote: true });
  });

  it.each([
    ['nothing', undefined],
    ['no text', 1],
    ['an empty text', ''],
    ['the version `ff`', `ff-${TRACE}-${SPAN}-01`],
    ['more fields than version 00 has', `${GOOD}-more`],
    ['capital letters', GOOD.toUpperCase()],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['spaces around it', ` ${GOOD}`],
    ['very much', `01-${TRACE}-${SPAN}-01-${'x'.repeat(600)}`],
  ])('is refused: %s', (_what, traceparent) => {
    expect(read({ traceparent, tracestate: 'a=1', baggage: 'a=1' })).toBeUndefined();
  });

  it('is passed on unchanged, within limits', () => {
    const carrier = {
      traceparent: GOOD,
      tracestate: 'rojo=1,congo=2',
      baggage: 'a=b%20c;p=1, n = 2 ,=x,bad%key, m=%E0%A4%A',
    };
    const found = read(carrier) ?? ROOT_CONTEXT;
    expect(metaOf(found)).toEqual({ traceparent: GOOD, tracestate: 'rojo=1,congo=2', baggage: 'a=b%20c;p=1,n=2' });
    const much = { traceparent: GOOD, tracestate: 'x'.repeat(513), baggage: `a=${'x'.repeat(8_192)}` };
    expect(metaOf(read(much) ?? ROOT_CONTEXT)).toEqual({ traceparent: GOOD });
    const many = read({ traceparent: GOOD, baggage: Array.from({ length: 100 }, (_, i) => `k${i}=1`).join() });
    expect(many && propagation.getBaggage(many)?.getAllEntries()).toHaveLength(64);
    expect(metaOf(ROOT_CONTEXT)).toEqual({});
  });
});
