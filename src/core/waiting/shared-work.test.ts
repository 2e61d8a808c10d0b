import { expect, it } from 'vitest';
import { createSharedWork } from './shared-work.ts';

/** Work that ends when the test lets it, or when it is aborted. */
function createWork() {
  const begun: { readonly signal: AbortSignal; finish(value: string): void; fail(error: unknown): void }[] = [];
  const shared = createSharedWork<string>();
  const ask = (key = 'list', signal?: AbortSignal): Promise<string> =>
    shared.run(
      key,
      signal,
      (own) =>
        new Promise<string>((finish, fail) => {
          begun.push({ signal: own, finish, fail });
          own.addEventListener('abort', () => fail(own.reason));
        }),
    );
  return { begun, shared, ask };
}

it('work runs once for all who want it, and again later', async () => {
  const { begun, ask } = createWork();
  const all = Array.from({ length: 50 }, () => ask());
  begun[0]?.finish('one');
  expect(new Set(await Promise.all(all))).toEqual(new Set(['one']));
  const later = ask();
  begun[1]?.finish('two');
  expect(await later).toBe('two');
  expect(begun).toHaveLength(2);
});

it('work with another key is other work', async () => {
  const { begun, ask } = createWork();
  const both = [ask('a'), ask('b')];
  for (const [index, each] of begun.entries()) each.finish(`${index}`);
  expect(await Promise.all(both)).toEqual(['0', '1']);
});

it('work goes on when its first caller leaves, and ends when all have left', async () => {
  const { begun, ask } = createWork();
  const [first, second] = [new AbortController(), new AbortController()];
  const gone = ask('list', first.signal);
  const goneToo = ask('list', second.signal);
  first.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  expect(begun[0]?.signal.aborted).toBe(false);
  second.abort(new Error('gone too'));
  await expect(goneToo).rejects.toThrow('gone too');
  expect(begun[0]?.signal.reason).toMatchObject({ message: 'gone too' });
});

it('nobody joins work that all have left, and a caller without a signal never leaves', async () => {
  const { begun, ask } = createWork();
  const leaving = new AbortController();
  const gone = ask('list', leaving.signal);
  leaving.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  const lasting = ask();
  const late = new AbortController();
  const left = ask('list', late.signal);
  late.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  begun[1]?.finish('two');
  expect(await lasting).toBe('two');
  expect(begun).toHaveLength(2);
});

it('a caller that has left already begins nothing', async () => {
  const { begun, ask } = createWork();
  await expect(ask('list', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  expect(begun).toHaveLength(0);
});

it('work that fails does so for all who wait, and is begun again for the next', async () => {
  const { begun, ask } = createWork();
  const both = [ask(), ask()];
  begun[0]?.fail(new Error('broke'));
  for (const each of both) await expect(each).rejects.toThrow('broke');
  const next = ask();
  begun[1]?.finish('well');
  expect(await next).toBe('well');
});

it('disowned work goes on for its callers, and others begin anew', async () => {
  const { begun, shared, ask } = createWork();
  const before = ask();
  shared.disown();
  const after = ask();
  begun[0]?.finish('old');
  expect(await before).toBe('old');
  // The end of the old work leaves the new work alone.
  const joined = ask();
  begun[1]?.finish('new');
  expect(await Promise.all([after, joined])).toEqual(['new', 'new']);
  expect(begun).toHaveLength(2);
});
