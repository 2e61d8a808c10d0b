/** Changes of the default list, in any directory of the tree, new ones too (RES-4). */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/e2e/waiting.ts';
import { type Hands, startHands } from '../../../test/security/hands.ts';
import { type Quiet, startQuiet } from '../../../test/security/quiet.ts';
import { serveFiles } from '../../../test/security/served.ts';
import { createContext } from '../../core/context.ts';

let hands: Hands;
let quiet: Quiet;

beforeAll(async () => {
  hands = await startHands();
  quiet = await startQuiet();
});

afterAll(async () => {
  await hands[Symbol.asyncDispose]();
  await quiet[Symbol.asyncDispose]();
});

describe('a watch of the list reports [RES-4]', () => {
  it.each([
    ['a new file', [['writeFile', 'new.txt', '']]],
    ['a new file deep in the tree', [['writeFile', 'x/y/z/new.txt', '']]],
    ['a deleted file', [['unlink', 'x/y/z/a.txt']]],
    ['a renamed file', [['rename', 'x/y/z/a.txt', 'x/y/z/b.txt']]],
    ['a new folder', [['mkdir', 'x/new']]],
    ['a deleted folder with everything in it', [['rm', 'x', { recursive: true }]]],
    ['a moved folder', [['rename', 'x/y/z', 'z']]],
    ['a new link', [['symlink', 'x', 'link']]],
  ] as const)('%s', async (_what, steps) => {
    await using place = await serveFiles({ 'x/y/z/a.txt': '' });
    await using watching = await place.served.watch();
    const within = (word: unknown, index: number): unknown =>
      typeof word === 'string' && (index > 0 || !/^(symlink)$/.test(word)) && word !== ''
        ? place.folder.at(word)
        : word;
    await watching.told(() =>
      hands.do(...steps.map(([operation, ...args]) => [operation, ...args.map(within)] as const)),
    );
    expect(watching.events.at(-1)).toEqual({ kind: 'list-changed' });
  });

  it('changes in new folders, however deep', async () => {
    await using place = await serveFiles({ 'a.txt': '' });
    await using watching = await place.served.watch();
    const { at } = place.folder;
    for (const path of ['n1', 'n1/n2/n3/n4', 'n1/n2/other/n5']) {
      await watching.told(() => hands.do(['mkdir', at(path), { recursive: true }]), `the coming of ${path}`);
      await until(async () => {
        await quiet.settled();
        const before = watching.events.length;
        await hands.do(['writeFile', at(path, 'new.txt'), ''], ['unlink', at(path, 'new.txt')]);
        await quiet.settled();
        return watching.events.length > before;
      }, `a change in ${path}`);
    }
  });

  it('a file that is created in a new folder before the folder is watched', async () => {
    await using place = await serveFiles({ 'a.txt': '' });
    const { at } = place.folder;
    await using watching = await place.served.watch(undefined, ({ length }) => {
      if (length === 1) writeFileSync(at('new/b.txt'), '');
    });
    await watching.told(() => hands.do(['mkdir', at('new')]));
    await until(() => watching.events.length > 1, 'what came into the new folder');
    expect(await place.served.names('file:///new')).toEqual(['b.txt']);
  });

  it('changes in a folder that was deleted and created again, as a checkout of another branch does', async () => {
    await using place = await serveFiles({ 'x/y/a.txt': '' });
    await using watching = await place.served.watch();
    const { at } = place.folder;
    for (let round = 0; round < 5; round++) {
      await watching.told(() =>
        hands.do(
          ['rm', at('x'), { recursive: true }],
          ['mkdir', at('x/y'), { recursive: true }],
          ['writeFile', at('x/y/a.txt'), ''],
        ),
      );
      await until(async () => {
        await quiet.settled();
        const before = watching.events.length;
        await hands.do(['writeFile', at('x/y/new.txt'), ''], ['unlink', at('x/y/new.txt')]);
        await quiet.settled();
        return watching.events.length > before;
      }, `a change after round ${round}`);
    }
  });

  it('an edit of a .gitignore', async () => {
    await using place = await serveFiles({ 'x/a.log': '', 'x/.gitignore': '' }, { gitignore: true });
    await using watching = await place.served.watch();
    await watching.told(() => hands.do(['appendFile', place.folder.at('x/.gitignore'), '*.log\n']));
    expect(await place.served.names('file:///x')).toEqual([]);
  });
});

describe('a watch of the list does not report', () => {
  it('edits, and hidden files that come and go', async () => {
    await using place = await serveFiles(
      { 'a.txt': '', 'x/b.txt': '', '.git/HEAD': '', 'node_modules/m/': '' },
      {
        gitignore: true,
      },
    );
    await place.folder.write('.gitignore', 'node_modules/\n');
    await using watching = await place.served.watch();
    const { at } = place.folder;
    await hands.do(
      ['appendFile', at('a.txt'), 'more'],
      ['utimes', at('x/b.txt'), 1, 1],
      ['writeFile', at('.hidden'), ''],
      ['writeFile', at('x/.swp'), ''],
      ['writeFile', at('server.pem'), ''],
      ['writeFile', at('.git/index.lock'), ''],
      ['rename', at('.git/index.lock'), at('.git/index')],
      ['writeFile', at('node_modules/m/new.js'), ''],
    );
    await quiet.settled();
    expect(watching.events).toEqual([]);
  });
});

describe('a storm', () => {
  it('of 5,000 files ends with a report after the last one', async () => {
    await using place = await serveFiles({ 'x/a.txt': '' });
    let listed = 0;
    await using watching = await place.served.watch();
    const { at } = place.folder;
    await hands.do(['createMany', at('x'), 'new-', 5_000]);
    await until(async () => {
      const before = watching.events.length;
      await quiet.settled();
      listed = (await place.served.list('file:///x', 1_000)).length;
      return before > 0 && watching.events.length === before;
    }, 'the end of the storm');
    expect(listed).toBe(5_001);
    await watching.told(() => hands.do(['mkdir', at('x/after')]), 'a change after the storm');
  });

  it('of 5,000 files that exist before the first look is reported as a few changes', async () => {
    await using place = await serveFiles({ 'x/a.txt': '' });
    await using watching = await place.served.watch();
    for (let n = 0; n < 5_000; n++) writeFileSync(place.folder.at(`x/new-${n}`), '');
    await until(() => watching.events.length > 0, 'a change');
    await quiet.settled();
    expect(watching.events.length).toBeLessThan(50);
  });
});

describe('a tree with more folders than are watched', () => {
  it('is logged once as watched in part, however many folders are added', async () => {
    await using place = await serveFiles({ 'a/a/': '', 'b/b/': '', 'c/c/': '' }, { maxWatchedDirectories: 4 });
    const said: string[] = [];
    const log = { ...createContext().log, info: (message: string) => void said.push(message) };
    let told = 0;
    await using _watch = await place.served.provider.watch?.(undefined, () => void told++, createContext({ log }));
    for (let count = 1; count <= 3; count++) {
      const before = told;
      await hands.do(['mkdir', place.folder.at(`new${count}`)]);
      await until(async () => told > before, 'a change of the list');
    }
    expect(said).toEqual(['the default list is watched in part']);
  });

  it('is watched from the top, and changes there are reported', async () => {
    await using place = await serveFiles({ 'a/a/': '', 'b/b/': '', 'c/c/': '' }, { maxWatchedDirectories: 4 });
    await using watching = await place.served.watch();
    const { at } = place.folder;
    await hands.do(['mkdir', at('a/a/unseen')]);
    await quiet.settled();
    expect(watching.events).toEqual([]);
    await watching.told(() => hands.do(['mkdir', at('c/seen')]));
  });
});
