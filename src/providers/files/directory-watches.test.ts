/** Shared watches on directories: how many there are, and that each one follows the path to a new directory. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../../test/e2e/folders.ts';
import { until, within } from '../../../test/e2e/waiting.ts';
import { type Hands, startHands } from '../../../test/security/hands.ts';
import { SILENT } from '../../core/context.ts';
import { createDirectoryWatches, type DirectoryEvent, type DirectoryWatches } from './directory-watches.ts';

let hands: Hands;

beforeAll(async () => {
  hands = await startHands();
});

afterAll(() => hands[Symbol.asyncDispose]());

interface Place extends AsyncDisposable {
  readonly folder: Folder;
  readonly directories: DirectoryWatches;
}

async function watched(files: Readonly<Record<string, string>>): Promise<Place> {
  const folder = await temporaryFolder(files);
  const directories = createDirectoryWatches(folder.at('root'), () => SILENT);
  return {
    folder,
    directories,
    async [Symbol.asyncDispose]() {
      await directories.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const ignore = (): void => {};

/** Collects events, and waits for the event of a name. */
interface Collected {
  readonly listener: (event: DirectoryEvent) => void;
  has(name: string): boolean;
  until(name: string): Promise<void>;
}

function collect(): Collected {
  const events: DirectoryEvent[] = [];
  return {
    listener: (event) => void events.push(event),
    has: (name) => events.some((event) => event.name === name),
    async until(name) {
      await until(() => this.has(name), `an event of ${name}`);
    },
  };
}

describe('watches on directories', () => {
  it('are one for each directory and each of its ancestors, however many listeners there are', async () => {
    await using place = await watched({ 'root/a/b/': '', 'root/c/': '' });
    const handles = await Promise.all([
      place.directories.watch(['a', 'b'], ignore),
      place.directories.watch(['a', 'b'], ignore),
      place.directories.watch(['a'], ignore),
      place.directories.watch(['c'], ignore),
    ]);
    expect(place.directories.size).toBe(4);
    const [first, second, third, fourth] = handles;
    await first?.[Symbol.asyncDispose]();
    expect(place.directories.size).toBe(4);
    await second?.[Symbol.asyncDispose]();
    expect(place.directories.size).toBe(3);
    await Promise.all([
      third?.[Symbol.asyncDispose](),
      third?.[Symbol.asyncDispose](),
      fourth?.[Symbol.asyncDispose](),
    ]);
    expect(place.directories.size).toBe(0);
  });

  it('keep the other listeners when one is removed twice', async () => {
    await using place = await watched({ 'root/a/': '' });
    const seen = collect();
    const first = await place.directories.watch(['a'], ignore);
    await place.directories.watch(['a'], seen.listener);
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    await hands.do(['writeFile', place.folder.at('root/a/new'), '']);
    await seen.until('new');
  });

  it('begin again while the last listener is removed', async () => {
    await using place = await watched({ 'root/a/': '' });
    for (let round = 0; round < 50; round++) {
      const going = await place.directories.watch(['a'], ignore);
      const [, coming] = await Promise.all([going[Symbol.asyncDispose](), place.directories.watch(['a'], ignore)]);
      expect(place.directories.size).toBe(2);
      await coming[Symbol.asyncDispose]();
      expect(place.directories.size).toBe(0);
    }
  });

  it('are refused after they were closed', async () => {
    await using place = await watched({ 'root/a/': '' });
    await place.directories.close();
    await expect(place.directories.watch(['a'], ignore)).rejects.toMatchObject({ code: 'unavailable' });
    expect(place.directories.size).toBe(0);
  });

  it('report whether a name came or went, or only its content changed', async () => {
    await using place = await watched({ 'root/a.txt': '' });
    const events: DirectoryEvent[] = [];
    await place.directories.watch([], (event) => events.push(event));
    await hands.do(['appendFile', place.folder.at('root/a.txt'), 'x']);
    await until(() => events.length > 0, 'the edit');
    expect(new Set(events.map((event) => event.structural))).toEqual(new Set([false]));
    await hands.do(['rename', place.folder.at('root/a.txt'), place.folder.at('root/b.txt')]);
    await until(() => events.some((event) => event.name === 'b.txt' && event.structural), 'the new name');
    expect(events).toContainEqual({ name: 'a.txt', structural: true });
  });

  it('move to a new directory that gets the inode of the old one', async () => {
    await using place = await watched({ 'root/a/': '' });
    const at = place.folder.at('root/a');
    for (let round = 0; round < 20; round++) {
      const seen = collect();
      const handle = await place.directories.watch(['a'], seen.listener);
      await hands.do(['rmdir', at], ['mkdir', at]);
      // The first names may be created before the watch.
      await until(async () => {
        await hands.do(['writeFile', `${at}/mark`, ''], ['unlink', `${at}/mark`]);
        return seen.has('mark');
      }, 'an event in the new directory');
      await handle[Symbol.asyncDispose]();
    }
  });
});

describe('the root', () => {
  it('may be missing for several looks, and is watched when it is back', async () => {
    await using place = await watched({ 'root/a/': '' });
    const root = place.folder.at('root');
    const seen = collect();
    let all = 0;
    await place.directories.watch(['a'], (event) => {
      if (event.name === undefined) all++;
      seen.listener(event);
    });
    await hands.do(['rename', root, place.folder.at('away')]);
    await until(() => all > 0, 'its going');
    // The root is looked for every second, so the third look finds it.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const before = all;
    await hands.do(['mkdir', `${root}/a`, { recursive: true }]);
    await until(() => all > before, 'its return');
    await hands.do(['writeFile', `${root}/a/new`, '']);
    await seen.until('new');
  });

  it('may be created after its watch', async () => {
    await using place = await watched({ 'other/': '' });
    const seen = collect();
    await within(place.directories.watch([], seen.listener), 'a watch on what is not there');
    await hands.do(['mkdir', place.folder.at('root')]);
    await until(async () => {
      await hands.do(['writeFile', place.folder.at('root/new'), ''], ['unlink', place.folder.at('root/new')]);
      return seen.has('new');
    }, 'an event in the root');
  });
});
