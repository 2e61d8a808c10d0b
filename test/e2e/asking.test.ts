/** The server asks its client's user for confirmation, and its model for work. */
import { isJSONRPCNotification } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallToolResult } from '../../src/protocol/content.ts';
import { failure, type ListAnswer } from './answers.ts';
import { askable } from './asked.ts';
import { call, loose, OVER, round, said, text } from './asking.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import {
  type Abilities,
  type Connected,
  connectHttp,
  connectStdio,
  type Era,
  type Listening,
  MATRIX,
  startHttp,
  type TransportKind,
} from './harness.ts';
import { within } from './waiting.ts';

const PLAN = 'docs+file:///private/plan.md';
const OTHER = 'docs+file:///private/other.md';

const LINES = Array.from({ length: 3_000 }, (_, index) => `Line ${index}: the clocks were wound at nine.\n`).join('');

let folder: Folder;
let args: readonly string[];
/** Over HTTP one server serves all tests, which share only the resources that they read. */
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

describe.concurrent.each(MATRIX)(
  "a read that needs a human's confirmation over $transport, $era",
  ({ transport, era }) => {
    it('is done once the user agrees, and each read is asked about', async () => {
      const { abilities, questions } = askable({ user: () => 'accept' });
      await using on = await confirming(transport, era, abilities);
      expect(await text(on, 'docs+file:///open.md')).toBe('open');
      expect(questions).toEqual([]);
      expect(await text(on, PLAN)).toBe('the plan');
      expect(await text(on, PLAN)).toBe('the plan');
      expect(questions).toEqual([`May this be read? ${PLAN}`, `May this be read? ${PLAN}`]);
    });

    it('is asked about under every spelling of its URI', async () => {
      const { abilities, questions } = askable({ user: () => 'decline' });
      await using on = await confirming(transport, era, abilities);
      for (const uri of ['DOCS+FILE:///private/plan.md', 'docs+file://localhost/%70rivate/plan.md']) {
        expect(await failure(text(on, uri))).toMatchObject({ code: -32_602 });
      }
      expect(questions).toEqual([`May this be read? ${PLAN}`, `May this be read? ${PLAN}`]);
    });

    it.each(['decline', 'cancel', 'untick'] as const)(
      'is not done if the user does not agree: %s',
      async (decision) => {
        const { abilities, questions } = askable({ user: () => decision });
        await using on = await confirming(transport, era, abilities);
        const { code, message } = await failure(text(on, PLAN));
        expect(code).toBe(-32_602);
        expect(message).toContain('The user did not let this resource be read');
        expect(questions).toHaveLength(1);
      },
    );

    it('is not done if the client cannot ask anybody; lists and metadata still show the resource', async () => {
      await using on = await confirming(transport, era);
      expect((await failure(text(on, PLAN))).message).toContain('this client cannot ask one');
      const { resources } = await on.request<ListAnswer & Record<string, unknown>>('resources/list', {
        uri: 'docs+file:///private',
      });
      expect(resources.map(({ uri }) => uri)).toEqual([OTHER, PLAN]);
    });

    it('is not done if the client supports pages for its user, and no forms', async () => {
      await using on = await confirming(transport, era, { capabilities: { elicitation: { url: {} } } });
      expect((await failure(text(on, PLAN))).message).toContain('this client cannot ask one');
    });

    it('is asked about for a tool, too; a folder is read without the unconfirmed children', async () => {
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
  },
);

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

  it('is sent back with the answer', () =>
    asking(async (on, requestState) => {
      const answer = await round(on, 'resources/read', { uri: PLAN, inputResponses: YES, requestState });
      expect(answer).toMatchObject({ contents: [{ uri: PLAN, text: 'the plan' }] });
    }));

  it('is opaque, and refused if it was altered', () =>
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

  it('belongs to one request, and no other', () =>
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

  it('is required: an answer without it does not count', () =>
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
  it("lets the client's model process the whole text, and reports progress [SEC-SAMP-2, SEC-UTIL-3]", async () => {
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
    // These come from the raw messages, because the SDK's client counts rounds itself.
    const reports = progressOf(on);
    const values = reports.map(({ progress }) => progress);
    expect(values).toEqual([...new Set(values)].sort((x, y) => Number(x) - Number(y)));
    expect(reports.at(-1)).toMatchObject({ progress: LINES.length, total: LINES.length });
  });

  it('says what to do instead if the client offers no model', async () => {
    await using on = await confirming(transport, era);
    const result = await call(on, 'summarize', { uri: LOG });
    expect(result.isError).toBe(true);
    expect(said(result)).toMatch(/declares no sampling.*read the text in windows/);
  });

  it('gives a model nothing that the user did not allow to be read [SEC-SAMP-2]', async () => {
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
    // If the work went on, it would ask the model for the next pieces while these requests are answered.
    for (let times = 0; times < 10; times++) await text(on, LOG);
    expect(prompts.length).toBeLessThanOrEqual(4);
    expect(await text(on, LOG)).toBe(LINES);
  });
});

describe.concurrent.each(MATRIX)('progress over $transport, $era', ({ transport, era }) => {
  it('is not reported unless requested [SEC-UTIL-3]', async () => {
    const { abilities } = askable({ model: () => 'A summary.' });
    await using on = await confirming(transport, era, abilities);
    await call(on, 'summarize', { uri: LOG });
    expect(progressOf(on)).toEqual([]);
  });
});
