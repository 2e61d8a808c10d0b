import { expect, it } from 'vitest';
import type { MessageId } from '../messages.ts';
import { createQuestions } from './questions.ts';

const RIGHT = { roots: [] };

const asking = () => {
  const questions = createQuestions();
  const sent: object[] = [];
  const answer = questions.ask({ method: 'roots/list', send: (message) => sent.push(message), timeoutMs: 60_000 });
  return { questions, sent, answer };
};

it.each<MessageId>(['', ' ', '0x0', '-0', '0.0', 1, '1'])(
  'the response %j does not answer the question 0',
  async (id) => {
    const { questions, answer } = asking();
    expect(questions.answered({ jsonrpc: '2.0', id, result: { wrong: true } })).toBe(false);
    expect(questions.answered({ jsonrpc: '2.0', id: 0, result: RIGHT })).toBe(true);
    await expect(answer).resolves.toBe(RIGHT);
  },
);

it('a client may send the number back as a text', async () => {
  const { questions, answer } = asking();
  expect(questions.answered({ jsonrpc: '2.0', id: '0', result: RIGHT })).toBe(true);
  await expect(answer).resolves.toBe(RIGHT);
});

it.each([null, '', false, [], {}, undefined])('the progress token %j belongs to no question', async (progressToken) => {
  const { questions, answer } = asking();
  expect(questions.progressed({ progressToken })).toBe(false);
  expect(questions.progressed({ progressToken: 0 })).toBe(true);
  questions.close();
  await expect(answer).rejects.toThrow('Connection closed');
});

it('a question that JSON cannot express fails, and the client gets no message about it', async () => {
  const questions = createQuestions();
  const sent: object[] = [];
  const abort = new AbortController();
  const ask = questions.ask({
    method: 'elicitation/create',
    params: { wrong: 1n },
    send(message) {
      JSON.stringify(message);
      sent.push(message);
    },
    signal: abort.signal,
    timeoutMs: 60_000,
  });
  await expect(ask).rejects.toThrow(TypeError);
  abort.abort();
  expect(sent).toEqual([]);
  expect(questions.answered({ jsonrpc: '2.0', id: 0, result: RIGHT })).toBe(false);
});
