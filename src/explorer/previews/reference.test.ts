import { describe, expect, it } from 'vitest';
import { resolved } from './reference.ts';

const BASE = 'docs+file:///guide/a.md';

describe('a reference of a document', () => {
  it.each([
    ['b.md', 'docs+file:///guide/b.md'],
    ['../b.md#part', 'docs+file:///b.md'],
    ['../../../../b', 'docs+file:///b'],
    ['/b c.md', 'docs+file:///b%20c.md'],
    ['./ä.md?x', 'docs+file:///guide/%C3%A4.md'],
  ])('%s leads to %s', (href, uri) => {
    expect(resolved(href, BASE)).toBe(uri);
  });

  it.each([
    'javascript:alert(1)',
    'JAVASCRIPT:x',
    'data:text/html,x',
    '//elsewhere.test/x',
    '\\\\elsewhere',
    '#part',
    '',
  ])('%s leads nowhere', (href) => {
    expect(resolved(href, BASE)).toBeUndefined();
    expect(resolved('b.md', 'memo:x')).toBeUndefined();
  });
});
