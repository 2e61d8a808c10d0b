/** The server asks its client for the roots, and limits a mount to them. */
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { failure, type ListAnswer } from './answers.ts';
import { askable } from './asked.ts';
import { call, OVER, round, said, text } from './asking.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, MATRIX } from './harness.ts';
import { collectNotices } from './notices.ts';

/** A mount that is limited to the client's roots, and one that is not. */
async function rooted(): Promise<{ folder: Folder; args: readonly string[]; root: (...names: string[]) => string }> {
  const folder = await temporaryFolder({
    'work/a/one.md': 'one',
    'work/a/deep/two.md': 'two',
    'work/b/three.md': 'three',
    'other/free.md': 'free',
  });
  const config = { mounts: { work: { path: './work', roots: 'client' }, other: './other' } };
  const args = ['--config', await writeConfig(folder, config)];
  return { folder, args, root: (...names) => pathToFileURL(folder.at('work', ...names)).href };
}

const DOOR = 'work+file:///';

async function capabilitiesOf(on: Connected, uri: string): Promise<unknown> {
  const { resource } = await on.request<{ resource: { capabilities: unknown } }>('resources/metadata', { uri });
  return resource.capabilities;
}

async function listed(on: Connected, uri?: string): Promise<string[]> {
  const params = uri === undefined ? {} : { uri };
  const { resources } = await on.request<ListAnswer & Record<string, unknown>>('resources/list', params);
  return resources.map((resource) => resource.uri).sort();
}

describe.concurrent.each(OVER)('roots over $transport, legacy', ({ transport }) => {
  it('limit every operation, in addition to the mount [SEC-ROOT-2]', async () => {
    const { folder, args, root } = await rooted();
    await using _folder = folder;
    const { abilities, rootsAsked } = askable({ roots: () => [root('a')] });
    await using on = await connect(transport, 'legacy', args, abilities);
    expect(await listed(on)).toEqual([
      'other+file:///',
      'other+file:///free.md',
      DOOR,
      'work+file:///a',
      'work+file:///a/deep',
      'work+file:///a/deep/two.md',
      'work+file:///a/one.md',
    ]);
    expect(await text(on, 'work+file:///a/one.md')).toBe('one');
    expect(await text(on, 'other+file:///free.md')).toBe('free');
    expect(await capabilitiesOf(on, DOOR)).toEqual({ list: true, subscribe: false });
    expect(await capabilitiesOf(on, 'work+file:///a')).toEqual({ list: true, subscribe: true });
    for (const uri of ['work+file:///b/three.md', 'work+file:///b', 'work+file:///b/missing.md']) {
      for (const method of ['resources/read', 'resources/metadata', 'resources/list', 'resources/subscribe']) {
        expect(await failure(on.request(method, { uri }))).toMatchObject({
          code: -32_602,
          message: expect.stringContaining("outside of the client's roots"),
        });
      }
    }
    const completion = await on.request<{ completion: { values: string[] } }>('completion/complete', {
      ref: { type: 'ref/resource', uri: 'work+file:///{+path}' },
      argument: { name: 'path', value: '' },
    });
    expect(completion.completion.values).toEqual(['a/']);
    expect(said(await call(on, 'read', { uri: 'work+file:///b/three.md' }))).toContain("outside of the client's roots");
    expect(rootsAsked()).toBe(1);
  });

  it('take effect for the next operation when they change [SEC-ROOT-2]', async () => {
    const { folder, args, root } = await rooted();
    await using _folder = folder;
    let roots = [root('a')];
    const { abilities } = askable({ roots: () => roots });
    await using on = await connect(transport, 'legacy', args, abilities);
    const notices = await collectNotices(on);
    const inA = 'work+file:///a/one.md';
    const inB = 'work+file:///b/three.md';
    expect(await text(on, inA)).toBe('one');
    await on.client.subscribeResource({ uri: inA });

    roots = [root('b')];
    await on.client.sendRootsListChanged();
    expect(await text(on, inB)).toBe('three');
    expect(await failure(text(on, inA))).toMatchObject({ code: -32_602 });
    await notices.told('list_changed');

    // The subscription to a resource that is now outside has ended. One to a resource inside gets its updates.
    await on.client.subscribeResource({ uri: inB });
    notices.forget();
    await folder.write('work/a/one.md', 'one, changed');
    await folder.write('work/b/three.md', 'three, changed');
    await notices.told(inB);
    expect(notices.count(inA)).toBe(0);

    roots = [root('a'), root('b')];
    await on.client.sendRootsListChanged();
    await on.client.subscribeResource({ uri: inA });
    notices.forget();
    await folder.write('work/a/one.md', 'one, changed again');
    await notices.told(inA);
  });

  it('show only the root of the mount if the client has none [SEC-ROOT-2]', async () => {
    const { folder, args } = await rooted();
    await using _folder = folder;
    await using on = await connect(transport, 'legacy', args);
    expect(await listed(on)).toEqual(['other+file:///', 'other+file:///free.md', DOOR]);
    for (const method of ['resources/read', 'resources/list', 'resources/subscribe']) {
      const { message } = await failure(on.request(method, { uri: 'work+file:///a/one.md' }));
      expect(message).toContain('the client has not said what they are');
    }
  });

  it("outside of this machine's folders show nothing", async () => {
    const { folder, args, root } = await rooted();
    await using _folder = folder;
    const { abilities } = askable({
      roots: () => [
        `${root('b')}/../a`,
        `${root('b')}/%2e%2e/a`,
        `file://elsewhere${folder.at('work')}`,
        'file:///projects/a',
      ],
    });
    await using on = await connect(transport, 'legacy', args, abilities);
    expect(await listed(on, DOOR)).toEqual([]);
    expect(await failure(text(on, 'work+file:///a/one.md'))).toMatchObject({ code: -32_602 });
  });
});

describe.concurrent.each(MATRIX)('roots over $transport, $era: a client without roots', ({ transport, era }) => {
  it('gets the folder as one that can be neither listed nor subscribed to [2093-3, SEC-ROOT-2]', async () => {
    const { folder, args } = await rooted();
    await using _folder = folder;
    await using on = await connect(transport, era, args);
    const { resources } = await on.request<ListAnswer & Record<string, unknown>>('resources/list');
    const door = resources.find(({ uri }) => uri === DOOR);
    expect(door).toMatchObject({ mimeType: 'inode/directory', capabilities: { list: false, subscribe: false } });
    expect(await capabilitiesOf(on, DOOR)).toEqual({ list: false, subscribe: false });
    expect((await failure(on.request('resources/list', { uri: DOOR }))).message).toContain("the client's roots");
  });
});

describe.concurrent.each(OVER)('roots over $transport, modern', ({ transport }) => {
  it('are requested when reads and tools need them [SEC-ROOT-2]', async () => {
    const { folder, args, root } = await rooted();
    await using _folder = folder;
    let roots = [root('a')];
    const { abilities, rootsAsked } = askable({ roots: () => roots });
    await using on = await connect(transport, 'modern', args, abilities);
    expect(await text(on, 'other+file:///free.md')).toBe('free');
    expect(rootsAsked()).toBe(0);
    expect(await text(on, 'work+file:///a/one.md')).toBe('one');
    expect(rootsAsked()).toBe(1);
    expect((await failure(text(on, 'work+file:///b/three.md'))).message).toContain("outside of the client's roots");
    expect(JSON.stringify(await call(on, 'list', { uri: DOOR }))).toContain('work+file:///a');
    expect(JSON.stringify(await call(on, 'read', { uri: 'work+file:///a/deep/two.md' }))).toContain('two');
    expect((await call(on, 'read', { uri: 'work+file:///b/three.md' })).isError).toBe(true);
    roots = [root('b')];
    expect(await text(on, 'work+file:///b/three.md')).toBe('three');
  });

  it('show only the root of the mount where no question is possible, and errors say how to go on [SEC-ROOT-2]', async () => {
    const { folder, args, root } = await rooted();
    await using _folder = folder;
    const { abilities } = askable({ roots: () => [root('a')] });
    await using on = await connect(transport, 'modern', args, abilities);
    expect(await listed(on)).toEqual(['other+file:///', 'other+file:///free.md', DOOR]);
    expect(await capabilitiesOf(on, DOOR)).toEqual({ list: false, subscribe: false });
    for (const [method, uri] of [
      ['resources/list', DOOR],
      ['resources/metadata', 'work+file:///a/one.md'],
    ] as const) {
      expect((await failure(on.request(method, { uri }))).message).toContain('read by URI, or use the tools');
    }
    const stream = await on.client.listen({
      resourceSubscriptions: ['work+file:///a/one.md', 'other+file:///free.md'],
    });
    expect(stream.honoredFilter.resourceSubscriptions).toEqual(['other+file:///free.md']);
  });

  it('are ignored if they were not requested; an empty answer gives access to nothing', async () => {
    const { folder, args, root } = await rooted();
    await using _folder = folder;
    const { abilities } = askable({ roots: () => [] });
    await using on = await connect(transport, 'modern', args, {
      ...abilities,
      inputRequired: { autoFulfill: false },
    });
    const uri = 'work+file:///a/one.md';
    const answer = { roots: { roots: [{ uri: root('a') }] } };
    const asked = await round(on, 'resources/read', { uri, inputResponses: answer });
    expect(asked.inputRequests).toMatchObject({ roots: { method: 'roots/list' } });
    const requestState = asked.requestState ?? '';
    expect(await round(on, 'resources/read', { uri, inputResponses: answer, requestState })).toMatchObject({
      contents: [{ text: 'one' }],
    });
    const empty = round(on, 'resources/read', { uri, inputResponses: { roots: { roots: [] } }, requestState });
    expect((await failure(empty)).message).toContain("outside of the client's roots");
  });
});

describe.concurrent.each(MATRIX)('roots and a confirmation over $transport, $era', ({ transport, era }) => {
  it('are requested one after the other for one request', async () => {
    const { folder, root } = await rooted();
    await using _folder = folder;
    const config = { mounts: { work: { path: './work', roots: 'client' } }, confirm: ['work+file:///a/**'] };
    const { abilities, questions, rootsAsked } = askable({
      user: () => 'accept',
      model: () => 'A summary.',
      roots: () => [root('a')],
    });
    await using on = await connect(transport, era, ['--config', await writeConfig(folder, config)], abilities);
    expect(await text(on, 'work+file:///a/one.md')).toBe('one');
    expect(said(await call(on, 'summarize', { uri: 'work+file:///a/one.md' }))).toContain('A summary.');
    expect(questions).toHaveLength(2);
    expect(rootsAsked()).toBe(era === 'legacy' ? 1 : 2);
  });
});
