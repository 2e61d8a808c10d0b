import { expect, it } from 'vitest';
import { annotateMessages, ORIGIN_HEADER, ORIGIN_META_KEY, takeOrigin } from './message-origin.ts';
import { answered, requestIn, UNANSWERED } from './unanswered.ts';

const stream = (...chunks: readonly (string | Error)[]): Response => {
  const left = [...chunks];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = left.shift();
      if (next === undefined) controller.close();
      else if (next instanceof Error) controller.error(next);
      else controller.enqueue(Buffer.from(next));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};

const log = (params: object): string =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params })}\n\n`;

it('takes the origin off what is sent', () => {
  const { headers, origin } = takeOrigin({ [ORIGIN_HEADER]: 'call-1', accept: 'text/event-stream' });
  expect(origin).toBe('call-1');
  expect([...headers.keys()]).toEqual(['accept']);
  expect(takeOrigin({}).origin).toBeUndefined();
});

it('writes the origin into log messages, however they are cut, and into nothing else', async () => {
  const message = log({ level: 'info', data: 'ü', _meta: { kept: 1 } });
  const other = 'data: {"jsonrpc":"2.0","id":1,"result":{"text":"\\"notifications/message\\""}}\n\n';
  const half = message.length / 2;
  const text = await annotateMessages('mine', stream(message.slice(0, half), message.slice(half), other)).text();
  expect(text).toContain(`"_meta":{"kept":1,"${ORIGIN_META_KEY}":"mine"}`);
  expect(text.endsWith(other)).toBe(true);
});

it('an origin that a server made up is replaced', async () => {
  const forged = log({ level: 'info', data: 1, _meta: { [ORIGIN_META_KEY]: 'another' } });
  const text = await annotateMessages('mine', stream(forged)).text();
  expect(text).not.toContain('another');
});

it('leaves what is no JSON as it came', async () => {
  const odd = 'data: {"notifications/message"\n\n';
  expect(await annotateMessages('mine', stream(odd)).text()).toBe(odd);
});

it('a stream without an answer ends with an error for its request', async () => {
  const error = `"id":7,"error":{"code":${UNANSWERED}`;
  for (const response of [
    stream(),
    stream(log({ level: 'info' })),
    stream('data: {"id":7,"result"', new Error('cut')),
  ]) {
    expect(await answered(7, response).text()).toContain(error);
  }
});

it('a stream with its answer, or with an event to come back for, ends as it is', async () => {
  const answer = 'data: {"jsonrpc":"2.0","id":7,"result":{}}\n\n';
  for (const text of [answer, 'id: 1\ndata: {}\n\n']) {
    expect(await answered(7, stream(...text)).text()).toBe(text);
  }
});

it('only requests have answers, and streams of changes have none', () => {
  expect(requestIn(JSON.stringify({ id: 7, method: 'tools/call' }))).toBe(7);
  expect(requestIn(JSON.stringify({ id: 'listen:0', method: 'subscriptions/listen' }))).toBeUndefined();
  expect(requestIn(JSON.stringify({ method: 'notifications/cancelled' }))).toBeUndefined();
  expect(requestIn(JSON.stringify({ id: 7, result: {} }))).toBeUndefined();
});
