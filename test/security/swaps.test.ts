/**
 * The provider opens exactly the file that it checked. Another program replaces files and folders by links to the outside, and puts them
 * back, thousands of times. Nothing of the outside is ever seen (SEC-RES-1).
 */
import { utimes } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import { ResourceError } from '../../src/core/errors.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { until } from '../e2e/waiting.ts';
import { type Hands, type Step, startHands } from './hands.ts';
import { startQuiet } from './quiet.ts';
import { MARKER } from './scene.ts';
import { type Served, serve } from './served.ts';

let hands: Hands;

beforeAll(async () => {
  hands = await startHands();
});

afterAll(() => hands[Symbol.asyncDispose]());

/** The fewest operations of one race, and the most, until both outcomes have occurred. */
const OPERATIONS = 3_000;
const MAX_OPERATIONS = 60_000;

/** The text of the files outside, whose size no file inside has, and their time. */
const SECRET = `${MARKER}${'s'.repeat(7_777 - MARKER.length)}`;
const SECRET_TIME = new Date('2001-02-03T04:05:06.000Z');

const INSIDE_TEXT = 'inside';

async function makeFolder(): Promise<Folder> {
  const outside = ['a.txt', 'b.txt', 'sub/a.txt', `${MARKER}.txt`, `sub/${MARKER}.txt`, `${MARKER}/a.txt`];
  const folder = await temporaryFolder({
    'root/x/a.txt': INSIDE_TEXT,
    'root/x/b.txt': INSIDE_TEXT,
    'root/x/sub/a.txt': INSIDE_TEXT,
    ...Object.fromEntries(outside.map((path) => [`root-outside/${path}`, SECRET])),
    ...Object.fromEntries(outside.map((path) => [`root/.hidden/${path}`, SECRET])),
  });
  for (const path of outside) {
    await utimes(folder.at('root-outside', path), SECRET_TIME, SECRET_TIME);
    await utimes(folder.at('root/.hidden', path), SECRET_TIME, SECRET_TIME);
  }
  return folder;
}

/** Steps that put a link in place of a file or folder, and that put it back. */
function dance(path: string, target: string): readonly Step[] {
  return [
    ['rename', path, `${path}.real`],
    ['symlink', target, path],
    ['unlink', path],
    ['rename', `${path}.real`, path],
    // The link is made beforehand, so the path is missing for a shorter time.
    ['symlink', target, `${path}.link`],
    ['rename', path, `${path}.real`],
    ['rename', `${path}.link`, path],
    ['unlink', path],
    ['rename', `${path}.real`, path],
  ];
}

interface Seen {
  refused: number;
  answered: number;
}

/** Runs operations during the steps. Every answer has to be of the inside. */
async function race(
  served: Served,
  steps: readonly Step[],
  operations: readonly (() => Promise<unknown>)[],
  least = OPERATIONS,
): Promise<Seen> {
  const seen: Seen = { refused: 0, answered: 0 };
  const dancing = await hands.repeat(...steps);
  try {
    for (let count = 0; count < least || seen.refused * seen.answered === 0; count += operations.length) {
      if (count > MAX_OPERATIONS) throw new Error(`no race took place: ${JSON.stringify(seen)}`);
      await Promise.all(
        operations.map(async (operation) => {
          try {
            assertInside(await operation());
            seen.answered++;
          } catch (error) {
            if (!(error instanceof ResourceError)) throw error;
            expect(error.code).toMatch(/^(?:not-found|unavailable|not-listable)$/);
            seen.refused++;
          }
        }),
      );
    }
  } finally {
    expect(await dancing.stop()).toBeGreaterThan(10);
  }
  expect((await served.metadata('file:///')).name).toBe('root');
  return seen;
}

/** Checks that no content, name, size or time in the answer is of the outside. */
function assertInside(answer: unknown): void {
  const text = JSON.stringify(answer);
  expect(text).not.toContain(MARKER);
  expect(text).not.toContain(String(SECRET.length));
  expect(text).not.toContain(SECRET_TIME.toISOString());
}

/** All operations on a path and the paths below it. */
function questions(served: Served, folder: string, file: string): readonly (() => Promise<unknown>)[] {
  return [
    () => served.text(`file:///${file}`),
    () => served.text(`file:///${file}`, { range: { offset: 0, length: 100 } }),
    () => served.metadata(`file:///${file}`),
    () => served.list(`file:///${folder}`, 2),
    () => served.text(`file:///${folder}`),
    () => served.metadata(`file:///${folder}`),
    () => served.complete(`${folder}/`),
  ];
}

async function search(served: Served, folder: string, pattern: string | undefined): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const query = { pattern, literal: true, glob: '*.txt', uri: `file:///${folder}` };
  for await (const match of served.provider.search?.(query, createContext()) ?? []) found.push(match);
  return found;
}

describe('while a link to the outside is swapped in [SEC-RES-1] (CVE-2025-53109)', () => {
  it.each<[string, string, string, string, string]>([
    ['for a folder', 'root/x', '../root-outside', 'x', 'x/a.txt'],
    ['for a folder, with an absolute target', 'root/x', 'OUTSIDE', 'x', 'x/a.txt'],
    ['for the folder above', 'root/x', '../root-outside', 'x/sub', 'x/sub/a.txt'],
    ['for a file', 'root/x/a.txt', '../../root-outside/a.txt', 'x', 'x/a.txt'],
    ['for the root itself', 'root', 'root-outside', 'sub', 'a.txt'],
    ['to what is hidden, for a folder', 'root/x', '.hidden', 'x', 'x/a.txt'],
    ['to what is hidden, for a file', 'root/x/a.txt', '../.hidden/a.txt', 'x', 'x/a.txt'],
  ])('%s, nothing of the outside is seen', async (_what, path, target, asked, file) => {
    await using folder = await makeFolder();
    await folder.write('root/a.txt', INSIDE_TEXT);
    await folder.write('root/sub/a.txt', INSIDE_TEXT);
    await using served = await serve({ path: folder.at('root') });
    const steps = dance(folder.at(path), target.replace('OUTSIDE', folder.at('root-outside')));
    const seen = await race(served, steps, questions(served, asked, file));
    expect(seen.answered).toBeGreaterThan(0);
    expect(await served.text(`file:///${file}`)).toBe(INSIDE_TEXT);
  });

  it('for a folder with rules of its own, nothing of the outside is seen', async () => {
    await using folder = await makeFolder();
    await folder.write('root/x/.gitignore', 'b.txt\n');
    await folder.write('root-outside/.gitignore', `!b.txt\na.txt\n# ${MARKER}\n`);
    await using served = await serve({ path: folder.at('root'), gitignore: true });
    await race(served, dance(folder.at('root/x'), '../root-outside'), questions(served, 'x', 'x/a.txt'));
  });

  it('again and again, a page continues where the one before ended, inside', async () => {
    await using folder = await makeFolder();
    for (let index = 0; index < 50; index++) await folder.write(`root/x/file-${index}`, INSIDE_TEXT);
    for (let index = 0; index < 50; index++) await folder.write(`root-outside/${MARKER}-${index}`, SECRET);
    await using served = await serve({ path: folder.at('root') });
    await race(served, dance(folder.at('root/x'), '../root-outside'), [
      () => served.list('file:///x', 7),
      () => served.list('file:///x', 20),
    ]);
  });

  it('searches find nothing of the outside', async () => {
    await using folder = await makeFolder();
    await using served = await serve({ path: folder.at('root') });
    const ask = [
      () => search(served, 'x', undefined),
      () => search(served, 'x/sub', undefined),
      () => search(served, '', 's'),
    ];
    await race(served, dance(folder.at('root/x'), '../root-outside'), ask, 150);
  });

  it('watches report nothing that happens outside', async () => {
    await using folder = await makeFolder();
    await using quiet = await startQuiet();
    await using served = await serve({ path: folder.at('root') });
    await using file = await served.watch('file:///x/a.txt');
    await using directory = await served.watch('file:///x');
    await using tree = await served.watch();
    const watches = [file, directory, tree];
    const dancing = await hands.repeat(...dance(folder.at('root/x'), '../root-outside'));
    await until(() => watches.every(({ events }) => events.length > 20), 'events of the dance');
    await dancing.stop();
    // The steps have stopped with the link in place, so everything behind it happens outside.
    await hands.do(
      ['rename', folder.at('root/x'), folder.at('root/.real')],
      ['symlink', '../root-outside', folder.at('root/x')],
    );
    const count = (): number => watches.reduce((sum, { events }) => sum + events.length, 0);
    await until(async () => {
      await quiet.settled();
      const before = count();
      await hands.do(
        ['appendFile', folder.at('root-outside/a.txt'), 'x'],
        ['writeFile', folder.at('root-outside/new.txt'), 'x'],
        ['unlink', folder.at('root-outside/new.txt')],
      );
      await quiet.settled();
      return count() === before;
    }, 'silence about the outside');
    for (const event of watches.flatMap(({ events }) => events)) assertInside(event);
    const before = file.events.length;
    await hands.do(['unlink', folder.at('root/x')], ['rename', folder.at('root/.real'), folder.at('root/x')]);
    await until(() => file.events.length > before, 'the return of the folder');
    await quiet.settled();
    await file.told(() => hands.do(['appendFile', folder.at('root/x/a.txt'), '!']), 'an edit after all that');
  });
});
