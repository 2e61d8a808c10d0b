import { describe, expect, it } from 'vitest';
import { comparableUri } from './spellings.ts';

describe('the form in which URIs are compared', () => {
  it('is the same for all spellings of a character, except that an escaped delimiter differs from a raw one', () => {
    expect(comparableUri('X:///%61%C3%A9')).toBe(comparableUri('x:///aé'));
    expect(comparableUri('x:///a%2Fb')).toBe(comparableUri('x:///a%2fb'));
    expect(comparableUri('x:///a%2Fb')).not.toBe(comparableUri('x:///a/b'));
  });

  it.each([
    ['a slash', '%2F', '\ue02f'],
    ['a percent sign', '%25', '\ue025'],
    ['a control character', '%00', '\ue000'],
    ['a bracket', '%5B', '\ue05b'],
  ])('does not take a private character for the escape of %s', (_name, escaped, character) => {
    const [raw, encoded] = [`x:///a${character}b`, `x:///a${encodeURIComponent(character)}b`];
    expect(comparableUri(raw)).not.toBe(comparableUri(`x:///a${escaped}b`));
    expect(comparableUri(encoded)).not.toBe(comparableUri(`x:///a${escaped}b`));
    expect(comparableUri(raw)).toBe(comparableUri(encoded));
  });
});
