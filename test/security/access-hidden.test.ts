/** A hidden resource gets the answer of a missing one: the same bytes, status and headers, after the same operations (SEC-RES-2). */
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccessRules } from '../../src/layers/access/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { serveStdio } from '../../src/serving/stdio/index.ts';
import type { Vitrine } from '../../src/vitrine.ts';
import { ERAS, type Era } from '../e2e/harness.ts';
import { ENVELOPE, INITIALIZE, post } from '../e2e/raw.ts';
import { within } from '../e2e/waiting.ts';
import { askerOf, honoured } from './access/asking.ts';
import { makePlace, type Place } from './access/place.ts';

type Data = Readonly<Record<string, unknown>>;

const RULES: AccessRules = {
  rules: [
    {
      name: 'drafts',
      effect: 'hide',
      uris: ['docs+file:///drafts/**', 'docs+file:///*.bin', 'notes+memory:///deep/**'],
    },
    { name: 'secrets', effect: 'hide', uris: ['wiki+memory:///staff/**', 'items+item:8'] },
    { name: 'state', effect: 'hide', mounts: ['vitrine'] },
    { name: 'tools', effect: 'hide', tools: ['wipe', 'wiki_wipe', 'search'] },
    { name: 'prompts', effect: 'hide', prompts: ['hush', 'wiki_tell'] },
  ],
  default: 'allow',
};

/** Hidden resources, each with a missing one in the same folder whose name has the same length, since headers contain lengths. */
const RESOURCES: readonly (readonly [hidden: string, missing: string])[] = [
  ['docs+file:///drafts/new.md', 'docs+file:///drafts/nix.md'],
  ['docs+file:///big.bin', 'docs+file:///nix.bin'],
  ['docs+file:///big.bin', 'docs+file:///nix.txt'],
  ['docs+file:///drafts', 'docs+file:///nothin'],
  ['notes+memory:///deep', 'notes+memory:///none'],
  ['notes+memory:///deep/er/down.txt', 'notes+memory:///nope/er/down.txt'],
  ['wiki+memory:///staff/secret.md', 'wiki+memory:///staff/nothin.md'],
  ['wiki+memory:///staff/secret.md', 'wiki+memory:///other/nothin.md'],
  ['items+item:8', 'items+item:x'],
  ['vitrine+state:///upstreams', 'vitrine+state:///downstrea'],
];

const tool = (name: string, more: Data = {}) => ({
  method: 'tools/call',
  params: (uri: string): Data => ({ name, arguments: { uri, ...more } }),
});

const WAYS: readonly { readonly method: string; readonly params: (uri: string) => Data }[] = [
  ...['resources/list', 'resources/directory/read', 'resources/read', 'resources/metadata'].map((method) => ({
    method,
    params: (uri: string): Data => ({ uri }),
  })),
  { method: 'resources/read', params: (uri) => ({ uri, _meta: { 'vitrine/range': { offset: 3 } } }) },
  { method: 'resources/read', params: (uri) => ({ uri: `${uri}#L1-L2` }) },
  tool('list'),
  tool('list', { mount: 'docs' }),
  tool('list', { prefix: 'docs+' }),
  tool('describe'),
  tool('read'),
  tool('read', { as: 'window' }),
  tool('read', { as: 'plain' }),
  tool('read_embedded'),
  tool('subscribe'),
  tool('unsubscribe'),
  tool('summarize'),
];

const NAMED: readonly {
  readonly method: string;
  readonly pair: readonly [string, string];
  readonly params: (name: string) => Data;
}[] = [
  ...(
    [
      ['wipe', 'wipq'],
      ['search', 'serach'],
      ['wiki_wipe', 'wiki_wipq'],
    ] as const
  ).flatMap((pair) =>
    [{}, { count: 1 }, { count: 'no number' }].map((args) => ({
      method: 'tools/call',
      pair,
      params: (name: string): Data => ({ name, arguments: args }),
    })),
  ),
  ...(
    [
      ['hush', 'hask'],
      ['wiki_tell', 'wiki_tall'],
    ] as const
  ).flatMap((pair) => [
    { method: 'prompts/get', pair, params: (name: string): Data => ({ name, arguments: { who: 'you' } }) },
    { method: 'prompts/get', pair, params: (name: string): Data => ({ name, arguments: { what: 'else' } }) },
    {
      method: 'completion/complete',
      pair,
      params: (name: string): Data => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'who', value: '' } }),
    },
  ]),
];

/** Every part of an answer that its reader could compare with another answer. */
type Seen = (method: string, params: Data) => Promise<unknown>;

const blind = (text: string, ...names: readonly string[]): string =>
  names
    .reduce((all, name) => all.replaceAll(name, '<it>').replaceAll(JSON.stringify(name).slice(1, -1), '<it>'), text)
    .replace(/\\?"id\\?":\d+/, '<id>');

let place: Place;
let vitrine: Vitrine;
let serving: HttpServing;

beforeAll(async () => {
  place = await makePlace();
  vitrine = place.engine(RULES);
  serving = await serveHttp(vitrine, { port: 0 });
});

afterAll(async () => {
  await serving.close();
  await vitrine.close();
  await place[Symbol.asyncDispose]();
});

/** Status, headers and body. */
async function overHttp(era: Era): Promise<Seen> {
  const ask = await askerOf(serving.url, era, undefined);
  return async (method, params) => {
    const { status, headers, text } = await ask(method, params);
    const { date: _date, ...others } = Object.fromEntries(headers);
    return { status, headers: others, text };
  };
}

/** One line of output. */
async function overPipes(era: Era): Promise<{ readonly seen: Seen; close(): Promise<void> }> {
  const input = new PassThrough();
  const output = new PassThrough();
  const stdio = serveStdio(vitrine, { input, output });
  const waiting: ((line: string) => void)[] = [];
  let left = '';
  output.on('data', (chunk: Buffer) => {
    const lines = (left + chunk.toString()).split('\n');
    left = lines.pop() ?? '';
    for (const line of lines) if (line.includes('"id"')) waiting.shift()?.(line);
  });
  const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let id = 100;
  const seen: Seen = (method, params) => {
    const _meta = { ...(params._meta as object), ...(era === 'modern' && ENVELOPE) };
    const line = new Promise<string>((resolve) => waiting.push(resolve));
    send({ id: ++id, method, params: { ...params, ...(Object.keys(_meta).length > 0 && { _meta }) } });
    return within(line, `the answer to ${method}`);
  };
  if (era === 'legacy') {
    await seen('initialize', INITIALIZE);
    send({ method: 'notifications/initialized' });
  }
  return { seen, close: () => stdio.close() };
}

describe.each(ERAS.flatMap((era) => [{ era, over: 'HTTP' } as const, { era, over: 'pipes' } as const]))(
  'over $over in the $era era',
  ({ era, over }) => {
    let seen: Seen;
    let end = async (): Promise<void> => {};
    beforeAll(async () => {
      if (over === 'HTTP') seen = await overHttp(era);
      else ({ seen, close: end } = await overPipes(era));
    });
    afterAll(() => end());

    const answerTo = async (method: string, params: Data, ...names: readonly string[]): Promise<string> =>
      blind(JSON.stringify(await seen(method, params)), ...names);

    it.each(RESOURCES)('%s gets the answers of %s [SEC-RES-2]', async (hidden, missing) => {
      const ways =
        era === 'legacy' ? [...WAYS, { method: 'resources/subscribe', params: (uri: string) => ({ uri }) }] : WAYS;
      for (const { method, params } of ways) {
        const missed = await answerTo(method, params(missing), missing);
        expect({ method, params: params(''), answer: await answerTo(method, params(hidden), hidden) }).toEqual({
          method,
          params: params(''),
          answer: missed,
        });
      }
    });

    it('a hidden tool or prompt gets the answers of a missing one [SEC-TOOL-2, SEC-PROMPT-2]', async () => {
      for (const { method, pair, params } of NAMED) {
        const [hidden, missing] = pair;
        const missed = await answerTo(method, params(missing), missing, missing.replace('wiki_', ''));
        expect({ pair, params: params(''), answer: await answerTo(method, params(hidden), hidden) }).toEqual({
          pair,
          params: params(''),
          answer: missed,
        });
        expect(missed).toMatch(/There is no (tool|prompt) named/);
      }
    });
  },
);

it('a listen stream leaves out hidden and missing resources alike', async () => {
  for (const pair of RESOURCES) expect(await honoured(serving.url, undefined, pair)).toEqual([]);
});

describe('the operations of the providers', () => {
  it.each(RESOURCES.filter(([hidden]) => !hidden.startsWith('vitrine')))(
    'are as many for %s as for %s',
    async (hidden, missing) => {
      const ask = await askerOf(serving.url, 'modern', undefined);
      const work = async (uri: string): Promise<readonly number[]> => {
        const all: number[] = [];
        for (const { method, params } of WAYS) {
          const from = place.reached.length;
          await ask(method, params(uri));
          all.push(place.reached.length - from);
        }
        return all;
      };
      const done = await work(hidden);
      expect(done).toEqual(await work(missing));
      expect(Math.max(...done)).toBe(1);
    },
  );
});

describe('a mount that is wholly hidden from the caller', () => {
  const hiding: AccessRules = {
    rules: [{ effect: 'allow', mounts: ['docs'] }],
  };

  it('is not named by tools, instructions, declared capabilities and notes of missing parts', async () => {
    const own = place.engine(hiding, { server: { instructions: 'Come in.' } });
    const http = await serveHttp(own, { port: 0 });
    try {
      for (const era of ERAS) {
        const ask = await askerOf(http.url, era, undefined);
        const listed = async (name: string, mount: string) =>
          blind((await ask('tools/call', { name, arguments: { mount } })).text, mount);
        for (const name of ['list', 'list_templates'])
          expect(await listed(name, 'wiki')).toBe(await listed(name, 'wika'));
        const texts = await Promise.all(
          ['resources/list', 'resources/templates/list', 'tools/list', 'prompts/list'].map(
            async (method) => (await ask(method)).text,
          ),
        );
        const greeting =
          era === 'modern'
            ? (await ask('server/discover')).text
            : (await post(http.url, 'legacy', 'initialize', INITIALIZE)).text;
        for (const text of [...texts, greeting]) {
          expect(text).not.toMatch(/wiki|notes\+|items\+/);
        }
        expect(greeting).toContain('Come in.');
      }
    } finally {
      await http.close();
      await own.close();
    }
  });
});

describe('a feature of which the caller may use nothing', () => {
  it('is not declared, its methods do not exist, and everything else works [SEC-CAP-1]', async () => {
    const own = place.engine({ rules: [{ effect: 'allow', operations: ['list', 'read', 'metadata'] }] });
    const http = await serveHttp(own, { port: 0 });
    try {
      for (const era of ERAS) {
        const ask = await askerOf(http.url, era, undefined);
        // With a progress token the request cannot get a kept answer.
        for (const _meta of [{}, { progressToken: 'p' }]) {
          const read = await ask('resources/read', { uri: 'docs+file:///a.txt', _meta });
          expect(read.text).toContain('text of a');
          for (const [method, params] of [
            ['prompts/list', {}],
            ['prompts/get', { name: 'greet' }],
            ['completion/complete', { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'who', value: '' } }],
          ] as const) {
            expect([method, (await ask(method, { ...params, _meta })).error?.code]).toEqual([method, -32_601]);
          }
        }
        const hello =
          era === 'modern' ? await ask('server/discover') : await post(http.url, 'legacy', 'initialize', INITIALIZE);
        expect(hello.text).toContain('"capabilities"');
        expect(hello.text).not.toMatch(/"prompts"|"completions"|"subscribe"/);
      }
    } finally {
      await http.close();
      await own.close();
    }
  });
});
