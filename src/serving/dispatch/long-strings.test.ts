import { expect, it } from 'vitest';
import { LongText } from '../../core/text/long-text.ts';
import { answerOf, LongAnswer, wholeText } from './answer.ts';
import { inPieces } from './long-strings.ts';

const LONG = '"é"'.repeat(50_000);

it('a result has a LongText in place of each long string, and the same JSON', () => {
  const date = new Date(0);
  const deep = JSON.parse('['.repeat(40) + JSON.stringify(LONG) + ']'.repeat(40));
  const result = {
    content: [
      { type: 'text', text: LONG },
      { type: 'resource', resource: { uri: 'a', blob: LONG } },
      { type: 'text', text: 'short' },
    ],
    structuredContent: { [LONG]: [undefined, null, 1, LONG], date, own: { toJSON: () => 'own' }, deep },
    left: undefined,
  };
  const pieced = inPieces(result) as typeof result;
  expect(pieced.content[0]?.text).toBeInstanceOf(LongText);
  expect(pieced.content[2]).toBe(result.content[2]);
  expect(JSON.stringify(pieced) === JSON.stringify(result)).toBe(true);
  const answer = answerOf(7, { result: pieced });
  expect(answer).toBeInstanceOf(LongAnswer);
  expect(wholeText(answer) === JSON.stringify({ jsonrpc: '2.0', id: 7, result })).toBe(true);
});

it('a result without long strings is returned as the same object', () => {
  const result = { content: [{ type: 'text', text: 'short' }], structuredContent: { list: [1, { a: 'b' }] } };
  expect(inPieces(result)).toBe(result);
});

it('a property that is named `__proto__` stays', () => {
  const result = { content: [], _meta: JSON.parse('{"__proto__": "a"}') };
  expect(JSON.stringify(inPieces({ ...result, text: LONG })) === JSON.stringify({ ...result, text: LONG })).toBe(true);
});
