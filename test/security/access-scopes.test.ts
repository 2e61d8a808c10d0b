/** A caller whose token lacks only scopes is told which ones. With these scopes the request is allowed. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import type { Vitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { ERAS } from '../e2e/harness.ts';
import { PATIENCE_MS } from '../e2e/waiting.ts';
import { askerOf } from './access/asking.ts';
import { makePlace, type Place } from './access/place.ts';
import { type Issuer, RESOURCE, SCOPES, startIssuer } from './authorization-servers.ts';

type Data = Readonly<Record<string, unknown>>;

let place: Place;
let issuer: Issuer;
let folder: Folder;
let vitrine: Vitrine;
let serving: HttpServing;

beforeAll(async () => {
  place = await makePlace();
  issuer = await startIssuer();
  folder = await temporaryFolder();
  vitrine = place.engine(
    {
      rules: [
        { name: 'readers', effect: 'allow', who: { scopes: [...SCOPES] }, mounts: ['docs', 'wiki'] },
        { name: 'everybody', effect: 'allow', uris: ['docs+file:///a.txt'] },
        { name: 'no drafts', effect: 'hide', uris: ['docs+file:///drafts/**'] },
        { name: 'nothing old', effect: 'deny', uris: ['docs+file:///old.md'] },
        { name: 'a yes', effect: 'ask', tools: ['wiki_edit'] },
        { name: 'calls', effect: 'allow', who: { scopes: [...SCOPES] }, tools: ['roll'], prompts: ['greet'] },
      ],
    },
    { audit: { file: folder.at('audit.jsonl') } },
  );
  serving = await serveHttp(vitrine, {
    port: 0,
    auth: { resource: RESOURCE, anonymous: true, issuers: [{ issuer: issuer.origin }] },
  });
});

afterAll(async () => {
  await serving.close();
  await vitrine.close();
  await place[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const guide = 'docs+file:///guide/one.md';
const LACKING: readonly (readonly [string, Data])[] = [
  ['resources/read', { uri: guide }],
  ['resources/metadata', { uri: guide }],
  ['resources/list', { uri: 'docs+file:///guide' }],
  ['resources/directory/read', { uri: 'docs+file:///guide' }],
  ['resources/read', { uri: 'wiki+memory:///public/page.md' }],
  ['tools/call', { name: 'roll', arguments: {} }],
  ['tools/call', { name: 'wiki_echo', arguments: {} }],
  ['prompts/get', { name: 'greet', arguments: { who: 'you' } }],
  ['prompts/get', { name: 'wiki_ask', arguments: { who: 'you' } }],
];

describe.each(ERAS)('in the %s era', (era) => {
  it.each(LACKING)('%s is refused with the scopes that it needs, and allowed with them: %j', async (method, params) => {
    const less = await askerOf(serving.url, era, await issuer.token('reader', SCOPES[0]));
    const refused = await less(method, params);
    expect(refused.status).toBe(403);
    const challenge = refused.headers.get('www-authenticate') ?? '';
    expect(challenge).toContain('error="insufficient_scope"');
    const [, scope = ''] = /scope="([^"]*)"/.exec(challenge) ?? [];
    expect(scope.split(' ')).toContain(SCOPES[1]);
    // A client requests these scopes in addition to those of its token.
    const wanted = [...new Set([SCOPES[0], ...scope.split(' ')])].join(' ');
    const more = await askerOf(serving.url, era, await issuer.token('reader', wanted));
    const answer = await more(method, params);
    expect([answer.status, answer.error]).toEqual([200, undefined]);
  });

  it.each(LACKING)('%s is refused with a challenge for a token: %j', async (method, params) => {
    const { status, headers } = await (await askerOf(serving.url, era, undefined))(method, params);
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toContain('resource_metadata=');
  });

  it.each<readonly [string, Data, string]>([
    ['resources/read', { uri: 'docs+file:///drafts/new.md' }, 'Resource not found'],
    ['resources/read', { uri: 'docs+file:///old.md' }, 'is denied (read)'],
    ['resources/read', { uri: 'notes+memory:///all.txt' }, 'is denied (read)'],
    ['resources/read', { uri: 'docs+file:///a.txt' }, 'text of a'],
  ])('%s gets no challenge if scopes would not help, or are not needed: %j', async (method, params, said) => {
    const less = await askerOf(serving.url, era, await issuer.token('reader', SCOPES[0]));
    const { status, text } = await less(method, params);
    expect(status).toBe(200);
    expect(text).toContain(said);
  });
});

describe('the audit', () => {
  it('has the decision and the rule of each request: allowed, denied, hidden or asked about [RES-9]', async () => {
    const ask = await askerOf(serving.url, 'modern', await issuer.token());
    const file = folder.at('audit.jsonl');
    const lines = async (): Promise<Data[]> =>
      (await readFile(file, 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Data);
    await ask('resources/read', { uri: 'docs+file:///a.txt' });
    await ask('resources/read', { uri: 'docs+file:///drafts/new.md' });
    await ask('resources/read', { uri: 'docs+file:///old.md' });
    await ask('resources/read', { uri: 'notes+memory:///all.txt' });
    await ask('tools/call', { name: 'wiki_edit', arguments: {} });
    await ask('tools/call', { name: 'sum', arguments: {} });
    await expect
      .poll(
        async () =>
          (await lines())
            .filter(({ principal }) => principal === `${issuer.origin}#reader`)
            .map(({ method, uri, name, decision, rule, outcome }) =>
              [method, uri ?? name, decision, rule, outcome].join(' '),
            ),
        { timeout: PATIENCE_MS },
      )
      .toEqual(
        expect.arrayContaining([
          'read docs+file:///a.txt allow everybody ok',
          'read docs+file:///drafts/new.md hide no drafts not-found',
          'read docs+file:///old.md deny nothing old denied',
          'read notes+memory:///all.txt deny default denied',
          'tools/call wiki_edit ask a yes denied',
          'tools/call sum deny default denied',
        ]),
      );
  });
});
