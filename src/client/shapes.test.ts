import { describe, expect, it } from 'vitest';
import { ancestorsOf, identityOf, resourceIn } from './shapes.ts';

it.each([
  ['x:///a/', 'x:///a'],
  ['x:///a//', 'x:///a'],
  ['x:///', 'x:///'],
  ['x:/', 'x:/'],
  ['https://host/', 'https://host'],
  ['x:///%c3%a4', 'x:///%C3%A4'],
])('%s is the same as %s', (uri, identity) => {
  expect(identityOf(uri)).toBe(identity);
});

describe('the containers that a URI may be in', () => {
  it.each([
    ['x:///a/b/c', ['x:///a/b', 'x:///a', 'x://', 'x:///']],
    ['x:///a/b/', ['x:///a', 'x://', 'x:///']],
    ['memo:a/b', ['memo:a', 'memo:a/']],
    ['urn:a:b', []],
    ['x:///', ['x://', 'x:///'].slice(2)],
  ])('of %s are %j', (uri, expected) => {
    expect([...ancestorsOf(uri)].filter((each) => each !== uri)).toEqual(expected);
  });

  it('are limited in number, for a URI of many slashes', () => {
    expect([...ancestorsOf(`x:${'/'.repeat(60_000)}a`)].length).toBeLessThan(200);
  });
});

it('a missing name is taken from the URI, however long it is', () => {
  expect(resourceIn({ uri: 'x:///a/b%20c/' })).toEqual({ uri: 'x:///a/b%20c/', name: 'b c' });
  expect(resourceIn({ uri: 'x:///' })).toEqual({ uri: 'x:///', name: 'x:///' });
  expect(resourceIn({ uri: `x:${'/'.repeat(60_000)}a` })?.name).toBe('a');
  expect(resourceIn({ uri: 7 })).toBeUndefined();
  expect(resourceIn([])).toBeUndefined();
});
