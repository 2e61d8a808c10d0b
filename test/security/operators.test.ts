/**
 * The operators of a server see its mounts, the audit, the rates, and the permissions of principals. A principal who may do everything
 * else, but is no operator, cannot tell that this state exists.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccessRule } from '../../src/layers/access/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { ERAS } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { type Ask, askerOf } from './access/asking.ts';

const tokenOf = (name: string): string => `${name}-token-0123456789abcdef`;
const ROOT = 'vitrine+state:///';
const EXPLAIN = `${ROOT}explain?subject=bob&uri=${encodeURIComponent('docs+memory:///drafts/a.txt')}`;
const SECRET = 'AKIAIOSFODNN7EXAMPLD';

/** Ada is an operator, Bob may do everything else, Eve may do nothing. */
const RULES: readonly AccessRule[] = [
  { name: 'everything', effect: 'allow', who: { subjects: ['ada', 'bob', 'cy'] } },
  { name: 'drafts', effect: 'hide', who: { subjects: ['ada', 'bob'] }, uris: ['docs+memory:///drafts/**'] },
];
const OPERATORS: readonly AccessRule[] = [
  { name: 'operators', effect: 'allow', who: { subjects: ['ada'] }, mounts: ['vitrine'] },
  { name: 'rates only', effect: 'allow', who: { subjects: ['cy'] }, uris: ['**', 'vitrine+state:///rates'] },
];

interface Served extends AsyncDisposable {
  readonly serving: HttpServing;
  readonly vitrine: Vitrine;
  readonly audit: string;
}

let folder: Folder;
let run: Served;
/** The same server without an operator. */
let other: Served;

async function start(name: string, rules: readonly AccessRule[]): Promise<Served> {
  const audit = folder.at(`${name}.jsonl`);
  const vitrine = createVitrine({
    keys: [Buffer.alloc(32, 7)],
    mounts: [
      {
        name: 'docs',
        provider: memoryProvider({ resources: { 'a.txt': { text: 'open' }, 'drafts/a.txt': { text: 'a draft' } } }),
        health: () => ({ state: 'away', reason: `refused the password ${SECRET}` }),
      },
    ],
    hide: (text) => text.replaceAll(SECRET, '***'),
    access: { rules: [...rules] },
    audit: { file: audit },
  });
  const hash = (token: string): string => createHash('sha256').update(token).digest('hex');
  const tokens = ['ada', 'bob', 'cy', 'eve'].map((each) => ({ name: each, hash: hash(tokenOf(each)) }));
  const serving = await serveHttp(vitrine, { port: 0, auth: { resource: 'http://127.0.0.1/mcp', tokens } });
  return {
    serving,
    vitrine,
    audit,
    async [Symbol.asyncDispose]() {
      await serving.close();
      await vitrine.close();
    },
  };
}

beforeAll(async () => {
  folder = await temporaryFolder({});
  run = await start('run', [...RULES, ...OPERATORS]);
  other = await start('other', RULES);
});

afterAll(async () => {
  await run?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

const askFor = (person: string, era: (typeof ERAS)[number], served = run): Promise<Ask> =>
  askerOf(served.serving.url, era, tokenOf(person));

async function read(ask: Ask, uri: string): Promise<Record<string, unknown>> {
  const { result, text } = await ask('resources/read', { uri });
  const [contents] = (result?.contents ?? []) as readonly { readonly text: string }[];
  expect(contents, text).toBeDefined();
  return JSON.parse(contents?.text ?? '');
}

const urisIn = (result: object | undefined): readonly string[] =>
  ((result as { resources?: readonly { uri: string }[] } | undefined)?.resources ?? []).map(({ uri }) => uri);

describe.each(ERAS)('the state of the server, for an operator in the %s era', (era) => {
  it('is a folder among the mounts', async () => {
    const ask = await askFor('ada', era);
    const documents = ['mounts', 'audit', 'rates'].map((name) => ROOT + name);
    expect(urisIn((await ask('resources/list', { uri: ROOT })).result)).toEqual(documents);
    expect(urisIn((await ask('resources/list')).result)).toEqual(expect.arrayContaining(documents));
    const { result } = await ask('resources/templates/list');
    expect(result?.resourceTemplates).toContainEqual(
      expect.objectContaining({
        uriTemplate: `${ROOT}explain{?uri,subject,issuer,client,groups,scopes,tool,prompt}`,
      }),
    );
  });

  it('has the state of the mounts, without anything that no client may see', async () => {
    const { mounts } = await read(await askFor('ada', era), `${ROOT}mounts`);
    expect(mounts).toEqual([
      expect.objectContaining({
        name: 'docs',
        kind: 'memory',
        schemes: ['memory'],
        server: { state: 'away', reason: 'refused the password ***' },
      }),
    ]);
  });

  it('has the last lines of the audit, as they are in the file', async () => {
    const ask = await askFor('ada', era);
    await ask('resources/read', { uri: 'docs+memory:///a.txt' });
    const lines = await until(async () => {
      const { lines } = await read(ask, `${ROOT}audit`);
      const all = lines as readonly Record<string, unknown>[];
      return all.some(({ uri }) => uri === 'docs+memory:///a.txt') ? all : undefined;
    }, 'the line of the read');
    const file = (await readFile(run.audit, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const line of lines) expect(file).toContainEqual(line);
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => Number(lines[0]?.seq) + at));
  });

  it('has the rates with their users', async () => {
    const rates = await read(await askFor('ada', era), `${ROOT}rates`);
    expect(rates).toMatchObject({ shared: false, atATime: { requests: { most: 1_000, mostOfOnePrincipal: 250 } } });
    const [principals] = rates.rates as readonly { limit: string; rate: string; most: readonly { key: string }[] }[];
    expect(principals).toMatchObject({ limit: 'rates.principal', rate: '6000/min' });
    expect(principals?.most.map(({ key }) => key)).toContain('token:ada');
  });

  it('explains what a principal may do, without naming what the reader may not know', async () => {
    const ask = await askFor('ada', era);
    expect(await read(ask, EXPLAIN)).toEqual({
      who: { subject: 'bob', groups: [], scopes: [] },
      uri: 'docs+memory:///drafts/a.txt',
      seen: false,
      decisions: ['list', 'read', 'metadata', 'subscribe'].map((operation) => ({
        operation,
        effect: 'hide',
        rule: 'drafts',
        also: [{ effect: 'allow', rule: 'everything' }],
      })),
    });
    const missing = await read(ask, EXPLAIN.replace('a.txt', 'b.txt'));
    expect(missing).toMatchObject({ seen: false, decisions: [{ effect: 'hide' }, {}, {}, {}] });
    expect(await read(ask, `${ROOT}explain?subject=eve&tool=read&groups=a,b`)).toMatchObject({
      who: { subject: 'eve', groups: ['a', 'b'] },
      decisions: [{ operation: 'call', effect: 'allow', rule: 'default of resource tools' }],
    });
    expect(await read(ask, `${ROOT}explain?subject=anonymous&prompt=any`)).toMatchObject({
      decisions: [{ operation: 'prompt', effect: 'deny', rule: 'default' }],
    });
    for (const query of ['?subject=eve', '?uri=a:b', '?subject=eve&uri=a:b&tool=x', '?subject=a&subject=b', '?no=1'])
      expect((await ask('resources/read', { uri: `${ROOT}explain${query}` })).error?.message).toMatch(
        /Say who in the query|each of these once/,
      );
  });

  it('is reduced to one document for a principal to whom a rule allows only that document', async () => {
    const ask = await askFor('cy', era);
    expect(urisIn((await ask('resources/list', { uri: ROOT })).result)).toEqual([`${ROOT}rates`]);
    expect((await ask('resources/read', { uri: `${ROOT}rates` })).error).toBeUndefined();
    expect((await ask('resources/read', { uri: `${ROOT}audit` })).error?.message).toContain('not found');
  });

  it.each(['bob', 'eve'])('has the answers of a missing resource for others, in %s', async (person) => {
    const ask = await askFor(person, era);
    const nothing = await askFor(person, era, other);
    /** The second resource is missing on both servers. */
    const pairs = [
      [`${ROOT}mounts`, `${ROOT}nothin`],
      [`${ROOT}audit`, `${ROOT}nixda`],
      [`${ROOT}rates`, `${ROOT}nixda`],
      [`${ROOT}explain`, `${ROOT}nothing`],
      [EXPLAIN, EXPLAIN.replace('explain', 'nothing')],
      [ROOT, ROOT],
    ] as const;
    const calls = (uri: string): readonly (readonly [string, object])[] => [
      ...['resources/read', 'resources/list', 'resources/metadata'].map((method) => [method, { uri }] as const),
      ...['read', 'list', 'describe', 'subscribe', 'search'].map((name) => {
        const sought = name === 'search' ? { pattern: 'a' } : {};
        return ['tools/call', { name, arguments: { uri, ...sought } }] as const;
      }),
    ];
    const blind = (text: string, uri: string): string =>
      text
        .replaceAll(uri, '<it>')
        .replaceAll(JSON.stringify(uri).slice(1, -1), '<it>')
        .replace(/\\?"id\\?":\d+/, '<id>')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
    for (const [there, missing] of pairs)
      for (const [at, [method, params]] of calls(there).entries()) {
        const seen = await ask(method, { ...params });
        const expected = await nothing(method, { ...calls(missing)[at]?.[1] });
        const what = `${method} ${JSON.stringify(params)}`;
        expect(seen.status, what).toBe(expected.status);
        expect(blind(seen.text, there), what).toBe(blind(expected.text, missing));
      }
    for (const [method, params] of [
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['tools/list', {}],
      ['tools/call', { name: 'list', arguments: {} }],
      ['tools/call', { name: 'list_templates', arguments: {} }],
      ['tools/call', { name: 'search', arguments: { pattern: 'resources' } }],
    ] as const)
      expect(blind((await ask(method, params)).text, ROOT)).toBe(blind((await nothing(method, params)).text, ROOT));
  });
});

describe('in the explorer', () => {
  const page = async (path: string, person: string): Promise<{ readonly status: number; readonly text: string }> => {
    const response = await fetch(new URL(path, run.serving.url), {
      headers: { authorization: `Bearer ${tokenOf(person)}`, accept: 'text/html' },
    });
    return { status: response.status, text: await response.text() };
  };

  it('is among the mounts for an operator', async () => {
    const home = await page('/', 'ada');
    expect(home.text).toContain('href="/view/vitrine+state/"');
    const listed = await page('/view/vitrine+state/', 'ada');
    for (const name of ['mounts', 'audit', 'rates'])
      expect(listed.text).toContain(`href="/view/vitrine+state/${name}"`);
    expect((await page('/view/vitrine+state/rates', 'ada')).text).toContain('rates.principal');
    const explained = await page(`/view?uri=${encodeURIComponent(EXPLAIN)}`, 'ada');
    expect(explained.text).toContain('drafts');
  });

  it('has no page and no name for others', async () => {
    expect((await page('/', 'bob')).text).not.toContain('vitrine+state');
    const missing = await page('/view/vitrine+state/nothin', 'bob');
    expect(missing.status).toBe(404);
    const hidden = await page('/view/vitrine+state/mounts', 'bob');
    expect(hidden.status).toBe(404);
    expect(hidden.text.replaceAll('mounts', 'nothin')).toBe(missing.text.replaceAll('mounts', 'nothin'));
  });
});

it('the state of the server exists for nobody without rules, nor by the default of rules', async () => {
  for (const access of [undefined, { rules: [], default: 'allow' as const }]) {
    const vitrine = createVitrine({
      mounts: [{ name: 'docs', provider: memoryProvider({ resources: {} }) }],
      ...(access && { access }),
    });
    for (const name of ['mounts', 'rates', 'explain'])
      await expect(vitrine.read(`${ROOT}${name}`)).rejects.toMatchObject({ code: 'not-found' });
    await vitrine.close();
  }
});
