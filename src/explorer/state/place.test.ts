import { describe, expect, it } from 'vitest';
import { addressOfPlace, type Place, placeOf } from './place.ts';

const PLACES: readonly (readonly [string, Place])[] = [
  ['/', { kind: 'home' }],
  ['/?filter=a%20b&sort=-size&layout=columns', { kind: 'home', filter: 'a b', sort: '-size', layout: 'columns' }],
  ['/?layout=grid', { kind: 'home', layout: 'grid' }],
  [
    '/view/docs+file/a%20b.md?as=text%2Fmarkdown&from=end',
    { kind: 'resource', uri: 'docs+file:///a%20b.md', as: 'text/markdown', from: 'end' },
  ],
  ['/view?uri=memo%3Ax%3Fy%3D1', { kind: 'resource', uri: 'memo:x?y=1' }],
  ['/view?uri=javascript%3Aalert(1)', { kind: 'resource', uri: 'javascript:alert(1)' }],
  ['/search?q=carriage%20clock', { kind: 'search', words: 'carriage clock' }],
  ['/?tool=read', { kind: 'tool', name: 'read' }],
  ['/?template=docs%2Bfile%3A%2F%2F%2F%7B%2Bpath%7D', { kind: 'template', name: 'docs+file:///{+path}' }],
];

const defined = (place: Place | undefined): unknown => JSON.parse(JSON.stringify(place ?? null));

describe('a place', () => {
  it.each(PLACES)('has the address %s, and comes back from it', (address, place) => {
    expect(addressOfPlace(place)).toBe(address);
    expect(defined(placeOf(new URL(address, 'http://localhost')))).toEqual(place);
  });

  it('is undefined for an address that is not a page', () => {
    for (const path of ['/raw/docs+file/a', '/mcp', '/explorer/0/island.js'])
      expect(placeOf(new URL(path, 'http://localhost'))).toBeUndefined();
  });
});
