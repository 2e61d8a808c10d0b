import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import { uriGlobs } from './uri-globs.ts';

const URIS = [
  'docs+file:///a.md',
  'docs+file:///a/b.md',
  'docs+file:///a',
  'docs+file:///',
  'docs+file://',
  'docs+file:///ab/c',
  'docs+file:///a.b/c',
  'docs+file:///+(a)',
  'docs+file:///aa',
  'wiki+https://x.example/a?q=1#f',
  'urn:isbn:1',
  'urn:isbn:(1)',
];

const GLOBS = [
  ...URIS,
  '**',
  '*',
  'docs+file:///**',
  'docs+file:///a/**',
  'docs+file:///a/*',
  'docs+file:///?',
  'docs+file:///+(a)',
  'docs+file:///@(a|ab)/**',
  'docs+file:///{a,ab}/**',
  'docs+file:///[ab]*',
  'docs+file:///a|urn:isbn:1',
  'docs+file:///!(a)',
  'docs+file:///a+',
  'docs+file:///a.?d',
  '{docs,wiki}+*',
  '*+file:///a.md',
  '!docs+file:///a.md',
  './docs+file:///a.md',
  '.',
  'urn:**',
  'urn:isbn:\\(1\\)',
];

describe('globs over URIs', () => {
  it.each(GLOBS)('match what picomatch says: %s', (glob) => {
    const expected = picomatch(glob, { dot: true, nonegate: true });
    const matches = uriGlobs([glob]);
    const own = URIS.filter((uri) => matches?.(uri) === true);
    expect(own).toEqual(URIS.filter((uri) => expected(uri)));
  });

  it.each([
    ['docs+file:///a**', 'docs+file:///a*{,/**}'],
    ['{docs,wiki}+**', '{docs,wiki}+*{,/**}'],
    ['docs+**', 'docs+*{,/**}'],
  ])('match what begins so at the end of a name: %s', (glob, meant) => {
    const expected = picomatch(meant, { dot: true, nonegate: true });
    const own = URIS.filter((uri) => uriGlobs([glob])?.(uri) === true);
    expect(own).toEqual(URIS.filter((uri) => expected(uri)));
    expect(own).toContain('docs+file:///a/b.md');
  });

  it('match nothing where there is no URI', () => {
    for (const glob of GLOBS) expect(uriGlobs([glob])?.('')).toBe(false);
  });
});
