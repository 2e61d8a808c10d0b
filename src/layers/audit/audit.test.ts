import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunksOf, closeBodies, type ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { call, innerProvider, RESOURCE, URI } from '../../testing/layer-law.ts';
import { EVERYTHING } from '../../testing/observe.ts';
import { auditGate, auditLayer } from './index.ts';
import { recordMembers, visibleMembers } from './json.ts';
import { type AuditRecord, MAX_FIELD_LENGTH } from './record.ts';

layerContract(
  'audit',
  auditLayer(() => {}),
);

const mountOf = (uri: string): string | undefined => (uri.startsWith('memory:') ? 'notes' : undefined);
const ctx = createContext({ principal: { id: 'ada' }, requestId: 'r-1', peer: 'p-1' });

async function recordsOf(run: (layer: ReturnType<typeof auditLayer>) => Promise<unknown>): Promise<AuditRecord[]> {
  const records: AuditRecord[] = [];
  await run(auditLayer((record) => records.push(record), mountOf));
  return records;
}

const streamOf = (...chunks: (string | Error)[]): ResourceBody => ({
  resource: RESOURCE,
  content: {
    kind: 'stream',
    async *open() {
      for (const chunk of chunks) {
        if (chunk instanceof Error) throw chunk;
        yield Buffer.from(chunk);
      }
    },
  },
});

async function drain(bodies: readonly ResourceBody[]): Promise<void> {
  for (const { content } of bodies) for await (const _ of chunksOf(content));
}

describe('a record [RES-9]', () => {
  it.each(['list', 'metadata', 'read', 'listTemplates', 'complete', 'watch', 'search'] as const)(
    'of %s has who, what and how it ended',
    async (method) => {
      const [record, ...more] = await recordsOf((layer) => call(layer(innerProvider()), method, ctx));
      expect(more).toEqual([]);
      expect(record).toMatchObject({
        requestId: 'r-1',
        principal: 'ada',
        peer: 'p-1',
        method: method === 'listTemplates' ? 'templates' : method,
        decision: 'allow',
        outcome: 'ok',
        ...(method === 'listTemplates' ? {} : { mount: 'notes' }),
        ...(method === 'read' ? { bytes: 5 } : {}),
      });
      expect(new Date(record?.time ?? '').toISOString()).toBe(record?.time);
      expect(record?.ms).toBeGreaterThanOrEqual(0);
    },
  );

  it('has the code of what was thrown', async () => {
    const thrown = [new ResourceError('denied', 'no', { uri: URI }), new Error('the disk is on fire')];
    for (const [error, outcome] of [
      [thrown[0], 'denied'],
      [thrown[1], 'internal'],
    ] as const) {
      const inner = innerProvider({ before: () => Promise.reject(error) });
      const [record] = await recordsOf((layer) => call(layer(inner), 'read', ctx).catch(() => {}));
      expect(record).toMatchObject({ method: 'read', uri: URI, outcome });
    }
  });

  it('says so when the caller was gone', async () => {
    const gone = { ...ctx, signal: AbortSignal.abort() };
    const inner = innerProvider({ before: async () => gone.signal.throwIfAborted() });
    const [record] = await recordsOf((layer) => call(layer(inner), 'list', gone).catch(() => {}));
    expect(record?.outcome).toBe('cancelled');
  });

  it('of a read in streams comes with the end of the last one, and has the bytes that were taken', async () => {
    const records: AuditRecord[] = [];
    const inner = innerProvider({ bodies: () => [streamOf('abc', 'de'), streamOf('f')] });
    const bodies = await auditLayer((record) => records.push(record))(inner).read(URI, EVERYTHING, ctx);
    await drain(bodies.slice(0, 1));
    expect(records).toEqual([]);
    await drain(bodies.slice(1));
    expect(records).toMatchObject([{ bytes: 6, outcome: 'ok' }]);
    await closeBodies(bodies);
    expect(records).toHaveLength(1);
  });

  it('of a read whose bodies nobody takes comes when they are closed', async () => {
    const records: AuditRecord[] = [];
    const inner = innerProvider({ bodies: () => [streamOf('abc')] });
    await closeBodies(await auditLayer((record) => records.push(record))(inner).read(URI, EVERYTHING, ctx));
    expect(records).toMatchObject([{ bytes: 0, outcome: 'ok' }]);
  });

  it('of a read that breaks off has the code and what came before', async () => {
    const failing = new ResourceError('unavailable', 'gone', { uri: URI });
    const inner = innerProvider({ bodies: () => [streamOf('abc', failing)] });
    const [record] = await recordsOf(async (layer) =>
      drain(await layer(inner).read(URI, EVERYTHING, ctx)).catch(() => {}),
    );
    expect(record).toMatchObject({ bytes: 3, outcome: 'unavailable' });
  });

  it('of a call tells failures and questions from answers', async () => {
    const records: AuditRecord[] = [];
    const gate = auditGate((record) => records.push(record));
    const results = [
      { content: [] },
      { content: [], isError: true },
      { resultType: 'input_required', inputRequests: {} },
    ];
    for (const result of results) await gate({ method: 'tools/call', name: 'x', mount: 'm' }, ctx, async () => result);
    expect(records.map(({ outcome }) => outcome)).toEqual(['ok', 'failed', 'input-required']);
    expect(records[0]).toMatchObject({ method: 'tools/call', name: 'x', mount: 'm' });
  });

  it('keeps the beginning of what is long, and tells apart what goes on differently', async () => {
    const long = `memory:///${'x'.repeat(MAX_FIELD_LENGTH)}`;
    const [one, two] = await recordsOf(async (layer) => {
      for (const end of ['1', '2']) await layer(innerProvider()).metadata(`${long}${end}`, ctx);
    });
    expect(one?.uri?.length).toBeLessThan(MAX_FIELD_LENGTH + 100);
    expect(one?.uri).not.toBe(two?.uri);
  });
});

const RECORD: AuditRecord = {
  ...{ time: '2026-11-22T14:00:00.000Z', requestId: 'r-1', principal: 'ada', peer: 'p-1', method: 'read' },
  ...{ uri: URI, decision: 'allow', bytes: 7, ms: 0.25, outcome: 'ok' },
};

describe('a line', () => {
  it.each([
    '\n',
    '\r',
    '\u0000',
    '\u001b[2J',
    '\u007f',
    '\u0085',
    '\u2028',
    '\u202e',
    '\u200b',
    '\ufeff',
    '\ud800',
    '"}\n{"',
  ])('is one line in visible characters with %j in a URI', (text) => {
    const record = { ...RECORD, uri: `memory:///${text}x` };
    const json = `{${recordMembers(record)}}`;
    expect(json).toMatch(/^[\u0020-\u007e]+$/);
    expect(JSON.parse(json)).toEqual(record);
  });

  it('has what is known, in one order, as any JSON has it', () => {
    const text = fc.string({ unit: 'binary' });
    const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
    const bytes = maybe(fc.nat());
    const record = fc.record({
      ...{ time: fc.constant(RECORD.time), requestId: text, principal: text, client: maybe(text), peer: text },
      ...{ method: text, uri: maybe(text), name: maybe(text), mount: maybe(text), times: maybe(fc.nat()) },
      ...{ decision: fc.constantFrom('allow' as const, 'hide' as const), rule: maybe(text), bytes },
      ...{ ms: fc.nat().map((micros) => micros / 1_000), outcome: text },
    });
    fc.assert(fc.property(record, (each) => recordMembers(each) === visibleMembers(each)));
  });
});
