import { describe, expect, it } from 'vitest';
import { elicitation, type InputRequired, inputRequired, isInputRequired } from '../../protocol/input-required.ts';
import { createContext } from '../context.ts';
import { notFound, toWireError } from '../errors.ts';
import { detached, type Invocation } from '../invocation.ts';
import { ConfirmationNeeded, QuestionsAsked, RootsNeeded } from './needed.ts';
import { askAndRunAgain } from './run-again.ts';

const URI = 'docs+memo:x';
const ask = (key: string) => ({ [key]: elicitation(key, { type: 'object', properties: {} }) });

/** Makes an invocation: the first one of a request, or with `state` and `answers` a later one. */
const invocation = (state?: unknown, answers: Invocation['answers'] = {}): Invocation => ({
  ...detached(createContext()),
  client: { elicitation: true, sampling: true, roots: true },
  answers,
  state,
  seal: (sealed) => JSON.stringify(sealed),
});

/** Answers whatever is asked, round after round, until there is a result. */
async function answered<T extends object>(
  run: (round: Invocation) => Promise<T | InputRequired>,
  answers: Invocation['answers'],
): Promise<{ result: T; asked: string[][] }> {
  const asked: string[][] = [];
  let round = invocation();
  for (let rounds = 0; rounds < 10; rounds++) {
    const result = await run(round);
    if (!isInputRequired(result)) return { result, asked };
    const keys = Object.keys(result.inputRequests ?? {});
    asked.push(keys);
    const given = Object.fromEntries(keys.map((key) => [key, answers[key]]));
    round = invocation(JSON.parse(result.requestState ?? 'null'), given);
  }
  throw new Error(`It asks without end: ${JSON.stringify(asked)}`);
}

const YES = { action: 'accept', content: { confirm: true } };

/** Asks a question of the operation itself, which seals a state until the answer comes. */
const asks = (key: string, invocation: Invocation, state: unknown): InputRequired =>
  inputRequired(ask(key), invocation.seal(state));

describe('an operation that asks', () => {
  it('is run again with the answers and its own state', async () => {
    const seen: unknown[] = [];
    const run = (round: Invocation) =>
      askAndRunAgain(round, async (own) => {
        const { state, answers } = own;
        seen.push([state, answers]);
        if (state === undefined) return asks('first', own, { step: 1 });
        if (answers.second === undefined) return asks('second', own, { step: 2 });
        return { done: true };
      });
    const { result, asked } = await answered(run, { first: 'one', second: 'two' });
    expect(result).toEqual({ done: true });
    expect(asked).toEqual([['first'], ['second']]);
    expect(seen).toEqual([
      [undefined, {}],
      [{ step: 1 }, { first: 'one' }],
      [{ step: 2 }, { second: 'two' }],
    ]);
  });

  it('fails with its own error if that needs no answer', async () => {
    const error = notFound(URI);
    await expect(askAndRunAgain(invocation(), () => Promise.reject(error))).rejects.toBe(error);
  });

  it('may need roots and confirmations too, in the middle: each is asked for once', async () => {
    const run = (round: Invocation) =>
      askAndRunAgain(round, async (own) => {
        const { roots, confirmed, state, answers } = own;
        if (roots === undefined) throw new RootsNeeded(URI);
        if (!confirmed.has(URI)) throw new ConfirmationNeeded(URI, 'May it be read?', URI);
        if (state === undefined) return asks('first', own, 1);
        if (!confirmed.has('call')) throw new ConfirmationNeeded('call', 'May it be called?');
        if (state === 1) return asks('second', own, { first: answers.first });
        return { roots, state, answers, confirmed: [...confirmed] };
      });
    const { result, asked } = await answered(run, {
      roots: { roots: [{ uri: 'file:///home' }] },
      confirm: YES,
      first: 'one',
      second: 'two',
    });
    expect(asked).toEqual([['roots'], ['confirm'], ['first'], ['confirm'], ['second']]);
    expect(result).toEqual({
      roots: ['file:///home'],
      state: { first: 'one' },
      answers: { second: 'two' },
      confirmed: [URI, 'call'],
    });
  });

  it('passes on answers that come before any question, and takes none of them for a confirmation or for roots', async () => {
    const early = { a: 1, confirm: YES, roots: { roots: [{ uri: 'file:///home' }] } };
    await askAndRunAgain(invocation(undefined, early), async ({ answers, confirmed, refused, roots }) => {
      expect(answers).toEqual(early);
      expect([confirmed.size, refused, roots]).toEqual([0, undefined, undefined]);
      return {};
    });
  });
});

describe('an operation that has to be confirmed', () => {
  const needing = (round: Invocation) =>
    askAndRunAgain(round, async ({ confirmed }) => {
      if (!confirmed.has(URI)) throw new ConfirmationNeeded(URI, 'May it be read?', URI);
      return { read: true };
    });

  it('runs after a confirmation, and after no other answer', async () => {
    expect((await answered(needing, { confirm: YES })).result).toEqual({ read: true });
    for (const confirm of [
      { action: 'decline' },
      { action: 'cancel' },
      { action: 'accept', content: {} },
      undefined,
      7,
    ])
      await expect(answered(needing, { confirm })).rejects.toMatchObject({ code: 'denied', uri: URI });
  });

  it('is refused if the client cannot be asked', async () => {
    const mute = { ...invocation(), client: { elicitation: false, sampling: true, roots: true } };
    await expect(needing(mute)).rejects.toBeInstanceOf(ConfirmationNeeded);
  });

  it('is not asked about after another question was refused', async () => {
    const run = (round: Invocation) =>
      askAndRunAgain(round, async ({ refused }) => {
        const key = refused === undefined ? 'first' : 'second';
        throw new ConfirmationNeeded(key, 'May it be read?', URI);
      });
    await expect(answered(run, { confirm: { action: 'decline' } })).rejects.toThrow(/did not let/);
  });

  it.each([
    ['a resource', URI, 'The user did not let this resource be read'],
    ['a tool or a prompt', undefined, 'The user did not allow this'],
  ])('fails with an error that is about %s', async (_what, uri, message) => {
    for (const confirm of [{ action: 'decline' }, { action: 'cancel' }, undefined]) {
      const run = (round: Invocation) =>
        askAndRunAgain(round, async ({ refused }) => {
          throw new ConfirmationNeeded(refused === undefined ? 'first' : 'second', 'May it?', uri);
        });
      await expect(answered(run, { confirm })).rejects.toMatchObject({ code: 'denied', message, uri });
    }
  });
});

describe('questions of another server', () => {
  it('are a refusal if they are not passed on, and keep their class under another URI', () => {
    const asked = new QuestionsAsked(ask('a'), 'state', 'memo:x');
    expect(toWireError(asked)).toMatchObject({ code: -32602, data: { reason: 'denied', uri: 'memo:x' } });
    const renamed = asked.withUri(URI);
    expect(renamed).toBeInstanceOf(QuestionsAsked);
    expect(renamed).toMatchObject({ uri: URI, requests: ask('a'), state: 'state' });
  });
});
