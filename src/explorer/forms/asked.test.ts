/** Questions that wait for the user's answer, and those of which too many wait. */
import { describe, expect, it } from 'vitest';
import type { InputRequest } from '../../protocol/input-required.ts';
import { Refusal } from '../client/refusal.ts';
import { cell } from '../state/cell.ts';
import { questioner, type WaitingQuestion } from './asked.ts';

const FORM: InputRequest = { method: 'elicitation/create', params: { message: 'Which one?' } };
const PAGE: InputRequest = { method: 'elicitation/create', params: { mode: 'url', url: 'https://a.example' } };
const MODEL: InputRequest = { method: 'sampling/createMessage', params: { messages: [] } };
const ROOTS: InputRequest = { method: 'roots/list' };

function waiting(first: readonly InputRequest[]) {
  const asked = cell<readonly WaitingQuestion[]>([]);
  const ask = questioner(asked);
  return { asked, ask, answers: first.map((request) => ask(request).catch((error: unknown) => error)) };
}

const EIGHT = Array.from({ length: 8 }, () => FORM);

describe('a question that is one too many', () => {
  it.each([FORM, PAGE])('is cancelled if it is for a person (%j)', async (request) => {
    const { asked, ask } = waiting(EIGHT);
    await expect(ask(request)).resolves.toEqual({ action: 'cancel' });
    expect(asked.get()).toHaveLength(8);
  });

  it('is refused if it is for a model, because its result is a message', async () => {
    const { asked, ask } = waiting(EIGHT);
    const error = await ask(MODEL).catch((refused: unknown) => refused);
    expect(error).toBeInstanceOf(Refusal);
    expect(error).toMatchObject({ reason: 'limited' });
    expect(asked.get()).toHaveLength(8);
  });

  it('is answered if no person is needed', async () => {
    const { ask } = waiting(EIGHT);
    await expect(ask(ROOTS)).resolves.toEqual({ roots: [] });
  });

  it('waits like the others as soon as one of them is answered', async () => {
    const { asked, ask, answers } = waiting(EIGHT);
    asked.get()[0]?.answer({ action: 'decline' });
    expect(await answers[0]).toEqual({ action: 'decline' });
    const late = ask(MODEL);
    expect(asked.get()).toHaveLength(8);
    asked.get()[7]?.answer({ role: 'assistant' });
    expect(await late).toEqual({ role: 'assistant' });
  });
});

describe('cancelling a question that waits', () => {
  it.each([FORM, PAGE])('answers a question for a person with this (%j)', async (request) => {
    const { asked, answers } = waiting([MODEL, request]);
    asked.get()[1]?.cancel();
    expect(await answers[1]).toEqual({ action: 'cancel' });
    expect(asked.get().map((each) => each.request)).toEqual([MODEL]);
  });

  it('refuses a question for a model', async () => {
    const { asked, answers } = waiting([MODEL, FORM]);
    asked.get()[0]?.cancel();
    expect(await answers[0]).toMatchObject({ reason: 'denied' });
    expect(asked.get().map((each) => each.request)).toEqual([FORM]);
  });
});

describe('a question whose request is given up', () => {
  const later = () => {
    const { asked, ask } = waiting([]);
    const leaving = new AbortController();
    const first = ask(FORM, leaving.signal).catch((error: unknown) => error);
    return { asked, ask, first, leave: () => leaving.abort('left') };
  };

  it('stays, and its answer goes to a later request that asks the same', async () => {
    const { asked, ask, first, leave } = later();
    leave();
    const [shown] = asked.get();
    const second = ask({ ...FORM });
    expect(asked.get()).toEqual([shown]);
    expect(await first).toBe('left');
    shown?.answer({ action: 'accept' });
    expect(await second).toEqual({ action: 'accept' });
    expect(asked.get()).toEqual([]);
  });

  it('stays if that request is given up, too', async () => {
    const { asked, ask, leave } = later();
    leave();
    const leaving = new AbortController();
    const second = ask(FORM, leaving.signal).catch((error: unknown) => error);
    leaving.abort('left too');
    const third = ask(FORM).catch((error: unknown) => error);
    expect(await second).toBe('left too');
    expect(asked.get()).toHaveLength(1);
    asked.get()[0]?.refuse();
    expect(await third).toMatchObject({ reason: 'denied' });
  });

  it('does not answer another question, and is not taken over before it is given up', async () => {
    const { asked, ask, leave } = later();
    void ask(FORM);
    leave();
    void ask(PAGE);
    expect(asked.get().map(({ request }) => request)).toEqual([FORM, FORM, PAGE]);
  });
});
