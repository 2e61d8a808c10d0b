/** Asking a human about reads, calls and prompts, as each era does it. A yes counts only for the request that was asked about. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineTool } from '../../src/core/tool.ts';
import type { AccessRules } from '../../src/layers/access/index.ts';
import { elicitation, inputRequired } from '../../src/protocol/input-required.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import type { Vitrine } from '../../src/vitrine.ts';
import { askable, type Decision } from '../e2e/asked.ts';
import { type Connected, connectHttp, ERAS } from '../e2e/harness.ts';
import { askerOf } from './access/asking.ts';
import { makePlace, type Place } from './access/place.ts';
import { hashOf, RESOURCE } from './authorization-servers.ts';

type Data = Readonly<Record<string, unknown>>;

const RULES: AccessRules = {
  default: 'allow',
  rules: [
    { effect: 'ask', tools: ['sum', 'nested', 'wiki_edit'], uris: ['notes+**'], prompts: ['hush', 'wiki_tell'] },
    {
      effect: 'ask',
      tools: ['roll', 'wiki_echo'],
      uris: ['docs+file:///guide/**'],
      prompts: ['greet'],
      rememberSeconds: 600,
    },
  ],
};

const TOKENS = ['ann', 'bob'] as const;
const tokenOf = (name: string): string => `${name}-token-0123456789abcdef`;

const form = (message: string) =>
  elicitation(message, { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] });

/** Asks the client two questions of its own, one after the other. */
const nested = defineTool({
  name: 'nested',
  inputSchema: { type: 'object' },
  run: (_args, { answers, state, seal }) => {
    if (state === undefined) return inputRequired({ first: form('the first question') }, seal('first'));
    if (state === 'first') {
      const said = JSON.stringify(answers);
      return inputRequired({ second: form('the second question') }, seal(said));
    }
    return `${String(state)} ${JSON.stringify(answers)}`;
  },
});

let place: Place;
let vitrine: Vitrine;
let serving: HttpServing;

beforeAll(async () => {
  place = await makePlace();
  vitrine = place.engine(RULES, { tools: [nested, ...['roll', 'sum'].map(echo)] });
  serving = await serveHttp(vitrine, {
    port: 0,
    auth: {
      resource: RESOURCE,
      anonymous: true,
      tokens: TOKENS.map((name) => ({ name, hash: hashOf(tokenOf(name)) })),
    },
  });
});

afterAll(async () => {
  await serving.close();
  await vitrine.close();
  await place[Symbol.asyncDispose]();
});

function echo(name: string) {
  return defineTool({ name, inputSchema: { type: 'object' }, run: (args) => `${name} ${JSON.stringify(args)}` });
}

/** A question of each kind, and the answers that allow it. */
const THINGS: readonly {
  readonly what: string;
  readonly method: string;
  readonly params: Data;
  readonly said: string;
}[] = [
  { what: 'a read', method: 'resources/read', params: { uri: 'notes+memory:///all.txt' }, said: 'text for all' },
  {
    what: 'a read by a tool',
    method: 'tools/call',
    params: { name: 'read', arguments: { uri: 'notes+memory:///all.txt' } },
    said: 'text for all',
  },
  { what: 'a call', method: 'tools/call', params: { name: 'sum', arguments: { count: 2 } }, said: 'sum {' },
  {
    what: "a call of a mounted server's tool",
    method: 'tools/call',
    params: { name: 'wiki_edit', arguments: { count: 2 } },
    said: 'edit {',
  },
  { what: 'a prompt', method: 'prompts/get', params: { name: 'hush', arguments: { who: 'you' } }, said: 'Hush you' },
  {
    what: "a mounted server's prompt",
    method: 'prompts/get',
    params: { name: 'wiki_tell', arguments: { who: 'you' } },
    said: 'tell you',
  },
];

describe.each(ERAS)('in the %s era', (era) => {
  const connected = async (decide: () => Decision) => {
    const { abilities, questions } = askable({ user: decide });
    // The pid and the output mean nothing here, because the server runs in this process.
    const server = { url: serving.url, process: { pid: 0 } as never, output: () => '' };
    return { on: await connectHttp(era, server, abilities), questions };
  };
  const asked = async (on: Connected, method: string, params: Data): Promise<string> =>
    JSON.stringify(await on.request(method, params).catch((error: unknown) => ({ error: String(error) })));

  it.each(THINGS)(
    '$what is done after a yes, which is needed for each request [SEC-TOOL-2, SEC-PROMPT-2]',
    async ({ method, params, said }) => {
      const { on: opened, questions } = await connected(() => 'accept');
      await using on = opened;
      expect(JSON.parse(await asked(on, method, params))).not.toHaveProperty('error');
      expect((await asked(on, method, params)).replaceAll('\\', '')).toContain(said);
      expect(questions).toHaveLength(2);
    },
  );

  it.each(THINGS)('$what does not happen after a no [SEC-TOOL-2, SEC-PROMPT-2]', async ({ method, params, said }) => {
    for (const decision of ['decline', 'cancel', 'untick'] as const) {
      const { on: opened, questions } = await connected(() => decision);
      await using on = opened;
      const answer = await asked(on, method, params);
      expect(answer).toMatch(/The user did not (allow this|let this resource be read)/);
      expect(answer.replaceAll('\\', '')).not.toContain(said);
      expect(questions).toHaveLength(1);
    }
  });

  it.each(THINGS)(
    '$what is not done if the client cannot ask anybody [SEC-TOOL-2, SEC-PROMPT-2]',
    async ({ method, params, said }) => {
      const { text } = await (await askerOf(serving.url, era, undefined))(method, params);
      expect(text).toContain('only after a human has confirmed it, and this client cannot ask one');
      expect(text.replaceAll('\\', '')).not.toContain(said);
    },
  );

  it('a call that has questions of its own is confirmed once, before them', async () => {
    const { on: opened, questions } = await connected(() => 'accept');
    await using on = opened;
    const answer = await asked(on, 'tools/call', { name: 'nested', arguments: { x: 1 } });
    expect(questions).toEqual([
      'May the tool nested be called with {"x":1}?',
      'the first question',
      'the second question',
    ]);
    expect(answer.match(/accept/g)).toHaveLength(2);
  });
});

const YES = { confirm: { action: 'accept', content: { confirm: true } } };
const NO = { confirm: { action: 'decline' } };

/** Sends raw requests of one person. Gives the text or error of each answer, and the state that the client has to send back. */
async function rounds(person: string | undefined, era: 'legacy' | 'modern' = 'modern') {
  const token = person === undefined ? undefined : tokenOf(person);
  const ask = await askerOf(serving.url, era, token, { elicitation: {} });
  return async (method: string, params: Data, round: Data = {}) => {
    const { result, error, text } = await ask(method, { ...params, ...round });
    return { state: result?.requestState, text: text.replaceAll('\\', ''), error };
  };
}

describe('a remembered answer', () => {
  const REMEMBERED = [
    {
      method: 'resources/read',
      params: { uri: 'docs+file:///guide/one.md' },
      other: { uri: 'docs+file:///guide/two.md' },
    },
    {
      method: 'tools/call',
      params: { name: 'roll', arguments: { count: 1 } },
      other: { name: 'roll', arguments: { count: 2 } },
    },
    {
      method: 'tools/call',
      params: { name: 'wiki_echo', arguments: { count: 1 } },
      other: { name: 'wiki_echo', arguments: { count: 2 } },
    },
    {
      method: 'prompts/get',
      params: { name: 'greet', arguments: { who: 'you' } },
      other: { name: 'greet', arguments: { who: 'all' } },
    },
  ] as const;

  it.each(REMEMBERED)(
    'of $method counts only for the same principal and the same parameters: $params',
    async ({ method, params, other }) => {
      const ann = await rounds('ann');
      const bob = await rounds('bob');
      const nobody = await rounds(undefined);
      const { state } = await ann(method, params);
      expect(state).toEqual(expect.any(String));
      const round = { requestState: state, inputResponses: YES };
      // It does not count for other arguments, nor if another principal sends the state.
      expect((await ann(method, other, round)).error?.message).toMatch(/^The request state is not valid/);
      expect((await bob(method, params, round)).error?.message).toMatch(/^The request state is not valid/);
      expect((await ann(method, params, round)).text).not.toContain('requestState');
      const again = await ann(method, params);
      expect([again.state, again.error]).toEqual([undefined, undefined]);
      expect((await ann(method, other)).state).toBeDefined();
      expect((await bob(method, params)).state).toBeDefined();
      expect((await nobody(method, params)).state).toBeDefined();
    },
  );

  it('is kept if it was a no, too, for the same principal', async () => {
    const params = { name: 'roll', arguments: { count: 99 } };
    const bob = await rounds('bob');
    const { state } = await bob('tools/call', params);
    expect((await bob('tools/call', params, { requestState: state, inputResponses: NO })).text).toContain(
      'did not allow',
    );
    expect((await bob('tools/call', params)).text).toContain('did not allow');
    expect((await (await rounds('ann'))('tools/call', params)).state).toBeDefined();
  });

  it('of a caller without a token counts for that request only', async () => {
    const nobody = await rounds(undefined);
    const params = { name: 'roll', arguments: { count: 5 } };
    const { state } = await nobody('tools/call', params);
    expect((await nobody('tools/call', params, { requestState: state, inputResponses: YES })).text).toContain('roll {');
    expect((await nobody('tools/call', params)).state).toBeDefined();
  });

  it('is kept for the session only in the 2025 era', async () => {
    const questions: string[][] = [];
    for (let session = 0; session < 2; session++) {
      const script = askable({ user: () => 'accept' });
      const server = { url: serving.url, process: { pid: 0 } as never, output: () => '' };
      await using on = await connectHttp('legacy', server, script.abilities);
      for (let count = 0; count < 2; count++) await on.request('tools/call', { name: 'roll', arguments: { again: 1 } });
      questions.push([...script.questions]);
    }
    expect(questions.map((each) => each.length)).toEqual([1, 1]);
  });
});

it('an answer to the confirmation of one call does not answer other questions', async () => {
  const nobody = await rounds(undefined);
  const params = { name: 'nested', arguments: {} };
  const first = await nobody('tools/call', params);
  // A yes to the tool's own question, before the call was confirmed.
  const early = await nobody('tools/call', params, {
    requestState: first.state,
    inputResponses: { first: YES.confirm },
  });
  expect(early.text).not.toContain('the first question');
  expect(early.text).toContain('did not allow');
});
