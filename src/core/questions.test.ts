import { describe, expect, it } from 'vitest';
import { elicitation, type InputRequired, isInputRequired } from '../protocol/input-required.ts';
import { ConfirmationNeeded, withConfirmation } from './confirmation.ts';
import { type Context, createContext } from './context.ts';
import { notFound, toWireError } from './errors.ts';
import { detached, type Invocation } from './invocation.ts';
import { QuestionsAsked, withQuestions } from './questions.ts';
import { RootsNeeded, withRoots } from './roots.ts';

const URI = 'docs+memo:x';
const ask = (key: string) => ({ [key]: elicitation(key, { type: 'object', properties: {} }) });

/** A round of a client that was asked, or one that has not been. */
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

describe('a read that asks', () => {
  it('becomes a question with sealed state, and runs again with the answers and its own state', async () => {
    const rounds: Context['round'][] = [];
    const run = (round: Invocation) =>
      withQuestions(round, async (ctx) => {
        rounds.push(ctx.round);
        if (ctx.round === undefined) throw new QuestionsAsked(ask('first'), { step: 1 }, URI);
        if (ctx.round.answers.second === undefined) throw new QuestionsAsked(ask('second'), { step: 2 }, URI);
        return { read: true };
      });
    const { result, asked } = await answered(run, { first: 'one', second: 'two' });
    expect(result).toEqual({ read: true });
    expect(asked).toEqual([['first'], ['second']]);
    expect(rounds).toEqual([
      undefined,
      { answers: { first: 'one' }, state: { step: 1 } },
      { answers: { second: 'two' }, state: { step: 2 } },
    ]);
  });

  it('takes only its own state for a round', async () => {
    for (const state of [null, 'questions', {}, { questions: 'yes' }, { confirming: [URI] }]) {
      await withQuestions(invocation(state, { a: 1 }), async (ctx) => {
        expect(ctx.round).toBeUndefined();
        return {};
      });
    }
  });

  it('hands on answers that come before anything was asked', async () => {
    await withQuestions(invocation(undefined, { a: 1 }), async (ctx) => {
      expect(ctx.round).toEqual({ answers: { a: 1 }, state: undefined });
      return {};
    });
    await withQuestions(invocation(undefined, {}), async (ctx) => {
      expect(ctx.round).toBeUndefined();
      return {};
    });
  });

  it('with another error fails with that, and where nobody is asked it is refused', async () => {
    const error = notFound(URI);
    await expect(withQuestions(invocation(), () => Promise.reject(error))).rejects.toBe(error);
    const asked = new QuestionsAsked(ask('a'), 'state', 'memo:x');
    expect(toWireError(asked)).toMatchObject({ code: -32602, data: { reason: 'denied', uri: 'memo:x' } });
    const renamed = asked.withUri(URI);
    expect(renamed).toBeInstanceOf(QuestionsAsked);
    expect(renamed).toMatchObject({ uri: URI, requests: ask('a'), state: 'state' });
  });

  it('may need roots and a confirmation too: each is asked for once', async () => {
    const run = (round: Invocation) =>
      withRoots(round, (rooted) =>
        withConfirmation(rooted, (confirmed) =>
          withQuestions(confirmed, async (ctx) => {
            if (ctx.roots === undefined) throw new RootsNeeded(URI);
            if (!ctx.confirmed.has(URI)) throw new ConfirmationNeeded(URI, 'May it be read?');
            if (ctx.round === undefined) throw new QuestionsAsked(ask('first'), 1, URI);
            if (ctx.round.state === 1) throw new QuestionsAsked(ask('second'), 2, URI);
            return { roots: ctx.roots, round: ctx.round };
          }),
        ),
      );
    const { result, asked } = await answered(run, {
      roots: { roots: [{ uri: 'file:///home' }] },
      confirm: { action: 'accept', content: { confirm: true } },
      first: 'one',
      second: 'two',
    });
    expect(asked).toEqual([['roots'], ['confirm'], ['first'], ['second']]);
    expect(result).toEqual({ roots: ['file:///home'], round: { answers: { second: 'two' }, state: 2 } });
  });

  it('does not take a question for a confirmation that was refused', async () => {
    const run = (round: Invocation) =>
      withConfirmation(round, (confirmed) =>
        withQuestions(confirmed, async (ctx) => {
          if (!ctx.confirmed.has(URI)) throw new ConfirmationNeeded(URI, 'May it be read?');
          throw new QuestionsAsked(ask('first'), 1, URI);
        }),
      );
    await expect(answered(run, { confirm: { action: 'decline' } })).rejects.toMatchObject({ code: 'denied' });
  });
});
