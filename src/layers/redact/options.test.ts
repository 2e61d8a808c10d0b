import { describe, expect, it } from 'vitest';
import { ResourceError } from '../../core/errors.ts';
import { concerning } from './options.ts';

/** Names of folders that are also glob patterns, as canonical URIs contain them. */
const NAMES = [
  'a (old)',
  'a)',
  'a^b',
  'a+b',
  '!a',
  'a!b',
  'a[1]',
  '{a,b}',
  'a{b',
  'größe',
  '書類',
  '.a',
  'a|b',
  "a'b",
  'a@(b)',
];

const uriOf = (...names: readonly string[]): string =>
  `docs+file:///${names.map((name) => encodeURIComponent(name).replace(/%2[BC]|%40|%7C/g, decodeURIComponent)).join('/')}`;

/** The name as a glob, with the special characters escaped. */
const escaped = (name: string): string => name.replace(/[*?[\]{}\\]/g, '\\$&').replace(/^!/, '\\!');

describe('the scanned resources', () => {
  it.each(NAMES)('uris matches a folder named %s, and no other', (name) => {
    const concerns = concerning([`docs+file:///${escaped(name)}/**`], undefined);
    expect(concerns(uriOf(name, 'x.txt'))).toBe(true);
    expect(concerns(uriOf(name.normalize('NFD'), 'deep', 'x.txt'))).toBe(true);
    expect(concerns(uriOf('other', 'x.txt'))).toBe(false);
  });

  it.each(NAMES)('except matches a folder named %s, and no other', (name) => {
    const concerns = concerning(undefined, [`docs+file:///${escaped(name)}/**`]);
    expect(concerns(uriOf(name, 'x.txt'))).toBe(false);
    expect(concerns(uriOf('other', 'x.txt'))).toBe(true);
  });

  it('uris includes every possible match, except excludes only sure ones', () => {
    expect(concerning(['docs+file:///a[1]/**'], undefined)(uriOf('a[1]', 'x'))).toBe(true);
    expect(concerning(['docs+file:///a[1]/**'], undefined)(uriOf('a1', 'x'))).toBe(true);
    expect(concerning(undefined, ['docs+file:///a[1]/**'])(uriOf('a[1]', 'x'))).toBe(true);
    expect(concerning(undefined, ['docs+file:///a[1]/**'])(uriOf('a1', 'x'))).toBe(false);
  });

  it('except does not exclude a URI that may lead to another resource', () => {
    const concerns = concerning(undefined, ['up+file:///public/**']);
    expect(concerns('up+file:///public/a.txt')).toBe(false);
    for (const way of [
      '../secret',
      '%2e%2e/secret',
      '.%2E/secret',
      'x%2f..%2fsecret',
      '..',
      '%252e%252e/x',
      '/secret',
      '..\\secret',
    ])
      expect(concerns(`up+file:///public/${way}`), way).toBe(true);
  });

  it('an invalid glob is refused', () => {
    for (const [uris, except] of [
      [['a**b'], undefined],
      [undefined, ['docs+file:///{a/**']],
    ] as const)
      expect(() => concerning(uris, except)).toThrow(ResourceError);
  });
});
