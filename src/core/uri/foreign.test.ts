import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasDotSegments } from './decoding.ts';
import { foreignSpellings } from './foreign.ts';

const all = (uri: string): readonly string[] => {
  const { normal, possible } = foreignSpellings(uri);
  return [uri, ...normal, ...possible];
};

describe('spellings of another server', () => {
  it.each([
    'file:///s%65cret/a.md',
    'FILE:///secret/a.md',
    'file://localhost/secret/a.md',
    'file://LOCALHOST/secret/a.md',
    'file:/secret/a.md',
    'file:///secret/./a.md',
    'file:///public/../secret/a.md',
    'file:///public/%2e%2e/secret/a.md',
    'file:///../secret/a.md',
    'file:///secret/x/%2E%2E/a.md',
  ])('%s is normally file:///secret/a.md', (uri) => {
    expect(foreignSpellings(uri).normal).toEqual(['file:///secret/a.md']);
  });

  it.each([
    'file:////secret/a.md',
    'file:///secret//a.md',
    'file:///secret%2Fa.md',
    'file:///secret%5ca.md',
    'file:///secret\\a.md',
    'file:///s%2565cret/a.md',
    'file:///s%252565cret/a.md',
    'file:///secret/a.md/',
    'file:///secret/a.md?x=1',
    'file:///secret/a.md#x',
    'file:///sec\tret/a.md',
    ' file:///secret/a.md ',
    'file:///public%2F..%2Fsecret/a.md',
    'file:///public/%252e%252e/secret/a.md',
    'file:///public/..\\secret/a.md',
  ])('%s could be file:///secret/a.md', (uri) => {
    expect(all(uri)).toContain('file:///secret/a.md');
  });

  it.each([
    ['https://x@example.com/a', 'https://example.com/a'],
    ['https://me:secret@example.com/a?b', 'https://example.com/a'],
    ['http://me@127.1/a', 'http://127.0.0.1/a'],
    ['https://example.com./a', 'https://example.com/a'],
    ['https://example.com.:8443', 'https://example.com:8443'],
    ['https://xn--mnchen-3ya.de/x', 'https://münchen.de/x'],
    ['https://a.xn--mnchen-3ya.de./x', 'https://a.münchen.de/x'],
    ['http://[::ffff:127.0.0.1]/a', 'http://127.0.0.1/a'],
    ['http://example.com', 'http://example.com/'],
    ['https://example.com?a', 'https://example.com/?a'],
    ['ws://example.com', 'ws://example.com/'],
    ['ftp://example.com', 'ftp://example.com/'],
    ['http://example.com/', 'http://example.com'],
    ['http://example.com/?a', 'http://example.com'],
    ['http://example.com?a', 'http://example.com/'],
    ['http://EXAMPLE.com:80', 'http://example.com'],
    ['memo://host/', 'memo://host'],
    ['https:/example.com', 'https://example.com/'],
    ['https:/example.com', 'https://example.com'],
    ['https:/example.com/a?b', 'https://example.com/a'],
    ['https:example.com/a', 'https://example.com/a'],
    ['https:///example.com/a', 'https://example.com/a'],
    ['https:%2Fexample.com/a', 'https://example.com/a'],
    [' https:\\example.com\\a', 'https://example.com/a'],
    ['https://ex%61mple.com/a', 'https://example.com/a'],
    ['http://127.1/a', 'http://127.0.0.1/a'],
    ['http://0x7f000001/a', 'http://127.0.0.1/a'],
    ['file:a/b', 'file:///a/b'],
  ])('%s could be %s', (uri, other) => expect(all(uri)).toContain(other));

  it.each([
    ['HTTPS://Example.COM:443', 'https://example.com/'],
    ['file://', 'file:///'],
    ['http://example.com:80/a', 'http://example.com/a'],
    ['https://me@Example.com/%7Ea', 'https://me@example.com/~a'],
    ['memo:x/../hidden', 'memo:hidden'],
    ['Memo:hidden', 'memo:hidden'],
    ['urn:isbn:%31', 'urn:isbn:1'],
  ])('%s is normally %s', (uri, normal) => expect(foreignSpellings(uri).normal).toEqual([normal]));

  it('a plain URI has one spelling', () => {
    for (const uri of [
      'file:///a/b.md',
      'memo:hidden',
      'memo://host',
      'https://example.com/a/b',
      'urn:a:b',
      'file:///',
    ])
      expect(all(uri)).toEqual([uri]);
  });

  it('normalizing a normal form changes nothing', () => {
    const part = fc.constantFrom(
      'a',
      '..',
      '.',
      '%2e',
      '%2E%2e',
      '',
      '%2F',
      'b%20c',
      'localhost',
      'x:80',
      '?',
      '#',
      '%zz',
      '\\',
    );
    fc.assert(
      fc.property(fc.constantFrom('file:', 'FILE://', 'memo:', 'https://H'), fc.array(part), (begin, parts) => {
        const [normal = begin + parts.join('/')] = foreignSpellings(begin + parts.join('/')).normal;
        expect(foreignSpellings(normal).normal).toEqual([]);
      }),
    );
  });
});

describe('dot segments', () => {
  it.each([
    'file:///a/../b',
    'file:///a/%2e%2e/b',
    'file:///a/.%2E/b',
    'file:///a/%252e%252e/b',
    'file:///a%2F..%2Fb',
    'file:///a\\..\\b',
    'file:///a/..;x/b',
    'file:///./a',
    'memo:..',
    'file:///a/.\t./b',
    'file:///a?/../../b',
  ])('are seen in %s', (uri) => expect(hasDotSegments(uri)).toBe(true));

  it.each(['file:///a..b', 'file:///...', 'file:///.env', 'https://x/compare?range=v1..v2', 'urn:a.b', 'memo:a'])(
    'are not seen in %s',
    (uri) => expect(hasDotSegments(uri)).toBe(false),
  );
});
