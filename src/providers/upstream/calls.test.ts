import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Data } from '../../connection/data.ts';
import { createContext } from '../../core/context.ts';
import { detached, type Invocation } from '../../core/invocation.ts';
import { type Calls, createCalls, type Outcome, type Start } from './calls.ts';
import type { Link } from './wire/link.ts';

/** One call of a server that asks a question in the middle of it. */
interface Running {
  readonly start: Start;
  /** The question, as the connection passes it on. */
  ask(signal?: AbortSignal): Promise<Data>;
  finish(result: Data): void;
  signal(): AbortSignal | undefined;
  readonly released: readonly boolean[];
}

let calls: Calls;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  calls = createCalls({ text: (text) => text, data: (data) => data, others: () => undefined });
});

afterEach(() => {
  calls.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const QUESTION = { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: { message: '?' } } as const;

/** @param shared whether other calls use the connection as well */
function running(shared = false): Running {
  const link = { era: 'legacy' } as Link;
  const released: boolean[] = [];
  let finish = (_result: Data): void => {};
  let signal: AbortSignal | undefined;
  const start: Start = {
    lease: async () => ({
      link,
      own: true,
      release: (reusable) => void released.push(reusable),
      ...(!shared && { leave: () => {} }),
    }),
    send: (_lease, sending) =>
      new Promise((resolve, reject) => {
        finish = resolve;
        signal = sending.signal;
        signal.addEventListener('abort', () => reject(signal?.reason), { once: true });
      }),
  };
  return {
    start,
    ask: (asking = new AbortController().signal) => calls.asked(link, undefined, QUESTION, asking),
    finish: (result) => finish(result),
    signal: () => signal,
    released,
  };
}

interface Round {
  readonly principal?: string;
  readonly state?: unknown;
  readonly answers?: Data;
  readonly signal?: AbortSignal;
}

function round({ principal = 'somebody', state, answers = {}, signal }: Round = {}): Invocation {
  const client = { elicitation: true, sampling: false, roots: false, declared: { elicitation: {} } };
  const ctx = createContext({ principal: { id: principal }, ...(signal !== undefined && { signal }) });
  return {
    ...detached(ctx),
    client,
    state,
    answers: answers as Invocation['answers'],
    seal: (given) => JSON.stringify(given),
  };
}

/** Runs the first round, to the question. @param signal aborted when the server cancels the question */
async function parked(
  call: Running,
  signal?: AbortSignal,
): Promise<{ state: unknown; key: string; asked: Promise<Data> }> {
  const outcome = calls.run(round(), call.start);
  await vi.advanceTimersByTimeAsync(0);
  const asked = call.ask(signal);
  asked.catch(() => {});
  const { requestState, inputRequests } = asksOf(await outcome);
  const [key = ''] = Object.keys(inputRequests ?? {});
  return { state: JSON.parse(requestState ?? 'null') as unknown, key, asked };
}

function asksOf(outcome: Outcome) {
  if (!('asks' in outcome)) throw new Error('nothing was asked');
  return outcome.asks;
}

it('a client returns with the answer, and gets the result', async () => {
  const call = running();
  const { state, key, asked } = await parked(call);
  const second = calls.run(round({ state, answers: { [key]: { action: 'accept' } } }), call.start);
  expect(await asked).toEqual({ action: 'accept' });
  call.finish({ content: [] });
  expect(await second).toEqual({ result: { content: [] } });
  expect(call.released).toEqual([true]);
  // The call has ended, so its state is no longer valid.
  await expect(calls.run(round({ state }), call.start)).rejects.toMatchObject({ code: 'invalid' });
});

it('a client that returns without the answer is asked again', async () => {
  const call = running();
  const { state, key } = await parked(call);
  const again = asksOf(await calls.run(round({ state }), call.start));
  expect(Object.keys(again.inputRequests ?? {})).toEqual([key]);
});

it('no other client can return to a call, and its own still can', async () => {
  const call = running();
  const { state, key, asked } = await parked(call);
  const other = calls.run(round({ principal: 'another', state, answers: { [key]: {} } }), call.start);
  await expect(other).rejects.toMatchObject({ code: 'invalid' });
  const own = calls.run(round({ state, answers: { [key]: { action: 'decline' } } }), call.start);
  expect(await asked).toEqual({ action: 'decline' });
  call.finish({ content: [] });
  await own;
});

it('a call whose client does not return is ended after a time', async () => {
  const call = running();
  const { state, asked } = await parked(call);
  await vi.advanceTimersByTimeAsync(10 * 60_000 - 1);
  expect(call.signal()?.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(call.signal()?.reason).toMatchObject({ code: 'timeout' });
  await expect(asked).rejects.toThrow('ended');
  expect(call.released).toEqual([false]);
  await expect(calls.run(round({ state }), call.start)).rejects.toMatchObject({ code: 'invalid' });
});

it('a client can cancel its call in every round', async () => {
  const first = running();
  const leaving = new AbortController();
  const gone = calls.run(round({ signal: leaving.signal }), first.start);
  await vi.advanceTimersByTimeAsync(0);
  leaving.abort(new Error('cancelled'));
  await expect(gone).rejects.toThrow('cancelled');
  expect(first.released).toEqual([false]);

  const second = running();
  const { state, key } = await parked(second);
  const later = new AbortController();
  const resumed = calls.run(round({ state, answers: { [key]: {} }, signal: later.signal }), second.start);
  later.abort(new Error('cancelled later'));
  await expect(resumed).rejects.toThrow('cancelled later');
  expect(second.released).toEqual([false]);
});

describe('a read that its client gives up', () => {
  /** Begins a read, and gives it up. @param shared whether other calls use its connection as well */
  async function leftBy(shared = false): Promise<Running> {
    const read = running(shared);
    const leaving = new AbortController();
    const gone = calls.run(round({ signal: leaving.signal }), { ...read.start, reads: true });
    gone.catch(() => {});
    await vi.advanceTimersByTimeAsync(0);
    leaving.abort(new Error('cancelled'));
    await expect(gone).rejects.toThrow('cancelled');
    return read;
  }

  async function givenUp(): Promise<Running> {
    const read = await leftBy();
    expect({ released: read.released, aborted: read.signal()?.aborted }).toEqual({ released: [], aborted: false });
    return read;
  }

  it('leaves a connection that can be used again, if it finishes soon', async () => {
    const read = await givenUp();
    read.finish({ contents: [] });
    await vi.advanceTimersByTimeAsync(0);
    expect(read.released).toEqual([true]);
  });

  it('is ended, if it does not', async () => {
    const read = await givenUp();
    await vi.advanceTimersByTimeAsync(2_000);
    expect({ released: read.released, aborted: read.signal()?.aborted }).toEqual({ released: [false], aborted: true });
  });

  it('is ended, if it asks a question', async () => {
    const read = await givenUp();
    await expect(read.ask()).rejects.toThrow('given up');
    await vi.advanceTimersByTimeAsync(0);
    expect({ released: read.released, aborted: read.signal()?.aborted }).toEqual({ released: [false], aborted: true });
  });

  it('is ended at once, if other calls use its connection', async () => {
    const read = await leftBy(true);
    expect(read.signal()?.aborted).toBe(true);
  });

  it('ends with the gateway', async () => {
    const read = await givenUp();
    calls.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(read.released).toEqual([false]);
  });
});

it('calls end with the gateway, even those that wait for their clients', async () => {
  const call = running();
  const { asked } = await parked(call);
  calls.close();
  expect(call.signal()?.reason).toMatchObject({ code: 'unavailable' });
  await expect(asked).rejects.toThrow('ended');
});

it('a question outside of a call is refused', async () => {
  const asked = calls.asked({ era: 'legacy' } as Link, undefined, QUESTION, new AbortController().signal);
  await expect(asked).rejects.toThrow('No client');
});

describe('a question that the server cancels', () => {
  it.each(['with', 'without'])(
    'is not asked again: the client that returns %s an answer gets the result',
    async (how) => {
      const call = running();
      const cancelling = new AbortController();
      const { state, key, asked } = await parked(call, cancelling.signal);
      cancelling.abort(new Error('never mind'));
      await expect(asked).rejects.toThrow('never mind');
      const answers = how === 'with' ? { [key]: { action: 'accept' } } : {};
      const second = calls.run(round({ state, answers }), call.start);
      await vi.advanceTimersByTimeAsync(0);
      call.finish({ content: [] });
      expect(await second).toEqual({ result: { content: [] } });
    },
  );

  it('is left out, and the others are asked', async () => {
    const call = running();
    const cancelling = new AbortController();
    const { state, key, asked } = await parked(call, cancelling.signal);
    const other = call.ask();
    other.catch(() => {});
    cancelling.abort(new Error('never mind'));
    await expect(asked).rejects.toThrow('never mind');
    const { inputRequests } = asksOf(await calls.run(round({ state }), call.start));
    const keys = Object.keys(inputRequests ?? {});
    expect(keys).toHaveLength(1);
    expect(keys).not.toContain(key);
  });

  it('before the client is asked does not end its round', async () => {
    const call = running();
    const outcome = calls.run(round(), call.start);
    await vi.advanceTimersByTimeAsync(0);
    const cancelling = new AbortController();
    const asked = call.ask(cancelling.signal);
    cancelling.abort(new Error('never mind'));
    await expect(asked).rejects.toThrow('never mind');
    await new Promise(setImmediate);
    call.finish({ content: [] });
    expect(await outcome).toEqual({ result: { content: [] } });
  });

  it.each(['directly', 'as the answer to its request'])('before it arrives reaches no client %s', async (how) => {
    const call = running();
    let reached = 0;
    const ask = async (): Promise<unknown> => ++reached;
    const invocation = round();
    const client = { ...invocation.client, ...(how === 'directly' && { ask }) } as Invocation['client'];
    const outcome = calls.run({ ...invocation, client }, call.start);
    await vi.advanceTimersByTimeAsync(0);
    await expect(call.ask(AbortSignal.abort(new Error('never mind')))).rejects.toThrow('never mind');
    await new Promise(setImmediate);
    call.finish({ content: [] });
    expect(await outcome).toEqual({ result: { content: [] } });
    expect(reached).toBe(0);
  });
});

it('nothing listens to the signal of a question that was answered', async () => {
  const call = running();
  const { signal } = new AbortController();
  const { state, key, asked } = await parked(call, signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  const second = calls.run(round({ state, answers: { [key]: { action: 'accept' } } }), call.start);
  await asked;
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  call.finish({ content: [] });
  await second;
});

it('nothing listens to the signal of a question after its call', async () => {
  const call = running();
  const { signal } = new AbortController();
  const { asked } = await parked(call, signal);
  call.finish({ content: [] });
  await expect(asked).rejects.toThrow('ended');
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});
