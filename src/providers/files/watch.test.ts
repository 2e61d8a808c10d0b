/** Changes of one file or folder that another program makes (RES-4). */
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/e2e/folders.ts';
import { until } from '../../../test/e2e/waiting.ts';
import { startEngine } from '../../../test/security/engine.ts';
import { type Hands, startHands } from '../../../test/security/hands.ts';
import { type Quiet, startQuiet } from '../../../test/security/quiet.ts';
import { refused, serve, serveFiles } from '../../../test/security/served.ts';
import { createContext } from '../../core/context.ts';
import type { ChangeEvent } from '../../core/provider.ts';

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

/** The number of watches that the system holds for this process: one for each watched directory. */
async function systemWatches(): Promise<number> {
  const names = await readdir('/proc/self/fdinfo');
  const infos = await Promise.all(names.map((name) => readFile(`/proc/self/fdinfo/${name}`, 'utf8').catch(() => '')));
  return infos.join('\n').split('inotify wd:').length - 1;
}

describe('a subscription to a file reports [RES-4]', () => {
  it.each([
    ['an edit in place', [['writeFile', 'a.txt', 'new']]],
    ['an append', [['appendFile', 'a.txt', 'more']]],
    ['a truncation', [['truncate', 'a.txt', 1]]],
    ['a change of its time', [['utimes', 'a.txt', 1, 1]]],
    [
      'a replacement by a rename',
      [
        ['writeFile', 'a.txt.tmp', 'new'],
        ['rename', 'a.txt.tmp', 'a.txt'],
      ],
    ],
    [
      'a save by an editor that keeps a backup',
      [
        ['rename', 'a.txt', 'a.txt~'],
        ['writeFile', 'a.txt', 'new'],
        ['unlink', 'a.txt~'],
      ],
    ],
    ['a rename to another name', [['rename', 'a.txt', 'b.txt']]],
    ['a rename of another file to its name', [['rename', 'other.txt', 'a.txt']]],
    ['a deletion', [['unlink', 'a.txt']]],
    [
      'a deletion and a new file',
      [
        ['unlink', 'a.txt'],
        ['writeFile', 'a.txt', 'new'],
      ],
    ],
    [
      'a folder in its place',
      [
        ['unlink', 'a.txt'],
        ['mkdir', 'a.txt'],
      ],
    ],
    [
      'a link in its place',
      [
        ['unlink', 'a.txt'],
        ['symlink', 'other.txt', 'a.txt'],
      ],
    ],
  ] as const)('%s', async (_what, steps) => {
    await using place = await serveFiles({ 'sub/a.txt': 'old', 'sub/other.txt': 'other' });
    await using watching = await place.served.watch('file:///sub/a.txt');
    const within = (word: unknown): unknown =>
      typeof word === 'string' && word.includes('.txt') ? place.folder.at('sub', word) : word;
    await watching.told(() =>
      hands.do(...steps.map(([operation, ...args]) => [operation, ...args.map(within)] as const)),
    );
    expect(watching.events.at(-1)).toEqual({ kind: 'updated', uri: 'file:///sub/a.txt' });
  });

  it('a further change after each replacement', async () => {
    await using place = await serveFiles({ 'a.txt': 'old' });
    await using watching = await place.served.watch('file:///a.txt');
    const at = place.folder.at('a.txt');
    for (let round = 0; round < 5; round++) {
      await watching.told(() => hands.do(['writeFile', `${at}.tmp`, `${round}`], ['rename', `${at}.tmp`, at]));
      await quiet.settled();
      await watching.told(() => hands.do(['appendFile', at, '!']));
      await quiet.settled();
      expect(await place.served.text('file:///a.txt')).toBe(`${round}!`);
    }
  });

  it('that the file is created', async () => {
    await using place = await serveFiles({ 'sub/': '' });
    await using watching = await place.served.watch('file:///sub/later.txt');
    await watching.told(() => hands.do(['writeFile', place.folder.at('sub/later.txt'), 'here']));
    expect(await place.served.text('file:///sub/later.txt')).toBe('here');
  });

  it('that the file is created together with its folders', async () => {
    await using place = await serveFiles({ 'other.txt': '' });
    await using watching = await place.served.watch('file:///x/y/z/later.txt');
    const at = place.folder.at('x/y/z');
    await hands.do(['mkdir', at, { recursive: true }], ['writeFile', `${at}/later.txt`, 'here']);
    await until(() => watching.events.length > 0, 'the coming of the file');
    await quiet.settled();
    await watching.told(() => hands.do(['appendFile', `${at}/later.txt`, '!']));
  });

  it('no changes of its neighbours', async () => {
    await using place = await serveFiles({ 'a.txt': 'a', 'b.txt': 'b', 'ab/a.txt': 'x' });
    await using watching = await place.served.watch('file:///a.txt');
    const { at } = place.folder;
    await hands.do(
      ['writeFile', at('b.txt'), 'new'],
      ['writeFile', at('c.txt'), 'new'],
      ['rename', at('c.txt'), at('d.txt')],
      ['unlink', at('b.txt')],
      ['writeFile', at('ab/a.txt'), 'new'],
    );
    await quiet.settled();
    expect(watching.events).toEqual([]);
  });

  it('nothing after the watch was disposed of, once or twice', async () => {
    await using place = await serveFiles({ 'a.txt': 'a' });
    const watching = await place.served.watch('file:///a.txt');
    await watching[Symbol.asyncDispose]();
    await watching[Symbol.asyncDispose]();
    await hands.do(['writeFile', place.folder.at('a.txt'), 'new']);
    await quiet.settled();
    expect(watching.events).toEqual([]);
  });
});

describe('a subscription to a file outlives a folder on its path', () => {
  it.each(['sub', 'sub/deep', 'sub/deep/er'])('that is deleted and created again: %s', async (gone) => {
    await using place = await serveFiles({ 'sub/deep/er/a.txt': 'one' });
    await using watching = await place.served.watch('file:///sub/deep/er/a.txt');
    const { at } = place.folder;
    for (const content of ['two', 'three']) {
      await hands.do(
        ['rm', at(gone), { recursive: true }],
        ['mkdir', at('sub/deep/er'), { recursive: true }],
        ['writeFile', at('sub/deep/er/a.txt'), content],
      );
      await until(() => watching.events.length > 0, `the return of ${content}`);
      await quiet.settled();
      await watching.told(() => hands.do(['appendFile', at('sub/deep/er/a.txt'), '!']), `an edit after ${content}`);
    }
  });

  it.each(['sub', 'sub/deep', 'sub/deep/er'])('that is missing for a while: %s', async (gone) => {
    await using place = await serveFiles({ 'sub/deep/er/a.txt': 'one' });
    await using watching = await place.served.watch('file:///sub/deep/er/a.txt');
    const { at } = place.folder;
    await watching.told(() => hands.do(['rename', at(gone), at('elsewhere')]), 'its going');
    await quiet.settled();
    expect(await refused(place.served.text('file:///sub/deep/er/a.txt'))).toBe('not-found');
    await watching.told(() => hands.do(['rename', at('elsewhere'), at(gone)]), 'its return');
    await quiet.settled();
    await watching.told(() => hands.do(['appendFile', at('sub/deep/er/a.txt'), '!']), 'an edit after its return');
  });

  it.each(['sub', 'sub/deep', 'sub/deep/er'])('that is renamed away and back at once: %s', async (gone) => {
    await using place = await serveFiles({ 'sub/deep/er/a.txt': 'one' });
    await using watching = await place.served.watch('file:///sub/deep/er/a.txt');
    const { at } = place.folder;
    await hands.do(['rename', at(gone), at('elsewhere')], ['rename', at('elsewhere'), at(gone)]);
    await quiet.settled();
    await watching.told(() => hands.do(['appendFile', at('sub/deep/er/a.txt'), '!']));
  });

  it('that is replaced by another folder', async () => {
    await using place = await serveFiles({ 'sub/a.txt': 'one', 'new/a.txt': 'two' });
    await using watching = await place.served.watch('file:///sub/a.txt');
    const { at } = place.folder;
    await watching.told(() => hands.do(['rename', at('sub'), at('old')], ['rename', at('new'), at('sub')]));
    await quiet.settled();
    expect(await place.served.text('file:///sub/a.txt')).toBe('two');
    await watching.told(() => hands.do(['appendFile', at('sub/a.txt'), '!']), 'an edit in the new folder');
    await quiet.settled();
    await quiet.silent(watching, () => hands.do(['appendFile', at('old/a.txt'), '!']));
  });
});

describe('a subscription to a folder reports', () => {
  it.each([
    ['a new child', [['writeFile', 'new.txt', '']]],
    ['a deleted child', [['unlink', 'a.txt']]],
    ['a renamed child', [['rename', 'a.txt', 'z.txt']]],
    ['a new folder', [['mkdir', 'new.txt']]],
  ] as const)('%s', async (_what, steps) => {
    await using place = await serveFiles({ 'sub/a.txt': 'old' });
    await using watching = await place.served.watch('file:///sub');
    const within = (word: unknown): unknown =>
      String(word).endsWith('.txt') ? place.folder.at('sub', String(word)) : word;
    await watching.told(() =>
      hands.do(...steps.map(([operation, ...args]) => [operation, ...args.map(within)] as const)),
    );
    expect(watching.events.at(-1)).toEqual({ kind: 'updated', uri: 'file:///sub' });
  });

  it('a new child of the root, too', async () => {
    await using place = await serveFiles({ 'a.txt': 'old' });
    await using watching = await place.served.watch('file:///');
    await watching.told(() => hands.do(['writeFile', place.folder.at('new.txt'), '']));
  });

  it('only its own children, and neither their content nor anything below them', async () => {
    await using place = await serveFiles({ 'sub/a.txt': 'old', 'sub/deep/b.txt': 'b' });
    await using watching = await place.served.watch('file:///sub');
    const { at } = place.folder;
    await hands.do(
      ['appendFile', at('sub/a.txt'), 'more'],
      ['writeFile', at('sub/deep/new.txt'), ''],
      ['writeFile', at('beside.txt'), ''],
    );
    await quiet.settled();
    expect(watching.events).toEqual([]);
  });

  it('its children after it was deleted and created again', async () => {
    await using place = await serveFiles({ 'sub/a.txt': 'old' });
    await using watching = await place.served.watch('file:///sub');
    const { at } = place.folder;
    await watching.told(() => hands.do(['rm', at('sub'), { recursive: true }], ['mkdir', at('sub')]));
    await quiet.settled();
    await watching.told(() => hands.do(['writeFile', at('sub/new.txt'), '']));
  });
});

describe('a storm', () => {
  it('of 5,000 writes causes few updates, and one after the last write [SEC-RES-4]', async () => {
    await using engine = await startEngine({ 'a.txt': '0' });
    const { provider } = engine.vitrine;
    const ctx = createContext();
    let told = 0;
    let seen = '';
    let reading = Promise.resolve();
    await using _subscription = await provider.subscribe(
      { uri: 'file:///a.txt' },
      () => {
        told++;
        // Reads after each report, as a client does.
        reading = reading.then(async () => {
          const [body] = await provider.read('file:///a.txt', { maxBytes: 100, maxChildren: 0 }, ctx);
          if (body?.content.kind === 'bytes') seen = Buffer.from(body.content.bytes).toString();
          await body?.close?.();
        });
      },
      ctx,
    );
    await hands.do(['writeMany', engine.folder.at('a.txt'), 5_000, 'last']);
    await until(async () => {
      await reading;
      return seen === 'last';
    }, 'the last write to be read after an update');
    expect(told).toBeLessThan(1_000);
  });

  it('of renames leaves a watch that works', async () => {
    await using place = await serveFiles({ 'sub/a.txt': '0' });
    await using watching = await place.served.watch('file:///sub/a.txt');
    const { at } = place.folder;
    const dance = await hands.repeat(
      ['rename', at('sub'), at('away')],
      ['mkdir', at('sub')],
      ['writeFile', at('sub/a.txt'), 'x'],
      ['rm', at('sub'), { recursive: true }],
      ['rename', at('away'), at('sub')],
    );
    await until(() => watching.events.length > 50, 'events of the dance');
    expect(await dance.stop()).toBeGreaterThan(10);
    await quiet.settled();
    await until(async () => {
      const before = watching.events.length;
      await hands.do(['appendFile', at('sub/a.txt'), '!']);
      await quiet.settled();
      return watching.events.length > before;
    }, 'an edit after the dance');
  });
});

describe.runIf(process.platform === 'linux')('no watch of the system is left of watches', () => {
  it('that were disposed of', async () => {
    await using place = await serveFiles({ 'x/y/a.txt': '', 'b.txt': '' });
    const before = await systemWatches();
    const watches = await Promise.all([
      place.served.watch('file:///x/y/a.txt'),
      place.served.watch('file:///x/y'),
      place.served.watch('file:///b.txt'),
      place.served.watch('file:///gone/a.txt'),
      place.served.watch('file:///'),
      place.served.watch(),
    ]);
    expect(await systemWatches()).toBeGreaterThan(before);
    await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
    expect(await systemWatches()).toBe(before);
  });

  it('that were open when the provider was closed', async () => {
    const before = await systemWatches();
    {
      await using place = await serveFiles({ 'x/y/a.txt': '', 'b.txt': '' });
      await place.served.watch('file:///x/y/a.txt');
      await place.served.watch();
      expect(await systemWatches()).toBeGreaterThan(before);
    }
    expect(await systemWatches()).toBe(before);
  });

  it('that were being opened when the provider was closed', async () => {
    const before = await systemWatches();
    {
      await using place = await serveFiles({ 'x/y/a.txt': '', 'b.txt': '' });
      const opening = Promise.allSettled([
        place.served.watch('file:///x/y/a.txt'),
        place.served.watch(),
        place.served.watch('file:///b.txt'),
      ]);
      await place.served[Symbol.asyncDispose]();
      await opening;
    }
    expect(await systemWatches()).toBe(before);
  });

  it('that were disposed of during changes', async () => {
    await using place = await serveFiles({ 'sub/a.txt': '', 'far/b.txt': '' });
    const { at } = place.folder;
    const before = await systemWatches();
    const dance = await hands.repeat(
      ['unlink', at('sub/a.txt')],
      ['symlink', '../far/b.txt', at('sub/a.txt')],
      ['unlink', at('sub/a.txt')],
      ['mkdir', at('sub/a.txt')],
      ['rmdir', at('sub/a.txt')],
      ['writeFile', at('sub/a.txt'), ''],
    );
    for (let round = 0; round < 50; round++) {
      const watches = await Promise.all([place.served.watch('file:///sub/a.txt'), place.served.watch('file:///sub')]);
      if (round % 2 === 0) await watches[0].next();
      await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
    }
    await dance.stop();
    expect(await systemWatches()).toBe(before);
  });
});

describe('nobody can subscribe to a file that is not shown', () => {
  it.each(['file:///.hidden', 'file:///.git/config', 'file:///x/.env', 'file:///server.pem', 'file:///.hidden/a.txt'])(
    '%s',
    async (uri) => {
      await using place = await serveFiles({ '.hidden': '', 'server.pem': '' });
      expect(await refused(place.served.watch(uri))).toBe('not-found');
    },
  );

  it('nor to any file if watching is off', async () => {
    await using folder = await temporaryFolder({ 'a.txt': '' });
    await using quietly = await serve({ path: folder.path, watch: false });
    expect(quietly.provider.watch).toBeUndefined();
    expect((await quietly.metadata('file:///a.txt')).capabilities).toEqual({ list: false, subscribe: false });
  });
});

describe('a watched folder', () => {
  it('reports each name in it on request, and otherwise only its set of children', async () => {
    await using place = await serveFiles({ 'sub/a b.txt': 'one', 'sub/deep/c.txt': 'one' });
    const { at } = place.folder;
    const told: string[] = [];
    const tell = (event: ChangeEvent): void => void told.push(event.kind === 'updated' ? event.uri : event.kind);
    await using _inside = await place.served.provider.watch?.('file:///sub', tell, {
      ...createContext(),
      inside: true,
    });
    await using children = await place.served.watch('file:///sub');
    await hands.do(['appendFile', at('sub/a b.txt'), '!']);
    await until(() => told.includes('file:///sub/a%20b.txt'), 'the edit of a file in it');
    await quiet.settled();
    expect(children.events).toEqual([]);
    expect(told).not.toContain('file:///sub');
    told.length = 0;
    await hands.do(['appendFile', at('sub/deep/c.txt'), '!'], ['rename', at('sub/a b.txt'), at('sub/b.txt')]);
    await until(() => told.includes('file:///sub/b.txt') && told.includes('file:///sub'), 'the renaming of it');
    expect(told).toContain('file:///sub/a%20b.txt');
    expect(told).not.toContain('file:///sub/deep/c.txt');
  });
});
