import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { accepted, refused, sampledText } from './answers.ts';

const JSON_SCHEMA = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] } as const;
const NO_ANSWERS: readonly unknown[] = [undefined, null, 1, 'accept', [], {}, { action: 'other' }];

describe('an answer of a client', () => {
  it.each([
    ['JSON Schema', JSON_SCHEMA],
    ['a Standard Schema', z.object({ age: z.number().int() })],
  ])('counts as a form only if it was accepted and fits the schema: %s', async (_what, schema) => {
    expect(await accepted({ action: 'accept', content: { age: 7 } }, schema)).toEqual({ age: 7 });
    const others = [
      { action: 'accept', content: { age: '7' } },
      { action: 'accept', content: { age: 7.5 } },
      { action: 'accept', content: [7] },
      { action: 'accept' },
      { action: 'decline', content: { age: 7 } },
      { action: 'cancel' },
    ];
    for (const answer of [...others, ...NO_ANSWERS]) expect(await accepted(answer, schema)).toBeUndefined();
  });

  it('counts as a refusal if it was declined or cancelled', () => {
    expect([{ action: 'decline' }, { action: 'cancel' }].map(refused)).toEqual([true, true]);
    expect([{ action: 'accept' }, ...NO_ANSWERS].some(refused)).toBe(false);
  });

  it('gives the text of a model, from one block or several', () => {
    const text = (value: unknown) => ({ type: 'text', text: value });
    expect(sampledText({ role: 'assistant', content: text('one') })).toBe('one');
    expect(sampledText({ content: [text('one'), { type: 'image' }, text('two'), text(3)] })).toBe('one\ntwo');
    for (const answer of [{ content: { type: 'image', data: '' } }, { content: text(1) }, ...NO_ANSWERS]) {
      expect(sampledText(answer)).toBeUndefined();
    }
  });
});
