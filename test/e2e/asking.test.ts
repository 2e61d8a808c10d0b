/** What the server asks of its client: the user's word, the model's work, and the roots. */
import { pathToFileURL } from 'node:url';
import { isJSONRPCNotification } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CallToolResult } from '../../src/protocol/content.ts';
import type { InputRequired } from '../../src/protocol/input-required.ts';
import { failure, type ListAnswer, type ReadAnswer } from './answers.ts';
import { askable } from './asked.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import {
  type Abilities,
  type Connected,
  connect,
  connectHttp,
  connectStdio,
  type Era,
  type Listening,
  MATRIX,
  startHttp,
  TRANSPORTS,
  type TransportKind,
} from './harness.ts';
import { collectNotices } from './notices.ts';
import { within } from './waiting.ts';

/** What is of one era, over either transport. */
const OVER = TRANSPORTS.map((transport) => ({ transport }));

const text = async (on: Connected, uri: string): Promise<string | undefined> =>
  (await on.request<ReadAnswer & Record<string, unknown>>('resources/read', { uri })).contents[0]?.text;

const call = (on: Connected, name: string, args: Record<string, unknown>): Promise<CallToolResult> =>
  on.request<CallToolResult & Record<string, unknown>>('tools/call', { name, arguments: args });

const said = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');

const PLAN = 'docs+file:///private/plan.md';
const OTHER = 'docs+file:///private/other.md';

const LINES = Array.from({ length: 3_000 }, (_, index) => `Line ${index}: the clocks were wound at nine.\n`).join('');

let folder: Folder;
let args: readonly string[];
/** Over HTTP one server is for all: they have nothing in common but what they read. */
let server: Listening;

beforeAll(async () => {
  folder = await temporaryFolder({
    'docs/open.md': 'open',
    'docs/log.txt': LINES,
    'docs/private/plan.md': 'the plan',
    'docs/private/other.md': 'the other plan',
  });
  const config = { mounts: { docs: './docs' }, confirm: ['docs+file:///private/**'] };
  args = ['--config', await writeConfig(folder, config)];
  server = await startHttp(args);
});

afterAll(async () => {
  await server?.stop();
  await folder?.[Symbol.asyncDispose]();
});

const confirming = (transport: TransportKind, era: Era, abilities?: Abilities): Promise<Connected> =>
  transport === 'http' ? connectHttp(era, server, abilities) : connectStdio(era, args, abilities);

describe.concurrent.each(MATRIX)('a read that a human confirms over $transport, $era', ({ transport, era }) => {
  it('happens once the user agrees, and is asked for each time', async () => {
    const { abilities, questions } = askable({ user: () => 'accept' });
    await using on = await confirming(transport, era, abilities);
    expect(await text(on, 'docs+file:///open.md')).toBe('open');
    expect(questions).toEqual([]);
    expect(await text(on, PLAN)).toBe('the plan');
    expect(await text(on, PLAN)).toBe('the plan');
    expect(questions).toEqual([`May this be read? ${PLAN}`, `May this be read? ${PLAN}`]);
  });

  it('is asked for under every spelling of its URI', async () => {
    const { abilities, questions } = askable({ user: () => 'decline' });
    await using on = await confirming(transport, era, abilities);
    for (const uri of ['DOCS+FILE:///private/plan.md', 'docs+file://localhost/%70rivate/plan.md']) {
      expect(await failure(text(on, uri))).toMatchObject({ code: -32_602 });
    }
    expect(questions).toEqual([`May this be read? ${PLAN}`, `May this be read? ${PLAN}`]);
  });

  it.each(['decline', 'cancel', 'untick'] as const)(
    'does not happen when the user does not agree: %s',
    async (decision) => {
      const { abilities, questions } = askable({ user: () => decision });
      await using on = await confirming(transport, era, abilities);
      const { code, message } = await failure(text(on, PLAN));
      expect(code).toBe(-32_602);
      expect(message).toContain('The user did not let this resource be read');
      expect(questions).toHaveLength(1);
    },
  );

  it('does not happen where nobody can be asked, while it is listed and described', async () => {
    await using on = await confirming(transport, era);
    expect((await failure(text(on, PLAN))).message).toContain('this client cannot ask one');
    const { resources } = await on.request<ListAnswer & Record<string, unknown>>('resources/list', {
      uri: 'docs+file:///private',
    });
    expect(resources.map(({ uri }) => uri)).toEqual([OTHER, PLAN]);
  });

  it('does not happen where the client shows its user pages and no forms', async () => {
    await using on = await confirming(transport, era, { capabilities: { elicitation: { url: {} } } });
    expect((await failure(text(on, PLAN))).message).toContain('this client cannot ask one');
  });

  it('is asked for by a tool too, and a folder is read without what nobody confirmed', async () => {
    const { abilities, questions } = askable({
      user: (question) => (question.endsWith('plan.md') ? 'accept' : 'decline'),
    });
    await using on = await confirming(transport, era, abilities);
    expect(JSON.stringify(await call(on, 'read', { uri: PLAN }))).toContain('the plan');
    const refused = await call(on, 'read', { uri: OTHER });
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused)).not.toContain('the other plan');
    expect(questions).toHaveLength(2);
    expect(JSON.stringify(await on.request('resources/read', { uri: 'docs+file:///' }))).not.toContain('plan');
  });
});

const loose = z.looseObject({});

/** One round by hand: what the server answers, be it a result or a question. */
const round = async (on: Connected, method: string, params: Record<string, unknown>): Promise<Partial<InputRequired>> =>
  (await on.client.request({ method, params }, loose, { allowInputRequired: true })) as Partial<InputRequired>;

const YES = { confirm: { action: 'accept', content: { confirm: true } } };

describe.concurrent.each(OVER)('the state of a question over $transport', ({ transport }) => {
  const asking = async (use: (on: Connected, requestState: string) => Promise<void>): Promise<void> => {
    const { abilities } = askable({ user: () => 'accept' });
    await using on = await confirming(transport, 'modern', {
      ...abilities,
      inputRequired: { autoFulfill: false },
    });
    const asked = await round(on, 'resources/read', { uri: PLAN });
    expect(asked.inputRequests).toMatchObject({ confirm: { method: 'elicitation/create' } });
    await use(on, asked.requestState ?? '');
  };

  it('comes back with the answer', () =>
    asking(async (on, requestState) => {
      const answer = await round(on, 'resources/read', { uri: PLAN, inputResponses: YES, requestState });
      expect(answer).toMatchObject({ contents: [{ uri: PLAN, text: 'the plan' }] });
    }));

  it('says nothing of what is in it, and is not accepted when altered', () =>
    asking(async (on, requestState) => {
      expect(Buffer.from(requestState, 'base64url').toString('latin1')).not.toContain('private');
      const middle = Math.floor(requestState.length / 2);
      const other = requestState[middle] === 'A' ? 'B' : 'A';
      for (const state of [
        `${requestState.slice(0, middle)}${other}${requestState.slice(middle + 1)}`,
        requestState.slice(0, -4),
        '',
        'null',
        Buffer.from(JSON.stringify({ confirming: [PLAN] })).toString('base64url'),
      ]) {
        const params = { uri: PLAN, inputResponses: YES, requestState: state };
        const { code, message } = await failure(round(on, 'resources/read', params));
        expect({ code, message }).toEqual({
          code: -32_602,
          message: expect.stringMatching(/request ?state is not valid/i),
        });
      }
    }));

  it('is of one request and no other', () =>
    asking(async (on, requestState) => {
      const elsewhere = [
        ['resources/read', { uri: OTHER }],
        ['tools/call', { name: 'read', arguments: { uri: PLAN } }],
      ] as const;
      for (const [method, params] of elsewhere) {
        const refused = await failure(round(on, method, { ...params, inputResponses: YES, requestState }));
        expect(refused).toMatchObject({ code: -32_602 });
      }
    }));

  it('is needed: an answer without it answers nothing', () =>
    asking(async (on) => {
      const again = await round(on, 'resources/read', { uri: PLAN, inputResponses: YES });
      expect(again.inputRequests).toMatchObject({ confirm: {} });
    }));
});

const LOG = 'docs+file:///log.txt';

const progressOf = (on: Connected): readonly Readonly<Record<string, unknown>>[] =>
  on.received.flatMap((message) =>
    isJSONRPCNotification(message) && message.method === 'notifications/progress' ? [message.params ?? {}] : [],
  );

describe.concurrent.each(MATRIX)('summarize over $transport, $era', ({ transport, era }) => {
  it("has the client's model go through all of the text, and reports how far it is [SEC-SAMP-2, SEC-UTIL-3]", async () => {
    const { abilities, prompts } = askable({
      model: (prompt) =>
        prompt.includes('Part 1: ') ? 'Clocks were wound.' : `${prompt.split('\nLine ').length - 1} lines`,
    });
    await using on = await confirming(transport, era, abilities);
    const result = (await on.client.request(
      { method: 'tools/call', params: { name: 'summarize', arguments: { uri: LOG, focus: 'clocks' } } },
      loose,
      { onprogress: () => {} },
    )) as unknown as CallToolResult;
    expect(result.structuredContent).toEqual({
      summary: 'Clocks were wound.',
      start_offset: 0,
      end_offset: LINES.length,
      total_bytes: LINES.length,
      complete: true,
    });
    const material = prompts.slice(0, -1).join('\n');
    expect(material.match(/^Line \d+:/gm)).toHaveLength(3_000);
    expect(prompts.at(-1)).toMatch(/Part 1: \d+ lines/);
    // As they came over the wire: the SDK's client counts its own rounds among them.
    const reports = progressOf(on);
    const values = reports.map(({ progress }) => progress);
    expect(values).toEqual([...new Set(values)].sort((x, y) => Number(x) - Number(y)));
    expect(reports.at(-1)).toMatchObject({ progress: LINES.length, total: LINES.length });
  });

  it('says what to do instead where the client has no model to lend', async () => {
    await using on = await confirming(transport, era);
    const result = await call(on, 'summarize', { uri: LOG });
    expect(result.isError).toBe(true);
    expect(said(result)).toMatch(/declares no sampling.*read the text in windows/);
  });

  it('puts nothing before a model that the user did not let be read [SEC-SAMP-2]', async () => {
    const decisions = ['decline', 'accept'] as const;
    let asked = 0;
    const { abilities, prompts } = askable({
      user: () => decisions[asked++] ?? 'cancel',
      model: () => 'It is a plan.',
    });
    await using on = await confirming(transport, era, abilities);
    const refused = await call(on, 'summarize', { uri: PLAN });
    expect(refused.isError).toBe(true);
    expect(prompts).toEqual([]);
    const missing = await call(on, 'summarize', { uri: 'docs+file:///.env' });
    expect(missing.isError).toBe(true);
    expect(prompts).toEqual([]);
    expect(said(await call(on, 'summarize', { uri: PLAN }))).toContain('It is a plan.');
    expect(prompts).toHaveLength(1);
  });

  it('stops when it is cancelled [SEC-UTIL-2]', async () => {
    const cancelling = new AbortController();
    let asked = (): void => {};
    const firstAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { abilities, prompts } = askable({
      async model() {
        asked();
        await answered;
        return 'too late';
      },
    });
    await using on = await confirming(transport, era, abilities);
    const params = { name: 'summarize', arguments: { uri: LOG } };
    const ended = on.request('tools/call', params, { signal: cancelling.signal }).then(
      () => 'answered',
      () => 'cancelled',
    );
    await within(firstAsked, 'the first question to the model');
    cancelling.abort();
    answer();
    expect(await ended).toBe('cancelled');
    // Work that goes on would ask the model for the next pieces; these answers give it the time.
    for (let times = 0; times < 10; times++) await text(on, LOG);
    expect(prompts.length).toBeLessThanOrEqual(4);
    expect(await text(on, LOG)).toBe(LINES);
  });
});

/** A mount bounded by the client's roots, and one that is not. */
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
  it('bound every operation, in addition to the mount [SEC-ROOT-2]', async () => {
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

    // The subscription to what is now outside has ended; one to what is inside is told of.
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

  it('show only the door where the client has none to say [SEC-ROOT-2]', async () => {
    const { folder, args } = await rooted();
    await using _folder = folder;
    await using on = await connect(transport, 'legacy', args);
    expect(await listed(on)).toEqual(['other+file:///', 'other+file:///free.md', DOOR]);
    for (const method of ['resources/read', 'resources/list', 'resources/subscribe']) {
      const { message } = await failure(on.request(method, { uri: 'work+file:///a/one.md' }));
      expect(message).toContain('the client has not said what they are');
    }
  });

  it('that are no folders of this machine show nothing', async () => {
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

describe.concurrent.each(MATRIX)('roots of a client that has none, over $transport, $era', ({ transport, era }) => {
  it('leave the folder as what can neither be listed nor subscribed to [2093-3, SEC-ROOT-2]', async () => {
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
  it('are asked for by reads and tools, where they are needed [SEC-ROOT-2]', async () => {
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

  it('leave what cannot ask with the door, and the way to go [SEC-ROOT-2]', async () => {
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

  it('are not believed when they were not asked for, and needed when they were', async () => {
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
  it('are asked for one after the other in one request', async () => {
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

describe.concurrent.each(MATRIX)('progress over $transport, $era', ({ transport, era }) => {
  it('is reported to nobody who did not ask for it [SEC-UTIL-3]', async () => {
    const { abilities } = askable({ model: () => 'A summary.' });
    await using on = await confirming(transport, era, abilities);
    await call(on, 'summarize', { uri: LOG });
    expect(progressOf(on)).toEqual([]);
  });
});
