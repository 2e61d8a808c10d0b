import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RootsNeeded } from '../../core/asking/needed.ts';
import { chunksOf, closeBodies, type ResourceBody } from '../../core/body.ts';
import { type Context, createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { detached } from '../../core/invocation.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { CallToolResult } from '../../protocol/content.ts';
import { type InputRequired, inputRequired } from '../../protocol/input-required.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { CALLER_METHODS, call, innerProvider, RESOURCE, URI } from '../../testing/layer-law.ts';
import { EVERYTHING } from '../../testing/observe.ts';
import { auditLayer } from './index.ts';
import { asciiMembers } from './json.ts';
import { type AuditRecord, createMembers, MAX_FIELD_LENGTH } from './members.ts';
import { type Operation, operationOf } from './operation.ts';

layerContract(
  'audit',
  auditLayer(() => {}),
);

const mountOf = (uri: string): string | undefined => (uri.startsWith('memory:') ? 'notes' : undefined);
const ctx = createContext({ principal: { id: 'ada' }, requestId: 'r-1', peer: 'p-1' });

const members = createMembers(mountOf);
const recordOf = (operation: Operation): AuditRecord => JSON.parse(`{${members(operation)}}`) as AuditRecord;

async function recordsOf(run: (layer: ReturnType<typeof auditLayer>) => Promise<unknown>): Promise<AuditRecord[]> {
  const ended: Operation[] = [];
  await run(auditLayer((operation) => ended.push(operation)));
  return ended.map(recordOf);
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

describe('an audit line [RES-9]', () => {
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

  it('is written once for every kind of operation', async () => {
    // The definition of a tool is looked up before its call, and is not an operation of its own.
    for (const method of CALLER_METHODS.filter((each) => each !== 'headerParameters')) {
      const records = await recordsOf(async (layer) => {
        const answer = await call(layer(innerProvider()), method, ctx);
        if (method === 'read') await closeBodies(answer as readonly ResourceBody[]);
      });
      expect(records, method).toMatchObject([{ requestId: 'r-1', principal: 'ada', outcome: 'ok' }]);
    }
    const [subscribed] = await recordsOf((layer) => call(layer(innerProvider()), 'subscribe', ctx));
    expect(subscribed).toMatchObject({ method: 'subscribe', uri: URI, mount: 'notes' });
    const [called] = await recordsOf((layer) => call(layer(innerProvider()), 'callTool', ctx));
    expect(called).toMatchObject({ method: 'tools/call', name: 'note', mount: 'inner' });
  });

  it('has the code of the error', async () => {
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

  it('says that the caller had gone', async () => {
    const gone = { ...ctx, signal: AbortSignal.abort() };
    const inner = innerProvider({ before: async () => gone.signal.throwIfAborted() });
    const [record] = await recordsOf((layer) => call(layer(inner), 'list', gone).catch(() => {}));
    expect(record?.outcome).toBe('cancelled');
  });

  it('of a read of streams is written at the end of the last one, with the number of bytes', async () => {
    const records: Operation[] = [];
    const inner = innerProvider({ bodies: () => [streamOf('abc', 'de'), streamOf('f')] });
    const bodies = await auditLayer((record) => records.push(record))(inner).read(URI, EVERYTHING, ctx);
    await drain(bodies.slice(0, 1));
    expect(records).toEqual([]);
    await drain(bodies.slice(1));
    expect(records).toMatchObject([{ bytes: 6, outcome: 'ok' }]);
    await closeBodies(bodies);
    expect(records).toHaveLength(1);
  });

  it('of a read whose bodies nobody reads is written when they are closed', async () => {
    const records: Operation[] = [];
    const inner = innerProvider({ bodies: () => [streamOf('abc')] });
    await closeBodies(await auditLayer((record) => records.push(record))(inner).read(URI, EVERYTHING, ctx));
    expect(records).toMatchObject([{ bytes: 0, outcome: 'ok' }]);
  });

  it('of a read that breaks off has the code and the bytes before', async () => {
    const failing = new ResourceError('unavailable', 'gone', { uri: URI });
    const inner = innerProvider({ bodies: () => [streamOf('abc', failing)] });
    const [record] = await recordsOf(async (layer) =>
      drain(await layer(inner).read(URI, EVERYTHING, ctx)).catch(() => {}),
    );
    expect(record).toMatchObject({ bytes: 3, outcome: 'unavailable' });
  });

  it('of a call tells failures and questions from results', async () => {
    const records: Operation[] = [];
    const results: readonly (() => Promise<CallToolResult | InputRequired>)[] = [
      async () => ({ content: [] }),
      async () => ({ content: [], isError: true }),
      async () => inputRequired({}),
      () => Promise.reject(new RootsNeeded()),
      () => Promise.reject(new RootsNeeded()),
    ];
    for (const [index, callTool] of results.entries()) {
      const layered = auditLayer((record) => records.push(record))({ ...innerProvider(), callTool });
      const client = { elicitation: false, sampling: false, roots: index === 3 };
      await layered.callTool?.({ name: 'x' }, { mount: 'm' }, { ...detached(ctx), client }).catch(() => {});
    }
    expect(records.map(({ outcome }) => outcome)).toEqual([
      'ok',
      'failed',
      'input-required',
      'input-required',
      'denied',
    ]);
    expect(records[0]).toMatchObject({ method: 'tools/call', name: 'x', mount: 'm' });
  });

  it('keeps the beginning of a long text, and distinguishes texts with the same beginning', async () => {
    const long = `memory:///${'x'.repeat(MAX_FIELD_LENGTH)}`;
    const [one, two] = await recordsOf(async (layer) => {
      for (const end of ['1', '2']) await layer(innerProvider()).metadata(`${long}${end}`, ctx);
    });
    expect(one?.uri?.length).toBeLessThan(MAX_FIELD_LENGTH + 100);
    expect(one?.uri).not.toBe(two?.uri);
  });
});

describe('the text of a line', () => {
  const operation = (parts: Partial<Operation> = {}): Operation => ({
    ...operationOf({ method: 'read', uri: URI }, ctx),
    ...{ time: Date.parse('2026-11-22T14:00:00.007Z'), micros: 1_250, bytes: 7, outcome: 'ok', ...parts },
  });

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
    'été',
    'р\u0430ypal 名 🗝',
    '"}\n{"',
  ])('is one line of visible ASCII for %j', (text) => {
    const uri = `memory:///${text}x`;
    const principal = { id: text, clientId: text };
    expect(members(operation({ uri, principal, name: text }))).toMatch(/^[\u0020-\u007e]+$/);
    expect(recordOf(operation({ uri, principal }))).toMatchObject({ principal: text, client: text });
    expect(recordOf(operation({ uri }))).toMatchObject({ uri, time: '2026-11-22T14:00:00.007Z', ms: 1.25, bytes: 7 });
  });

  it('has the known members in one order, as any JSON writer would write them', () => {
    const text = fc.string({ unit: 'binary' });
    const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
    const parts = fc.record({
      ...{ requestId: text, peer: text, method: text, uri: maybe(text), name: maybe(text), mount: maybe(text) },
      ...{
        times: maybe(fc.nat()),
        bytes: maybe(fc.nat()),
        micros: fc.nat().map((ms) => ms * 1_000 + 1),
        outcome: text,
      },
      time: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2099-01-01') }).map(Number),
      principal: fc.record({ id: text, clientId: maybe(text) }),
      decided: fc.record({ effect: fc.constantFrom('allow' as const, 'hide' as const), rule: text }),
    });
    fc.assert(fc.property(parts, (each) => members(operation(each)) === asciiMembers(lineOf(operation(each)))));
  });

  /** Writes a line as docs/layers/audit.md describes it, without optimisation. */
  const lineOf = ({ principal: { id, clientId }, decided, time, micros, ...own }: Operation) => ({
    ...{
      time: new Date(time).toISOString(),
      requestId: own.requestId,
      principal: id,
      client: clientId,
      peer: own.peer,
    },
    ...{ method: own.method, uri: own.uri, name: own.name },
    mount: own.mount ?? (own.uri === undefined ? undefined : mountOf(own.uri)),
    ...{ times: own.times, decision: decided.effect, rule: decided.rule === '' ? undefined : decided.rule },
    ...{ bytes: own.bytes, ms: micros / 1_000, outcome: own.outcome },
  });

  it('has the decision that was made before the operation ended, and none that comes later', async () => {
    const ended: Operation[] = [];
    let decided: Context['decided'];
    const inner = innerProvider({ before: async () => {} });
    const seen: ResourceProvider = {
      ...inner,
      metadata: (uri, own) => {
        decided = own.decided;
        decided?.({ effect: 'ask', rule: 'first' });
        return inner.metadata(uri, own);
      },
    };
    await auditLayer((each) => ended.push(each))(seen).metadata(URI, ctx);
    decided?.({ effect: 'deny', rule: 'late' });
    expect(ended.map(recordOf)).toMatchObject([{ decision: 'ask', rule: 'first' }]);
  });
});
