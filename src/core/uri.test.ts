import { describe, expect, it } from 'vitest';
import {
  decodeSegment,
  encodeSegment,
  MAX_URI_LENGTH,
  nameOfUri,
  nameProblem,
  parseTreeUri,
  schemeOf,
  splitUri,
  treeUri,
} from './uri.ts';

const segmentsOf = (uri: string): readonly string[] => parseTreeUri(uri, 'file').segments;
const refused = (work: () => unknown, message: RegExp): void => {
  expect(work).toThrow(
    expect.objectContaining({ name: 'ResourceError', code: 'invalid', message: expect.stringMatching(message) }),
  );
};

describe('splitting a URI of any scheme [RES-1]', () => {
  it.each([
    ['file:///a/b.md', { scheme: 'file', authority: '', path: '/a/b.md' }],
    ['FILE://LocalHost/A', { scheme: 'file', authority: 'LocalHost', path: '/A' }],
    [
      'https://user@host:8080/a?q=1#part',
      { scheme: 'https', authority: 'user@host:8080', path: '/a', query: 'q=1', fragment: 'part' },
    ],
    ['https://host', { scheme: 'https', authority: 'host', path: '' }],
    ['https://host?a=b', { scheme: 'https', authority: 'host', path: '', query: 'a=b' }],
    ['urn:isbn:0451450523', { scheme: 'urn', path: 'isbn:0451450523' }],
    ['memo:x', { scheme: 'memo', path: 'x' }],
    ['docs+file:///a', { scheme: 'docs+file', authority: '', path: '/a' }],
    ['a:', { scheme: 'a', path: '' }],
    ['a:?', { scheme: 'a', path: '', query: '' }],
    ['a:#', { scheme: 'a', path: '', fragment: '' }],
    ['a:b#c?d', { scheme: 'a', path: 'b', fragment: 'c?d' }],
    ['a:b?c?d#e#f', { scheme: 'a', path: 'b', query: 'c?d', fragment: 'e#f' }],
    ['x:/a//b', { scheme: 'x', path: '/a//b' }],
    ['x:////a', { scheme: 'x', authority: '', path: '//a' }],
  ])('%s', (uri, parts) => {
    const nothing = { authority: undefined, query: undefined, fragment: undefined };
    expect(splitUri(uri)).toEqual({ ...nothing, ...parts });
  });

  it.each(['', ':', '/a', 'a', '1a:b', '+a:b', 'a b:c', 'ä:b', '//host/path', '?a:b', '%61:b', ' file:///a'])(
    '%j has no scheme',
    (uri) => refused(() => splitUri(uri), /starts with a scheme/),
  );

  it.each([
    ['a NUL', 'file:///a\u0000b'],
    ['a line break', 'file:///a\nb'],
    ['a tab', 'file:///a\tb'],
    ['a delete character', 'file:///a\u007fb'],
    ['a C1 control', 'file:///a\u0085b'],
    ['a backslash', 'file:///a\\b'],
    ['a backslash in the authority', 'file:\\\\host\\a'],
    ['a control in the query', 'https://host/?a\u0001'],
  ])('%s is refused', (_what, uri) =>
    refused(() => splitUri(uri), /must not contain control characters or backslashes/),
  );

  it.each(['file:///a\ud800', 'file:///\udc00a', 'file:///a\ud800\ud800'])(
    'half of a surrogate pair is refused (%#)',
    (uri) => refused(() => splitUri(uri), /surrogate/),
  );

  it.each([
    'file:///%',
    'file:///a%2',
    'file:///a%zz',
    'file:///%2g',
    'file:///%%41',
    'file:///100% brass',
    'https://h/?%',
  ])('%s has a percent sign that starts no escape', (uri) =>
    refused(() => splitUri(uri), /followed by two hex digits/),
  );

  it('has a limit of length', () => {
    const longest = `file:///${'a'.repeat(MAX_URI_LENGTH - 'file:///'.length)}`;
    expect(splitUri(longest).path).toHaveLength(MAX_URI_LENGTH - 'file://'.length);
    refused(() => splitUri(`${longest}a`), /at most 65536 characters/);
  });
});

describe('names in a tree', () => {
  it.each([
    ['file:///', [], true],
    ['file://', [], false],
    ['file:', [], false],
    ['file:/', [], true],
    ['file:/a/b', ['a', 'b'], false],
    ['file:///a/b', ['a', 'b'], false],
    ['file:///a/b/', ['a', 'b'], true],
    ['file://localhost/a', ['a'], false],
    ['file://LOCALHOST/a', ['a'], false],
    ['FILE:///a', ['a'], false],
    ['file:///C:/a', ['C:', 'a'], false],
    ['file:///a:b@c', ['a:b@c'], false],
  ])('%s', (uri, segments, trailingSlash) => {
    expect(parseTreeUri(uri, 'file')).toEqual({ segments, trailingSlash });
  });

  it.each([
    ['file:///a%20b', 'a b'],
    ['file:///a b', 'a b'],
    ['file:///100%25', '100%'],
    ['file:///%2525', '%25'],
    ['file:///%252F', '%2F'],
    ['file:///%252e%252e', '%2e%2e'],
    ['file:///%23%3F', '#?'],
    ['file:///a+b', 'a+b'],
    ['file:///%e6%97%a5', '日'],
    ['file:///%E6%97%A5', '日'],
    ['file:///日', '日'],
    ['file:///caf%C3%A9', 'caf\u00e9'],
    ['file:///cafe%CC%81', 'cafe\u0301'],
    ['file:///%F0%9F%98%80', '😀'],
    ['file:///...', '...'],
    ['file:///a..b', 'a..b'],
    ['file:///.hidden', '.hidden'],
    ['file:///%7E', '~'],
    ['file:///%5B%5D', '[]'],
  ])('%s is decoded once', (uri, name) => expect(segmentsOf(uri)).toEqual([name]));

  const DOT_SEGMENTS = ['.', '..', '%2e', '%2E', '%2e%2e', '%2E%2e', '%2e%2E', '.%2e', '%2E.'];
  it.each(DOT_SEGMENTS)('the dot segment %s is refused wherever it stands [SEC-RES-1]', (dots) => {
    for (const uri of [
      `file:///${dots}`,
      `file:///${dots}/`,
      `file:///a/${dots}`,
      `file:///a/${dots}/b`,
      `file:/${dots}/b`,
    ]) {
      refused(() => segmentsOf(uri), /dot segment/);
    }
  });

  it.each([
    ['an encoded slash', 'file:///a%2fb', /must not contain a slash/],
    ['an encoded slash in upper case', 'file:///a%2Fb', /must not contain a slash/],
    ['a climb behind encoded slashes', 'file:///..%2f..%2fetc', /must not contain a slash/],
    ['an encoded backslash', 'file:///a%5cb', /control characters or backslashes/],
    ['a climb behind encoded backslashes', 'file:///..%5C..%5Cetc', /control characters or backslashes/],
    ['an encoded NUL', 'file:///a%00.png', /must not contain control characters/],
    ['an encoded line break', 'file:///a%0Ab', /must not contain control characters/],
    ['an encoded delete character', 'file:///a%7f', /must not contain control characters/],
    ['an encoded C1 control', 'file:///a%C2%85', /must not contain control characters/],
    ['an overlong dot', 'file:///%C0%AE%C0%AE/etc', /not valid UTF-8/],
    ['an overlong slash', 'file:///..%C0%AFetc', /not valid UTF-8/],
    ['an overlong slash of three bytes', 'file:///%E0%80%AF', /not valid UTF-8/],
    ['a byte of Latin-1', 'file:///%E9', /not valid UTF-8/],
    ['a half character', 'file:///%E6%97', /not valid UTF-8/],
    ['an encoded surrogate', 'file:///%ED%A0%80', /not valid UTF-8/],
    ['a byte that never occurs', 'file:///%FF', /not valid UTF-8/],
    ['beyond Unicode', 'file:///%F4%90%80%80', /not valid UTF-8/],
    ['a replacement character', 'file:///%EF%BF%BD', /not valid Unicode/],
    ['an empty inner segment', 'file:///a//b', /empty segment/],
    ['an empty first segment', 'file:////a', /empty segment/],
    ['two slashes at the end', 'file:///a//', /empty segment/],
    ['slashes alone', 'file:////', /empty segment/],
    ['a path that is not absolute', 'file:a/b', /absolute/],
    ['a host', 'file://host/a', /has no host/],
    ['a host that begins like localhost', 'file://localhost.example/a', /has no host/],
    ['a port', 'file://localhost:80/a', /has no host/],
    ['a user', 'file://user@localhost/a', /has no host/],
    ['a climb in place of the host', 'file://../a', /has no host/],
    ['a drive in place of the host', 'file://C:/a', /has no host/],
    ['a query', 'file:///a?b', /has no query/],
    ['an empty query', 'file:///a?', /has no query/],
    ['a fragment', 'file:///a#b', /has no fragment/],
    ['an empty fragment', 'file:///a#', /has no fragment/],
    ['another scheme', 'memory:///a', /starts with file:\/\/\//],
    ['a scheme that begins like it', 'file+x:///a', /starts with file:\/\/\//],
  ])('%s is refused [SEC-RES-1]', (_what, uri, message) => refused(() => segmentsOf(uri), message));

  it.each([
    ['file:///a?b', 'file:///a?b'],
    ['file:///a%2Fb', 'file:///a%2Fb'],
    ['file:///%C0%AE', 'file:///%C0%AE'],
  ])('an error names the URI it is about: %s', (uri) => {
    expect(() => segmentsOf(uri)).toThrow(expect.objectContaining({ uri }));
  });
});

describe('writing names', () => {
  it.each([
    ['a b', 'a%20b'],
    ['100%', '100%25'],
    ['%2F', '%252F'],
    ['#?', '%23%3F'],
    ['[x]', '%5Bx%5D'],
    ['"<>`{|}^', '%22%3C%3E%60%7B%7C%7D%5E'],
    ["!$&'()*+,;=:@-._~", "!$&'()*+,;=:@-._~"],
    ['日', '%E6%97%A5'],
    ['caf\u00e9', 'caf%C3%A9'],
    ['cafe\u0301', 'cafe%CC%81'],
    ['...', '...'],
  ])('%s is written %s', (name, segment) => {
    expect(encodeSegment(name)).toBe(segment);
    expect(decodeSegment(segment)).toBe(name);
  });

  it('puts them below the root, without a slash at the end', () => {
    expect(treeUri('file', [])).toBe('file:///');
    expect(treeUri('file', ['a'])).toBe('file:///a');
    expect(treeUri('x+y', ['a b', 'c'])).toBe('x+y:///a%20b/c');
  });

  it.each([
    ['', /empty segment/],
    ['.', /dot segment/],
    ['..', /dot segment/],
    ['a/b', /slash/],
    ['a\\b', /backslashes/],
    ['a\u0000', /control/],
    ['a\u009f', /control/],
    ['a\ud800', /not valid Unicode/],
    ['a\ufffd', /not valid Unicode/],
  ])('%j is no name', (name, problem) => expect(nameProblem(name)).toMatch(problem));

  it.each(['a', '...', ' ', '%2e', 'a:b', '~', '日', '\u00a0', '-rf'])('%j is a name', (name) => {
    expect(nameProblem(name)).toBeUndefined();
  });
});

describe('the scheme of a URI', () => {
  it.each([
    ['file:///a', 'file'],
    ['FILE:///a', 'file'],
    ['docs+file:///a', 'docs+file'],
    ['urn:a', 'urn'],
    ['a:', 'a'],
    ['', undefined],
    [':a', undefined],
    ['a', undefined],
    ['1:a', undefined],
    ['a b:c', undefined],
    ['/a:b', undefined],
    [`${'a'.repeat(256)}:`, 'a'.repeat(256)],
    [`${'a'.repeat(257)}:`, undefined],
  ])('of %s is %s', (uri, scheme) => expect(schemeOf(uri)).toBe(scheme));
});

describe('the name that a URI gives its resource', () => {
  it.each([
    ['notes:///a/b.md', 'b.md'],
    ['notes:///a/', 'a'],
    ['notes:///a//', 'a'],
    ['notes:///%C3%A9%2Fb', 'é/b'],
    ['notes:///%ff', '%ff'],
    ['notes:///', undefined],
    ['urn:isbn:1', 'isbn:1'],
    ['notes:', undefined],
    ['a.md', 'a.md'],
    ['b/a:c', 'a:c'],
    ['https://x.example', 'x.example'],
    ['https://x.example/a.md?next=/b', 'a.md?next=/b'],
    ['https://x.example/a/?next=b', 'a?next=b'],
    ['https://x.example/a.md#/b', 'a.md#/b'],
    ['notes:///?a', '?a'],
  ])('of %s is %s', (uri, name) => expect(nameOfUri(uri)).toBe(name));
});
