import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResourceError } from '../core/errors.ts';
import { matchOf, parseQuestion, questionOfName } from './question.ts';
import { termsIn } from './terms-in.ts';

describe('a question', () => {
  it.each([
    ['carriage clock', '"carriage" OR "clock"'],
    ['how is the clock wound', '"clock" OR ("wound" OR "wind")'],
    ['what is it', '"what" OR "is" OR "it"'],
    ['"small key" door', '("small key") AND ("small key" OR "door")'],
    ['e-mail', '"e mail"'],
    ['wind*', '"wind" *'],
    ['NEAR(clock key, 5)', '(NEAR("clock" "key", 5)) AND (NEAR("clock" "key", 5))'],
    ['clock Clock clock', '"clock"'],
    ['時計', '"時 計"'],
    ['a"b"', '("b") AND ("b")'],
  ])('%s is %s', (text, match) => {
    expect(matchOf(parseQuestion(text))).toBe(match);
  });

  it.each([
    ['', /at least one word/],
    ['!!', /at least one word/],
    ['type:pdf', /at least one word/],
    ['"clock', /no other one that ends it/],
    ['NEAR(clock)', /two words or more/],
    ['NEAR(a b, 1000)', /at most 100 words/],
    ['clock after:soon', /after:2025/],
    ['clock larger:much', /larger:4096/],
    ['x'.repeat(1_025), /at most 1024 characters/],
    [Array.from({ length: 33 }, (_, at) => `w${at}`).join(' '), /at most 32 words/],
  ])('%j is refused with advice', (text, message) => {
    expect(() => parseQuestion(text)).toThrow(message);
  });

  it('is understood, or refused with a reason', () => {
    const understood = (text: string): void => {
      try {
        const quoted = matchOf(parseQuestion(text)).split('"');
        for (const words of quoted.filter((_, at) => at % 2 === 1))
          expect(words).toMatch(/^[\p{L}\p{M}\p{N}\p{Co} ]+$/u);
      } catch (error) {
        expect(error).toBeInstanceOf(ResourceError);
      }
    };
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), understood));
  });

  it('refuses a character that no database accepts', () => {
    expect(() => parseQuestion('clock mount:"a\0b"')).toThrow('U+0000');
  });

  it('for a name is the beginnings of its words, whatever characters are between', () => {
    expect(matchOf(questionOfName('type:pdf'))).toBe(
      '({title name} : "type" * AND {title name} : "pdf" *) AND ({title name} : "type" * OR {title name} : "pdf" *)',
    );
    expect(() => questionOfName('*"')).toThrow(/at least one word/);
    expect(() => questionOfName('x'.repeat(1_025))).toThrow(/at most 1024 characters/);
  });

  it('has no other forms of its words if these are not wanted', () => {
    expect(matchOf(parseQuestion('clock wound', false))).toBe('"clock" OR "wound"');
  });

  it('finds its words in a text in their other forms', () => {
    const termsOf = (question: string) => (text: string) => termsIn(parseQuestion(question))([text]).together;
    const inText = termsOf('visitors winding cafés');
    expect(inText('A visitor winds')).toEqual(new Set([0, 1]));
    expect(inText('The CAFÉ')).toEqual(new Set([2]));
    expect(inText('nothing of it').size).toBe(0);
    expect(inText('').size).toBe(0);
    expect(termsOf('wound')('it winds; to wind')).toEqual(new Set([0]));
    expect(termsOf('vis* "spring time"')('Visitors in springtime')).toEqual(new Set([0]));
    expect(termsOf('vis* "spring time"')('Time and springs, Größe')).toEqual(new Set([1]));
  });

  it('finds the words of a phrase over several lines, and those of each line', () => {
    const { each, together } = termsIn(parseQuestion('"small key" door'))(['a small', 'key to a DOOR']);
    expect(each).toEqual([new Set(), new Set([1])]);
    expect(together).toEqual(new Set([0, 1]));
  });
});
