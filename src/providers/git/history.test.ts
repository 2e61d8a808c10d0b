/** Histories that are read page by page, while the branch moves. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { codeOf, type Scene, scene } from '../../testing/git-scene.ts';
import { listAll, urisOf } from '../../testing/observe.ts';

const ctx = createContext();

describe('a history in pages', () => {
  let place: Scene;
  /** The commits that changed `a.txt`, and all commits; newest first. */
  let ofPath: string[];
  let all: string[];
  beforeEach(async () => {
    place = await scene();
    [ofPath, all] = [[], []];
    for (let number = 1; number <= 5; number++) {
      ofPath.unshift(await changed('a.txt', `${number}`));
      all.unshift(await changed('b.txt', `${number}`), ofPath[0] ?? '');
    }
  });
  afterEach(() => place[Symbol.asyncDispose]());

  async function changed(name: string, content: string): Promise<string> {
    await place.write(name, `${content}\n`);
    return place.commit(`${name} ${content}`);
  }

  /** Merges a branch that began three commits ago, so that its commits come between older ones. */
  async function merged(): Promise<void> {
    place.git('checkout', '--quiet', '-b', 'side', 'HEAD~3');
    await changed('c.txt', 'side');
    place.git('checkout', '--quiet', 'main');
    place.git('merge', '--quiet', '--no-ff', '-m', 'Merge', 'side');
    await changed('a.txt', 'merged');
  }

  const MOVES: readonly [what: string, move: (times: number) => Promise<unknown>][] = [
    ['a commit that changes the path', (times) => changed('a.txt', `new ${times}`)],
    ['a commit that does not', (times) => changed('b.txt', `new ${times}`)],
    [
      'two commits, one of which removes the path',
      async (times) => {
        if (times === 1) place.git('rm', '--quiet', 'a.txt');
        place.commit(`Without ${times}`);
        return changed('b.txt', `new ${times}`);
      },
    ],
    ['a merge of older commits', async (times) => (times === 1 ? merged() : changed('a.txt', `later ${times}`))],
  ];

  it.each(MOVES)('has each commit once, as the branch was at the first page, after %s', async (_, move) => {
    const provider = await place.open();
    const lists: readonly [uri: string, before: () => readonly string[]][] = [
      ['git:///log/HEAD/a.txt', () => ofPath.map((oid) => `git:///commit/commits/${oid}`)],
      ['git:///log/branches/main/a.txt', () => ofPath.map((oid) => `git:///commit/commits/${oid}`)],
      ['git:///log/HEAD', () => all.map((oid) => `git:///commit/commits/${oid}`)],
      ['git:///commits', () => all.map((oid) => `git:///commits/${oid}`)],
    ];
    for (const limit of [1, 4]) {
      for (const [uri, before] of lists) {
        const start = place.git('rev-parse', 'HEAD');
        let moves = 0;
        const found = await listAll(provider, uri, limit, async () => void (++moves <= 2 && (await move(moves))));
        expect(moves).toBeGreaterThan(0);
        expect(urisOf(found)).toEqual(before());
        place.git('reset', '--quiet', '--hard', start);
        if (place.git('branch', '--list', 'side') !== '') place.git('branch', '--quiet', '-D', 'side');
      }
    }
  });

  it('has the new commits if it is listed again without a cursor', async () => {
    const provider = await place.open();
    const log = 'git:///log/HEAD/a.txt';
    const { nextCursor } = await provider.list(log, { limit: 2 }, ctx);
    const newest = await changed('a.txt', 'new');
    const uris = ofPath.map((oid) => `git:///commit/commits/${oid}`);
    const second = await provider.list(log, { limit: 2, cursor: nextCursor }, ctx);
    expect(urisOf(second.resources)).toEqual(uris.slice(2, 4));
    expect(urisOf(await listAll(provider, log, 2))).toEqual([`git:///commit/commits/${newest}`, ...uris]);
  });

  it('has no commits any more that the branch has left behind, and each of the others once', async () => {
    const first = await place.open();
    const { nextCursor } = await first.list('git:///log/HEAD/a.txt', { limit: 1 }, ctx);
    place.git('reset', '--quiet', '--hard', 'HEAD~5');
    await changed('a.txt', 'other');
    // The first provider may take commits as visible for some seconds more.
    const provider = await place.open();
    const [, left = '', ...others] = ofPath;
    const rest: string[] = [];
    for (let cursor = nextCursor; cursor !== undefined; ) {
      const page = await provider.list('git:///log/HEAD/a.txt', { limit: 1, cursor }, ctx);
      rest.push(...urisOf(page.resources));
      cursor = page.nextCursor;
    }
    expect(rest).toEqual(others.map((oid) => `git:///commit/commits/${oid}`));
    expect(await codeOf(provider.metadata(`git:///commit/commits/${left}`, ctx))).toBe('not-found');
  });
});
