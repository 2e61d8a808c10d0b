/** Changes of a subscribed resource, in all ways in which files change. */
import { execFile } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { appendFile, link, mkdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failure, missing, readOne } from './answers.ts';
import { type Folder, temporaryFolder } from './folders.ts';
import { type Connected, connect, MATRIX } from './harness.ts';
import { collectNotices, type Notices, type Subscribed, subscribe } from './notices.ts';

const NOTE = 'file:///box/note.txt';
const BARRIER = 'file:///barrier.txt';

describe.each(MATRIX)('subscriptions over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  let notices: Notices;
  beforeAll(async () => {
    folder = await temporaryFolder({ 'box/inner/': '', 'barrier.txt': '' });
    server = await connect(transport, era, [folder.path]);
    notices = await collectNotices(server);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    await folder.write('box/note.txt', 'first');
    notices.forget();
  });

  /** Runs with subscriptions to these resources and to the barrier. */
  async function subscribed(uris: readonly string[], run: () => Promise<void>): Promise<void> {
    const subscription: Subscribed = await subscribe(server, [...uris, BARRIER]);
    try {
      await run();
    } finally {
      await subscription.end();
    }
  }

  /** Resolves when all earlier changes have been reported, if they are reported at all. */
  async function barrier(): Promise<void> {
    const before = notices.count(BARRIER);
    await appendFile(folder.at('barrier.txt'), '.');
    await notices.told(BARRIER, before + 1);
  }

  it('report an edit in place, and the next read has the new content [RES-4]', async () => {
    await subscribed([NOTE], async () => {
      await writeFile(folder.at('box', 'note.txt'), 'second');
      await notices.told(NOTE);
      expect(await readOne(server, NOTE)).toMatchObject({ text: 'second' });
    });
  });

  it('report appended text [RES-4]', async () => {
    await subscribed([NOTE], async () => {
      await appendFile(folder.at('box', 'note.txt'), ' and more');
      await notices.told(NOTE);
      expect(await readOne(server, NOTE)).toMatchObject({ text: 'first and more', size: 14 });
    });
  });

  it('report every atomic replacement, not only the first [RES-4]', async () => {
    await subscribed([NOTE], async () => {
      for (const text of ['second', 'third', 'fourth']) {
        notices.forget();
        await folder.write('box/.note.txt.swp', text);
        await rename(folder.at('box', '.note.txt.swp'), folder.at('box', 'note.txt'));
        await notices.told(NOTE);
        expect(await readOne(server, NOTE)).toMatchObject({ text });
      }
    });
  });

  it('report edits in place after a replacement [RES-4]', async () => {
    await subscribed([NOTE], async () => {
      await folder.write('box/next', 'second');
      await rename(folder.at('box', 'next'), folder.at('box', 'note.txt'));
      await notices.told(NOTE);
      await barrier();
      notices.forget();
      await appendFile(folder.at('box', 'note.txt'), ', edited');
      await notices.told(NOTE);
    });
  });

  it('report an editor that moves the old file aside and writes a new one [RES-4]', async () => {
    await subscribed([NOTE], async () => {
      await rename(folder.at('box', 'note.txt'), folder.at('box', 'note.txt~'));
      await folder.write('box/note.txt', 'second');
      await notices.told(NOTE);
      await barrier();
      expect(await readOne(server, NOTE)).toMatchObject({ text: 'second' });
      await unlink(folder.at('box', 'note.txt~'));
    });
  });

  it('report deletion, and a new file with the same name [RES-4]', async () => {
    await subscribed([NOTE], async () => {
      await unlink(folder.at('box', 'note.txt'));
      await notices.told(NOTE);
      expect(await failure(readOne(server, NOTE))).toMatchObject(missing(era, NOTE));
      await barrier();
      notices.forget();
      await folder.write('box/note.txt', 'again');
      await notices.told(NOTE);
      await barrier();
      notices.forget();
      await appendFile(folder.at('box', 'note.txt'), ' and again');
      await notices.told(NOTE);
    });
  });

  it('report a rename, at the old name and at the new one [RES-4]', async () => {
    await folder.write('box/other.txt', 'other');
    await subscribed([NOTE, 'file:///box/other.txt'], async () => {
      await rename(folder.at('box', 'note.txt'), folder.at('box', 'other.txt'));
      await notices.told(NOTE);
      await notices.told('file:///box/other.txt');
      expect(await readOne(server, 'file:///box/other.txt')).toMatchObject({ text: 'first' });
    });
  });

  it('report that a parent folder is moved away, and comes back [RES-4]', async () => {
    await subscribed([NOTE], async () => {
      await rename(folder.at('box'), folder.at('moved'));
      await notices.told(NOTE);
      await barrier();
      notices.forget();
      await rename(folder.at('moved'), folder.at('box'));
      await notices.told(NOTE);
      await barrier();
      notices.forget();
      await appendFile(folder.at('box', 'note.txt'), ', back');
      await notices.told(NOTE);
    });
  });

  it.each<[string, (box: (name: string) => string) => Promise<unknown>]>([
    ['created', (box) => writeFile(box('new.txt'), 'new')],
    ['deleted', (box) => unlink(box('note.txt'))],
    ['renamed', (box) => rename(box('note.txt'), box('renamed.txt'))],
    ['linked', (box) => link(box('note.txt'), box('linked.txt'))],
    ['created as a folder', (box) => mkdir(box('nested'))],
  ])('report a folder when a child is %s [RES-4]', async (_, change) => {
    await subscribed(['file:///box'], async () => {
      await change((name) => folder.at('box', name));
      await notices.told('file:///box');
    });
    for (const name of ['new.txt', 'renamed.txt', 'linked.txt', 'nested'])
      await rm(folder.at('box', name), { recursive: true, force: true });
  });

  it('report the root [RES-4]', async () => {
    await subscribed(['file:///'], async () => {
      await folder.write('fresh.txt', 'fresh');
      await notices.told('file:///');
    });
  });

  it('report nothing else: neither neighbours nor deeper entries [RES-4]', async () => {
    await subscribed([NOTE, 'file:///box'], async () => {
      await folder.write('box/inner/deep.txt', 'deep');
      await folder.write('beside.txt', 'beside');
      await barrier();
      expect(notices.seen.filter(({ about }) => about !== BARRIER && about !== 'list_changed')).toEqual([]);
    });
  });

  it('name the resource in the subscribed spelling [RES-4]', async () => {
    await folder.write('box/a b.txt', 'a');
    await subscribed(['file:///box/a b.txt', 'file:///box/'], async () => {
      await appendFile(folder.at('box', 'a b.txt'), 'b');
      await notices.told('file:///box/a b.txt');
      await unlink(folder.at('box', 'a b.txt'));
      await notices.told('file:///box/');
    });
  });

  it('report nothing after the end of the subscription [RES-4]', async () => {
    const subscription = await subscribe(server, [NOTE]);
    await appendFile(folder.at('box', 'note.txt'), 'before');
    await notices.told(NOTE);
    await subscription.end();
    await subscribed([], async () => {
      notices.forget();
      await appendFile(folder.at('box', 'note.txt'), 'after');
      await barrier();
      expect(notices.count(NOTE)).toBe(0);
    });
  });

  it('report 300 changes in fewer than half as many notifications [RES-4]', async () => {
    await subscribed([NOTE], async () => {
      for (let round = 0; round < 300; round++) appendFileSync(folder.at('box', 'note.txt'), '.');
      await barrier();
      expect(notices.count(NOTE)).toBeGreaterThan(0);
      expect(notices.count(NOTE)).toBeLessThan(150);
      expect((await readOne(server, NOTE)).text).toHaveLength('first'.length + 300);
    });
  });

  it('report an edit by another program [RES-4]', async () => {
    await subscribed([NOTE], async () => {
      const script = `require('fs').writeFileSync(process.argv[1], 'by another'); console.log(Date.now())`;
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', script, folder.at('box', 'note.txt')]);
      await notices.told(NOTE);
      const at = notices.seen.find(({ about }) => about === NOTE)?.at ?? Number.NaN;
      console.log(`${transport}, ${era}: an edit by another program was told after ${at - Number(stdout)} ms`);
      expect(await readOne(server, NOTE)).toMatchObject({ text: 'by another' });
    });
  });
});
