import { describe, expect, it } from 'vitest';
import { ANONYMOUS, type Context, createContext, SILENT } from './context.ts';

/** A value for every field: a new one is missing here until it is tested. */
const ALL: { readonly [K in keyof Required<Context>]: Context[K] } = {
  principal: { id: 'ann' },
  signal: new AbortController().signal,
  requestId: 'r1',
  log: { ...SILENT },
  peer: 'a session',
  confirmed: new Set(['a']),
  refused: new Set(['b']),
  roots: ['file:///home'],
  client: { elicitation: true, sampling: false, roots: true },
  purpose: 'read',
  inside: true,
  may: () => true,
  decided: () => {},
  onceCertain: () => {},
  trace: undefined,
  notes: undefined,
  round: { answers: {}, state: 1 },
};

describe('a context', () => {
  it('has every part that it is made of', () => {
    expect(createContext(ALL)).toEqual(ALL);
    for (const [key, value] of Object.entries(ALL))
      expect(createContext({ [key]: value })[key as keyof Context], key).toBe(value);
  });

  it('is frozen, and anonymous, silent and never aborted by default', () => {
    const ctx = createContext();
    expect(Object.isFrozen(ctx)).toBe(true);
    expect(ctx).toMatchObject({ principal: ANONYMOUS, log: SILENT, peer: ANONYMOUS.id });
    expect([ctx.signal.aborted, ctx.confirmed.size, ctx.inside]).toEqual([false, 0, undefined]);
  });
});
