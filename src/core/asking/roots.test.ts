import { describe, expect, it } from 'vitest';
import { isInputRequired } from '../../protocol/input-required.ts';
import { createContext } from '../context.ts';
import { detached, type Invocation } from '../invocation.ts';
import { MAX_ROOTS, RootsNeeded, rootsIn } from './needed.ts';
import { askAndRunAgain } from './run-again.ts';

const ROOTS = { roots: [{ uri: 'file:///a' }] };

/** Makes an invocation that seals its state as plain JSON. */
function invocation(parts: Partial<Invocation> = {}): Invocation {
  return {
    ...detached(createContext()),
    client: { elicitation: true, sampling: true, roots: true },
    seal: (state) => JSON.stringify(state),
    ...parts,
  };
}

const needing = async ({ roots }: Invocation): Promise<{ seen: readonly string[] }> => {
  if (roots === undefined) throw new RootsNeeded('work+file:///x');
  return { seen: roots };
};

describe('rootsIn', () => {
  it('takes the URIs of an answer, up to a limit', () => {
    expect(rootsIn({ roots: [{ uri: 'file:///a', name: 'A' }, { uri: 7 }, 'x', null] })).toEqual(['file:///a']);
    const many = Array.from({ length: MAX_ROOTS + 1 }, (_, index) => ({ uri: `file:///${index}` }));
    expect(rootsIn({ roots: many })).toHaveLength(MAX_ROOTS);
    expect(Object.isFrozen(rootsIn(ROOTS))).toBe(true);
  });

  it.each([undefined, null, 'x', {}, { roots: 'file:///a' }, { roots: null }])('finds none in %j', (answer) => {
    expect(rootsIn(answer)).toBeUndefined();
  });
});

describe('an operation that needs the roots', () => {
  it('asks for the roots and runs again with the answer [SEC-ROOT-2]', async () => {
    const asked = await askAndRunAgain(invocation(), needing);
    if (!isInputRequired(asked)) throw new Error('not asked');
    expect(asked.inputRequests).toMatchObject({ roots: { method: 'roots/list' } });
    const state = JSON.parse(asked.requestState ?? '') as unknown;
    expect(await askAndRunAgain(invocation({ state, answers: { roots: ROOTS } }), needing)).toEqual({
      seen: ['file:///a'],
    });
  });

  it('does not ask where the roots are known', async () => {
    expect(await askAndRunAgain(invocation({ roots: ['file:///b'] }), needing)).toEqual({ seen: ['file:///b'] });
  });

  it('is refused if the client cannot be asked, or sends no valid answer', async () => {
    const mute = invocation({ client: { elicitation: true, sampling: true, roots: false } });
    await expect(askAndRunAgain(mute, needing)).rejects.toBeInstanceOf(RootsNeeded);
    const asked = await askAndRunAgain(invocation(), needing);
    const state = JSON.parse('requestState' in asked ? (asked.requestState ?? '') : '') as unknown;
    for (const answers of [{}, { roots: { roots: 'all' } }]) {
      await expect(askAndRunAgain(invocation({ state, answers }), needing)).rejects.toBeInstanceOf(RootsNeeded);
    }
  });

  it('ignores an answer to a question that it did not ask', async () => {
    const answered = await askAndRunAgain(invocation({ answers: { roots: ROOTS } }), needing);
    expect(isInputRequired(answered)).toBe(true);
  });

  it('keeps the state and the answers of the operation’s own questions', async () => {
    const steps = async (inner: Invocation): Promise<object> => {
      if (inner.state === undefined) return { resultType: 'input_required', requestState: inner.seal({ step: 1 }) };
      const { seen } = await needing(inner);
      if ('more' in inner.answers) return { seen, state: inner.state, answers: inner.answers };
      return { resultType: 'input_required', requestState: inner.seal({ step: 2, first: inner.answers.first }) };
    };
    let state: unknown;
    const round = async (answers: Readonly<Record<string, unknown>>): Promise<object> => {
      const result = await askAndRunAgain(invocation({ answers, state }), steps);
      state = 'requestState' in result ? JSON.parse(String(result.requestState)) : undefined;
      return result;
    };
    await round({});
    expect(await round({ first: 'one' })).toMatchObject({ inputRequests: { roots: {} } });
    await round({ roots: ROOTS });
    expect(await round({ more: 'two' })).toEqual({
      seen: ['file:///a'],
      state: { step: 2, first: 'one' },
      answers: { more: 'two' },
    });
  });
});

describe('RootsNeeded', () => {
  it('keeps its class when it gets another URI', () => {
    const error = new RootsNeeded('file:///x').withUri('work+file:///x');
    expect(error).toBeInstanceOf(RootsNeeded);
    expect(error).toMatchObject({ code: 'denied', uri: 'work+file:///x' });
  });
});
