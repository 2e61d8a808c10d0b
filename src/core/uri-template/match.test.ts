import { describe, expect, it } from 'vitest';
import { parseUriTemplate, type TemplateValue } from '../uri-template.ts';
import { compileMatcher, MAX_URI_LENGTH } from './match.ts';
import { parseParts } from './parse.ts';

type Case = [template: string, uri: string, expected: Record<string, TemplateValue> | undefined];

function check(cases: Case[]) {
  it.each(cases)('%s of %j', (template, uri, expected) => {
    expect(parseUriTemplate(template).match(uri)).toEqual(expected);
  });
}

describe('literals', () => {
  check([
    ['', '', {}],
    ['', 'a', undefined],
    ['a/b', 'a/b', {}],
    ['a/b', 'a/B', undefined],
    ['a/b', 'a/b/', undefined],
    ['a/b', 'a/%62', undefined],
    ['a.b', 'axb', undefined],
    ['é{x}', '%C3%A9y', { x: 'y' }],
    ['é{x}', '%c3%a9y', { x: 'y' }],
    ['é{x}', 'éy', undefined],
    ['a%2Fb', 'a/b', undefined],
    ['%FF{x}', '%FFy', { x: 'y' }],
    ['{x}abab', 'ababab', { x: 'ab' }],
    ['{x}aab', 'aaab', { x: 'a' }],
    ['(a+)+{x}$', '(a+)+b$', { x: 'b' }],
  ]);
});

describe('simple expressions', () => {
  check([
    ['/{x}', '/y', { x: 'y' }],
    ['/{x}', '/', { x: '' }],
    ['/{x}', '/a%2Fb%20%C3%A9%F0%9F%98%80', { x: 'a/b é😀' }],
    ['/{x}', '/%252F', { x: '%2F' }],
    ['/{x}', '/a,b', { x: ['a', 'b'] }],
    ['/{x}', '/a%2Cb', { x: 'a,b' }],
    ['/{x}', '/a,', { x: ['a', ''] }],
    ['/{x*}', '/a', { x: ['a'] }],
    ['/{x*}', '/', {}],
    ['/{x*}', '/a,b', { x: ['a', 'b'] }],
    ['/{x*}', '/a=1,b=', { x: { a: '1', b: '' } }],
    ['/{x*}', '/a=1,b', undefined],
    ['/{x*}', '/a%3D1', { x: ['a=1'] }],
    ['/{x,y}', '/1,2', { x: '1', y: '2' }],
    ['/{x,y}', '/1', { x: '1' }],
    ['/{x,y}', '/,2', { x: '', y: '2' }],
    ['/{x,y}', '/1,2,3', { x: ['1', '2'], y: '3' }],
    ['/{x*,y}', '/,a', { x: [''], y: 'a' }],
    ['/{x*,y*}', '/a=1,b=2', { x: { a: '1' }, y: { b: '2' } }],
    ['/{x*,y*}', '/a,b=2', { x: ['a'], y: { b: '2' } }],
  ]);

  it.each([..."/?#[]@!$&'()*+;=:"])('do not let a value cross a raw %s', (character) => {
    expect(parseUriTemplate('{x}').match(`a${character}b`)).toBeUndefined();
    expect(parseUriTemplate('{+x}').match(`a${character}b`)).toEqual({ x: `a${character}b` });
  });
});

describe('a list of parameters behind associative arrays', () => {
  check([
    ['{?x*,y*}{?z*}', '?z=a&z=b&z=c', { z: ['a', 'b', 'c'] }],
    ['{?x*,y*}{?z*}', '?z=a', { z: ['a'] }],
    ['{?x*,y*}{?z*}', '?k=1&l=2?z=a&z=b&z=c', { x: { k: '1' }, y: { l: '2' }, z: ['a', 'b', 'c'] }],
    ['{?x*,y*}', '?z=a&z=b&z=c', undefined],
    ['#{;v,x*}{+y*}', '#;v=a,;;,b', { v: ['a', ''], y: [';;', 'b'] }],
  ]);
});

describe('a text that no expression matches', () => {
  const bad = [...'\0\t\n\x1f\x7f "<>\\^`{|}é', '\u2028', '😀', '\ud800', '%', '%2', '%G0', '%2G'];
  const notUtf8 = ['%FF', '%80', '%C0%AF', '%C1%81', '%E0%80%AF', '%ED%A0%80', '%F4%90%80%80', '%C3', '%E2%82', '%C3é'];
  it.each([...bad, ...notUtf8])('%j', (text) => {
    for (const template of ['{x}', '{+x}', '{#x}', '{.x}', '{/x*}', '{;x*}', '{?x*}', '{&x}']) {
      const first = /[#./;?&]/.exec(template)?.[0] ?? '';
      for (const uri of [text, `z${text}z`, `${text}z`]) {
        expect(parseUriTemplate(template).match(first + uri)).toBeUndefined();
        expect(parseUriTemplate(template).match(`${first}x=${uri}`)).toBeUndefined();
      }
    }
  });
});

describe('reserved and fragment expressions', () => {
  check([
    ['{+path}/{name}', 'a/b/c', { path: 'a/b', name: 'c' }],
    ['{+x}', '', { x: '' }],
    ['{+x}', 'a,b', { x: 'a,b' }],
    ['{+x*}', 'a,b', { x: ['a', 'b'] }],
    ['{+x,y}/here', '/a/b,1/here', { x: '/a/b', y: '1' }],
    ['{+x,y}', 'a,b,c', { x: 'a,b', y: 'c' }],
    ['{+x}{?q}', '/a?q=1', { x: '/a', q: '1' }],
    ['{+x}{?q}', '/a?r=1', { x: '/a?r=1' }],
    ['{+x}{#y}', 'a#b', { x: 'a', y: 'b' }],
    ['{#x}', '#', { x: '' }],
    ['{#x}', '', {}],
    ['{#x}', 'a', undefined],
    ['{+x}', 'a%20%C3%A9%41', { x: 'a éA' }],
    ['{+x}', '..%2F..%2f', { x: '..%2F..%2f' }],
    ['{+x}', '50%25', { x: '50%' }],
    ['{+x}', '%252F%25zz%25%25%2541', { x: '%252F%zz%%%2541' }],
    ['{+x}', '%25%34%31', { x: '%2541' }],
    ['{+x:2}', 'ab', { x: 'ab' }],
    ['{+x:2}', 'a%2F', { x: 'a%2F' }],
    ['{+x:2}', 'abc', undefined],
  ]);
});

describe('label and path expressions', () => {
  check([
    ['{.x}', '.a', { x: 'a' }],
    ['{.x}', '.a.b', { x: 'a.b' }],
    ['{.x*}', '.a.b', { x: ['a', 'b'] }],
    ['{.x,y}', '.a.b.c', { x: 'a.b', y: 'c' }],
    ['{.x*}', '.a=1.b=..c=3', { x: { a: '1', b: '.', c: '3' } }],
    ['{name}{.ext}', 'a.tar.gz', { name: 'a.tar', ext: 'gz' }],
    ['{/x}', '', {}],
    ['{/x}', '/', { x: '' }],
    ['{/x}', '/a/b', undefined],
    ['{/x}', '/a%2Fb', { x: 'a/b' }],
    ['{/x}', '/a,b', { x: ['a', 'b'] }],
    ['{/x*}', '/a,b', undefined],
    ['{/x*}', '/a/b', { x: ['a', 'b'] }],
    ['{/x*}', '//', { x: ['', ''] }],
    ['{/x*}', '/a=1/b=2', { x: { a: '1', b: '2' } }],
    ['{/x*,y}', '/a/b/c', { x: ['a', 'b'], y: 'c' }],
    ['{/x}{/y}', '/a', { x: 'a' }],
    ['{/x*}{/y*}', '/a/b/c', { x: ['a', 'b'], y: ['c'] }],
    ['{/x*,y:4}', '/red/green/%2Ffoo', { x: ['red', 'green'], y: '/foo' }],
  ]);
});

describe('named expressions', () => {
  check([
    ['{?q,lang}', '', {}],
    ['{?q,lang}', '?lang=en', { lang: 'en' }],
    ['{?q,lang}', '?q=a&lang=en', { q: 'a', lang: 'en' }],
    ['{?q,lang}', '?lang=en&q=a', undefined],
    ['{?q,lang}', '?q=a&q=b', undefined],
    ['{?q,lang}', '?Q=a', undefined],
    ['{?q,lang}', '?q=a&', undefined],
    ['{?q,lang}', '?', undefined],
    ['{?q}', '?q=', { q: '' }],
    ['{?q}', '?q', undefined],
    ['{?q}', '?qq=a', undefined],
    ['{?q}', '?q=a=b', undefined],
    ['{?q}', '?q=a+b', undefined],
    ['{?q}', '?q=a,b', { q: ['a', 'b'] }],
    ['{?Stra%C3%9Fe}', '?Stra%c3%9fe=a', { 'Stra%C3%9Fe': 'a' }],
    ['{?q*}', '?q=a', { q: ['a'] }],
    ['{?q*}', '?q=a&q=b', { q: ['a', 'b'] }],
    ['{?q*}', '?q=a&r=b', { q: { q: 'a', r: 'b' } }],
    ['{?q*}', '?a=1&b=2', { q: { a: '1', b: '2' } }],
    ['{?q*}', '?a=1&a=2', undefined],
    ['{?q*}', '?11=a&12=b', { q: { 11: 'a', 12: 'b' } }],
    ['{?q*}', '?12=b&11=a', undefined],
    ['{?q*,r}', '?r=1', { r: '1' }],
    ['{?q*,r}', '?a=1&r=1', { q: { a: '1' }, r: '1' }],
    ['{?q*,r*}', '?a=1&b=2&r=1&r=2&r=3', { q: { a: '1', b: '2' }, r: ['1', '2', '3'] }],
    ['{?q*}{&r*}', '?a=1&b=2&r=1&r=2&r=3', { q: { a: '1', b: '2' }, r: ['1', '2', '3'] }],
    ['{?q*}{&r*}', '?q=1&q=2&b=2', { q: ['1', '2'], r: { b: '2' } }],
    ['{?q*}{&r*}', '?a=1&b=2&c=3', { q: { a: '1', b: '2' }, r: { c: '3' } }],
    ['?fixed=yes{&x}', '?fixed=yes&x=1', { x: '1' }],
    ['?fixed=yes{&x}', '?fixed=yes', {}],
    ['{;a,b}', ';a;b=1', { a: '', b: '1' }],
    ['{;a}', ';a=', undefined],
    ['{;a}', ';ab', undefined],
    ['{;a*}', ';a;a=1', { a: ['', '1'] }],
    ['{;a*}', ';x;y=1', { a: { x: '', y: '1' } }],
    ['{;a:2}', ';a=12', { a: '12' }],
    ['{;a:2}', ';a=123', undefined],
    ['{;a:1}', ';a', { a: '' }],
  ]);
});

describe('prefixes and repeated variables', () => {
  check([
    ['{x:3}', 'abc', { x: 'abc' }],
    ['{x:3}', 'abcd', undefined],
    ['{x:3}', '%F0%9F%98%80%C3%A9a', { x: '😀éa' }],
    ['{x:3}', 'a,b', undefined],
    ['{x:2}{y}', 'abcd', { x: 'ab', y: 'cd' }],
    ['{/x:1,x}', '/v/value', { x: 'value' }],
    ['{/x,x:1}', '/value/v', { x: 'value' }],
    ['{/x:1,x:2}', '/a/ab', { x: 'ab' }],
    ['{/x:1,x}', '/w/value', undefined],
    ['{x}/{x}', 'a/a', { x: 'a' }],
    ['{x}/{x}', 'a/b', undefined],
    ['{x}/{+x}', '%2F/%2F', undefined],
    ['{x:1}/{x*}', 'a/a,b', undefined],
  ]);
});

describe('names that objects inherit', () => {
  it.each(['__proto__', 'constructor', 'toString'])('%s is a name like any other', (name) => {
    const match = parseUriTemplate(`{${name}}{?q*}`).match(`a?${name}=b&x=c`);
    expect(Object.entries(match ?? {})).toEqual([
      [name, 'a'],
      ['q', expect.anything()],
    ]);
    expect(Object.entries(match?.q ?? {})).toEqual([
      [name, 'b'],
      ['x', 'c'],
    ]);
    expect(Object.getPrototypeOf(match)).toBeNull();
    expect(Object.getPrototypeOf(match?.q)).toBeNull();
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });
});

describe('limits', () => {
  it('refuses a URI that is too long', () => {
    const template = parseUriTemplate('{x}');
    expect(template.match('a'.repeat(MAX_URI_LENGTH))).toBeDefined();
    expect(template.match('a'.repeat(MAX_URI_LENGTH + 1))).toBeUndefined();
  });

  it('refuses a long URI for a template of many variables', () => {
    const template = parseUriTemplate(`{?${Array.from({ length: 64 }, (_, i) => `v${i}*`).join()}}`);
    expect(template.match(`?v0=${'a'.repeat(1000)}`)).toEqual({ v0: ['a'.repeat(1000)] });
    expect(template.match(`?v0=${'a'.repeat(60_000)}`)).toBeUndefined();
  });
});

describe('steps (CVE-2026-0621)', () => {
  /** URIs of a length that can be read in as many ways as possible, and that almost match. */
  const hostile: [template: string, uri: (length: number) => string][] = [
    ['{/a*}{/b*}{/c*}x', (length) => '/'.repeat(length)],
    ['{/a*,b*,c*}{/d*,e*}x', (length) => `${'/'.repeat(length)}x`],
    ['{a}{b}{c}{d}!', (length) => 'a,'.repeat(length / 2)],
    ['{a,b,c,d}!', (length) => 'a,'.repeat(length / 2)],
    ['{+a,b,c}{+d}{+e*}{/f}', (length) => 'a,'.repeat(length / 2)],
    ['{+a}{+b}{#c}{#d}', (length) => '#'.repeat(length)],
    ['{a:9999}{b:9999}{c:9999}!', (length) => '%41'.repeat(length / 3)],
    ['{+a:5000}{+b:5000}', (length) => '%41'.repeat(length / 3)],
    ['{a}aaaaaaaaaaaaaaaaaaaaaaaab{b}', (length) => 'a'.repeat(length)],
    ['{a}abababababababababababaa{b}', (length) => 'ab'.repeat(length / 2)],
    ['{.a*}{.b*}{.c,d*}!', (length) => '.='.repeat(length / 2)],
    ['{?a*,b*,c*}{&d*}', (length) => `?${'a=&'.repeat(length / 3)}`],
    ['{?a*,b*,c*}{&d*}', (length) => `?${'a=&'.repeat(length / 3)}b=`],
    ['{;a*,b*}{;c*}!', (length) => ';a'.repeat(length / 2)],
    ['{x*}{x*}{x*}!', (length) => '=,'.repeat(length / 2)],
  ];

  it.each(hostile)('of %s stay within the size of the template times the length of the URI', (template, uri) => {
    const matcher = compileMatcher(parseParts(template));
    for (const length of [600, 6000, 60_000]) {
      const text = uri(length);
      expect(matcher.run(text).steps).toBeLessThanOrEqual(2 * (text.length + 1) * matcher.nodes);
    }
  });

  it('are bounded for the longest template too', () => {
    const literal = 'a'.repeat(4000);
    const matcher = compileMatcher(parseParts(`{x}${literal}b{y}${literal}c`));
    const uri = 'a'.repeat(60_000);
    expect(matcher.run(uri).steps).toBeLessThanOrEqual(2 * (uri.length + 1) * matcher.nodes);
  });

  it('are hardly any when the leading literal differs', () => {
    const matcher = compileMatcher(parseParts('one://{x}{?y*}'));
    expect(matcher.run(`two://${'a'.repeat(1000)}`).steps).toBeLessThanOrEqual(1006);
  });
});
