import { describe, expect, it } from 'vitest';
import { historyOf } from './history.ts';

const _meta = { 'vitrine/git': { hash: 'a' } };

describe('the history of a file', () => {
  it.each([
    ['restoration+git:///HEAD/a/b.md', 'restoration+git:///', 'HEAD', 'a/b.md'],
    ['git:///branches/try~2Fspring/b.md', 'git:///', 'branches/try~2Fspring', 'b.md'],
    ['up+shop+git:///tags/v1.0/b%20c.md', 'up+shop+git:///', 'tags/v1.0', 'b%20c.md'],
    ['git:///commits/0a1b/b.md', 'git:///', 'commits/0a1b', 'b.md'],
  ])('of %s is below its repository', (uri, root, revision, path) => {
    const history = historyOf({ uri, _meta });
    expect(history?.log).toBe(`${root}log/${revision}/${path}`);
    expect(history?.blame).toBe(`${root}blame/${revision}/${path}`);
    expect(history?.change('c0')).toBe(`${root}diff/commits/c0/${path}`);
    expect(history?.after('c0')).toBe(`${root}commits/c0/${path}`);
    expect(history?.since('c0')).toBe(`${root}compare/commits/c0/${revision}/${path}`);
  });

  it.each([
    'git:///HEAD',
    'git:///commit/0a1b',
    'git:///log/HEAD/a.md',
    'docs+file:///HEAD/a.md',
    'git://host/HEAD/a.md',
  ])('does not exist for %s', (uri) => {
    expect(historyOf({ uri, _meta })).toBeUndefined();
  });

  it('does not exist for another resource with such a name', () => {
    expect(historyOf({ uri: 'git:///HEAD/a.md' })).toBeUndefined();
  });
});
