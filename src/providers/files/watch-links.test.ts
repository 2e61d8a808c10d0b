/** Changes of the targets of links, and links that get another target (RES-4, SEC-RES-1). */
import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/e2e/folders.ts';
import { until } from '../../../test/e2e/waiting.ts';
import { type Hands, startHands } from '../../../test/security/hands.ts';
import { type Quiet, startQuiet } from '../../../test/security/quiet.ts';
import { serveFiles } from '../../../test/security/served.ts';

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

describe('a subscription to a link reports', () => {
  it('an edit of its target', async () => {
    await using place = await serveFiles({ 'far/target.txt': 'one', 'other.txt': 'other' });
    const { at } = place.folder;
    await hands.do(['symlink', 'far/target.txt', at('link.txt')]);
    await using watching = await place.served.watch('file:///link.txt');
    await watching.told(() => hands.do(['appendFile', at('far/target.txt'), '!']));
    expect(watching.events.at(-1)).toEqual({ kind: 'updated', uri: 'file:///link.txt' });
  });

  it('a new target and its edits, and no longer edits of the old target', async () => {
    await using place = await serveFiles({ 'far/one.txt': 'one', 'farther/two.txt': 'two' });
    const { at } = place.folder;
    await hands.do(['symlink', 'far/one.txt', at('link.txt')]);
    await using watching = await place.served.watch('file:///link.txt');
    await watching.told(() =>
      hands.do(['symlink', 'farther/two.txt', at('link.tmp')], ['rename', at('link.tmp'), at('link.txt')]),
    );
    await quiet.settled();
    await watching.told(() => hands.do(['appendFile', at('farther/two.txt'), '!']), 'an edit where it leads now');
    await quiet.settled();
    await quiet.silent(watching, () => hands.do(['appendFile', at('far/one.txt'), '!']));
  });

  it('a new target of a link in the middle of a chain', async () => {
    await using place = await serveFiles({ 'far/one.txt': 'one', 'far/two.txt': 'two' });
    const { at } = place.folder;
    await hands.do(
      ['mkdir', at('middle')],
      ['symlink', '../far/one.txt', at('middle/second.txt')],
      ['symlink', 'middle/second.txt', at('first.txt')],
    );
    await using watching = await place.served.watch('file:///first.txt');
    await watching.told(() =>
      hands.do(['unlink', at('middle/second.txt')], ['symlink', '../far/two.txt', at('middle/second.txt')]),
    );
    await quiet.settled();
    expect(await place.served.text('file:///first.txt')).toBe('two');
    await watching.told(() => hands.do(['appendFile', at('far/two.txt'), '!']), 'an edit where the chain ends now');
  });

  it('a new target of a link to a folder on the way', async () => {
    await using place = await serveFiles({ 'v1/a.txt': 'one', 'v2/a.txt': 'two' });
    const { at } = place.folder;
    await hands.do(['symlink', 'v1', at('current')]);
    await using watching = await place.served.watch('file:///current/a.txt');
    await watching.told(() => hands.do(['appendFile', at('v1/a.txt'), '!']), 'an edit in the first folder');
    await quiet.settled();
    await watching.told(() =>
      hands.do(['symlink', 'v2', at('current.tmp')], ['rename', at('current.tmp'), at('current')]),
    );
    await quiet.settled();
    expect(await place.served.text('file:///current/a.txt')).toBe('two');
    await watching.told(() => hands.do(['appendFile', at('v2/a.txt'), '!']), 'an edit in the second folder');
  });

  it('a change of its new target that happens before the new target is watched', async () => {
    await using place = await serveFiles({ 'v1/a.txt': 'one', 'v2/a.txt': 'two' });
    const { at } = place.folder;
    await hands.do(['symlink', 'v1', at('current')], ['symlink', 'v2', at('current.tmp')]);
    await using watching = await place.served.watch('file:///current/a.txt', ({ length }) => {
      // The first report comes before the new target is watched.
      if (length === 1) appendFileSync(at('v2/a.txt'), '!');
    });
    await watching.told(() => hands.do(['rename', at('current.tmp'), at('current')]));
    await until(() => watching.events.length > 1, 'the change of the target');
    expect(await place.served.text('file:///current/a.txt')).toBe('two!');
  });

  it('no edits of a new target outside of the root', async () => {
    await using outside = await temporaryFolder({ 'secret.txt': 'one' });
    await using place = await serveFiles({ 'a.txt': 'one' });
    const { at } = place.folder;
    await using watching = await place.served.watch('file:///a.txt');
    await watching.told(() => hands.do(['unlink', at('a.txt')], ['symlink', outside.at('secret.txt'), at('a.txt')]));
    await quiet.settled();
    await quiet.silent(watching, () => hands.do(['appendFile', outside.at('secret.txt'), '!']));
  });

  it('nothing of a hidden folder that replaced its own folder', async () => {
    await using place = await serveFiles({ 'pub/a.txt': 'one', '.private/a.txt': 'secret' });
    const { at } = place.folder;
    await using watching = await place.served.watch('file:///pub/a.txt');
    await watching.told(() => hands.do(['rm', at('pub'), { recursive: true }], ['symlink', '.private', at('pub')]));
    await quiet.settled();
    await quiet.silent(watching, () => hands.do(['appendFile', at('.private/a.txt'), '!']));
  });
});
