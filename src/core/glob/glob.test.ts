import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeSegment } from '../uri.ts';
import { compileGlobs, type GlobSubject, globProblem } from './index.ts';

const matches = (glob: string, text: string, subject: GlobSubject = 'uri'): boolean =>
  compileGlobs([glob], subject)?.matches(text) === true;
const mayMatch = (glob: string, text: string, subject: GlobSubject = 'uri'): boolean =>
  compileGlobs([glob], subject)?.mayMatch(text) === true;

/** A glob, what it matches, and what it does not match. */
const URI_CASES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['docs+file:///a.md', ['docs+file:///a.md', 'DOCS+FILE:///a.md', 'docs+file:///%61.md'], ['docs+file:///a.mdx']],
  ['docs+file:///**', ['docs+file:///', 'docs+file://', 'docs+file:///a', 'docs+file:///a/b'], ['docs+file:/x']],
  ['docs+file:///a/**', ['docs+file:///a', 'docs+file:///a/', 'docs+file:///a/b/c'], ['docs+file:///ab']],
  ['docs+file:///a/*', ['docs+file:///a/b'], ['docs+file:///a', 'docs+file:///a/b/c']],
  ['docs+file:///a**', ['docs+file:///a', 'docs+file:///ab', 'docs+file:///a/b/c'], ['docs+file:///b']],
  ['docs+**', ['docs+file:///a', 'docs+memo:x'], ['wiki+file:///a']],
  ['**', ['docs+file:///a', 'urn:x'], ['']],
  ['**/*.md', ['docs+file:///a.md', 'docs+file:///a/b.md'], ['docs+file:///a.txt']],
  ['docs+file:///**/secret/*', ['docs+file:///secret/x', 'docs+file:///a/b/secret/x'], ['docs+file:///xsecret/x']],
  ['docs+file:///{a,b/**}', ['docs+file:///a', 'docs+file:///b', 'docs+file:///b/c'], ['docs+file:///a/b']],
  ['{docs,wiki}+**', ['docs+file:///a', 'wiki+memo:x'], ['other+file:///a']],
  ['docs+file:///a{,/**}', ['docs+file:///a', 'docs+file:///a/b'], ['docs+file:///ab']],
  ['docs+file:///[ab]?', ['docs+file:///ax', 'docs+file:///a%3F'], ['docs+file:///cx', 'docs+file:///a/']],
  ['docs+file:///[!ab]', ['docs+file:///c'], ['docs+file:///a', 'docs+file:////']],
  [
    'docs+file:///draft (1)/**',
    ['docs+file:///draft%20(1)/x', 'docs+file:///draft%20%281%29/x'],
    ['docs+file:///draft'],
  ],
  ['docs+file:///a^b', ['docs+file:///a%5Eb', 'docs+file:///a^b'], ['docs+file:///ab']],
  ['docs+file:///+(a)', ['docs+file:///+(a)'], ['docs+file:///a', 'docs+file:///aa']],
  ['docs+file:///a|b', ['docs+file:///a%7Cb'], ['docs+file:///a', 'b']],
  ['docs+file:///\\[a\\]', ['docs+file:///%5Ba%5D'], ['docs+file:///a']],
  ['docs+file:///caf\u00e9', ['docs+file:///caf%C3%A9', 'docs+file:///cafe%CC%81'], ['docs+file:///cafe']],
  ['docs+file:///a b', ['docs+file:///a%20b', 'docs+file:///a b'], []],
  ['docs+file:///100%25', ['docs+file:///100%25'], ['docs+file:///100']],
  ['up+https://x/a?q=*', ['up+https://x/a?q=1'], ['up+https://x/a']],
];

describe('globs over URIs', () => {
  it.each(URI_CASES)('%s', (glob, yes, no) => {
    for (const uri of yes) expect.soft([uri, matches(glob, uri)]).toEqual([uri, true]);
    for (const uri of no) expect.soft([uri, matches(glob, uri)]).toEqual([uri, false]);
  });

  it('an escaped slash is no slash', () => {
    expect(matches('docs+file:///a/*', 'docs+file:///a%2Fb')).toBe(false);
    expect(matches('docs+file:///*', 'docs+file:///a%2Fb')).toBe(true);
  });

  it.each([
    '(',
    ')',
    '^',
    '+',
    '!x',
    '$',
    "'",
    ',',
    ';',
    '=',
    '@',
    '&',
    '|',
    '~',
    '#',
    '%',
    '"',
    '<',
    ' ',
    '\u00e9',
    '-',
  ])('a folder whose name has %s in it is covered by its name', (char) => {
    const name = `a${char}b`;
    const written = name.replace('%', '%25').replace('#', '%23');
    expect(matches(`docs+file:///${written}/**`, `docs+file:///${encodeSegment(name)}/x`)).toBe(true);
  });

  it.each(['a[1]', 'a{1,2}', 'what?', '[x', 'a\\b', '{x}'])('a list that forbids also covers %s literally', (name) => {
    const uri = `docs+file:///${encodeSegment(name)}/x`;
    const problem = globProblem([`docs+file:///${name}/**`], 'uri');
    if (problem === undefined) expect(mayMatch(`docs+file:///${name}/**`, uri)).toBe(true);
    else expect(problem).toMatch(/write/);
  });

  it('any name is covered when it is written with backslashes, and nothing else is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.string({ unit: 'binary' }), (name, other) => {
        fc.pre(
          [name, other].every(
            (each) => each.isWellFormed() && !/[/\u0000-\u001f\u007f-\u009f\ue000-\ue0ff]/.test(each),
          ),
        );
        const glob = `docs+file:///${name
          .replace(/%/g, '%25')
          .replace(/#/g, '%23')
          .replace(/[\\*?[\]{}!]/g, '\\$&')}/**`;
        expect(matches(glob, `docs+file:///${encodeSegment(name)}/x`)).toBe(true);
        fc.pre(other.normalize('NFC') !== name.normalize('NFC'));
        expect(matches(glob, `docs+file:///${encodeSegment(other)}/x`)).toBe(false);
      }),
    );
  });
});

describe('globs over names and texts', () => {
  it.each([
    ['wiki_delete*', 'wiki_delete/page'],
    ['http://169.254.*', 'http://169.254.169.254/latest/meta-data/'],
    ['a?b', 'a/b'],
    ['**secret**', 'x/secret/y'],
    ['image/*', 'image/svg+xml'],
  ])('%s matches %s', (glob, text) => expect(matches(glob, text, 'text')).toBe(true));

  it.each([
    ['http://169.254.*', ' HTTP://169.254.169.254/'],
    ['secret*', '\uff33\uff25\uff23\uff32\uff25\uff34.txt'],
  ])('%s possibly matches %s, but not certainly', (glob, text) => {
    expect(mayMatch(glob, text, 'text')).toBe(true);
    expect(matches(glob, text, 'text')).toBe(false);
  });
});

describe('globs over paths', () => {
  it.each([
    ['src/**/*.ts', 'src/a/b.ts', true],
    ['src/**/*.ts', 'src/b.ts', true],
    ['*.md', 'a/b.md', false],
    ['**/node_modules', 'node_modules', true],
    ['**/.git/**', 'a/.git/config', true],
  ])('%s, %s', (glob, path, expected) => expect(matches(glob, path, 'path')).toBe(expected));
});

describe('a glob that is invalid or ambiguous is refused with a hint', () => {
  it.each([
    '',
    '!a',
    'a**b',
    'a**/b',
    '{a',
    'a}',
    '{a}',
    '[a',
    '[]',
    '@(a|b)',
    '+(a|b)',
    'a\\',
    '[z-a]',
    '[[:alpha:]]',
    '[a/b]',
  ])('%j', (glob) => {
    for (const subject of ['uri', 'path'] as const)
      expect(globProblem([glob], subject)).toMatch(/write|not empty|range/);
  });

  it('with too many alternatives', () => {
    expect(globProblem(['{a,b}'.repeat(11)], 'uri')).toMatch(/at most 1024/);
  });

  it('with too many alternatives, before millions of them are made', () => {
    const pairs = '{a,b}'.repeat(9);
    const begun = performance.now();
    expect(globProblem([`{${[pairs, pairs, pairs, 'c'].join(',')}}${pairs}{a,b}`], 'path')).toMatch(/at most 1024/);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});

it('a slash at the end of a glob that forbids changes nothing', () => {
  expect(mayMatch('docs+file:///drafts/', 'docs+file:///drafts')).toBe(true);
  expect(matches('docs+file:///drafts/', 'docs+file:///drafts')).toBe(false);
});

it.each(['/drafts', './drafts', 'drafts/'])('a glob over paths is not written %s', (glob) => {
  expect(globProblem([glob], 'path')).toContain('drafts/**');
});

it('no glob and no text take more than linear time for each star', () => {
  const glob = `${'*a'.repeat(50)}b`;
  const text = 'a'.repeat(20_000);
  expect(matches(glob, text, 'text')).toBe(false);
  expect(matches(glob, text, 'path')).toBe(false);
});
