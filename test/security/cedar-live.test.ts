/** To Cedar, the names, URIs and arguments of callers and mounted servers are only text. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cedarPolicy } from 'vitrine/plug-ins/cedar';
import { wrapProvider } from '../../src/core/layer.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { defineTool } from '../../src/core/tool.ts';
import type { Resource } from '../../src/protocol/resources.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { ERAS, type Era } from '../e2e/harness.ts';
import { type Ask, askerOf } from './access/asking.ts';
import { outcomeOf } from './access/outcomes.ts';
import { hashOf, RESOURCE } from './authorization-servers.ts';

const POLICIES = `
@id("guide") permit(principal, action, resource is Vitrine::Resource) when { resource.uri like "memory:///guide*" };
@id("mount") permit(principal, action == Vitrine::Action::"list", resource) when { resource.uri == "memory:///" };
@id("secret") @effect("hide") forbid(principal, action, resource is Vitrine::Resource)
when { resource.uri like "*secret*" || (resource has name && resource.name like "*secret*") };
@id("odd") forbid(principal, action == Vitrine::Action::"read", resource is Vitrine::Resource)
when { resource has audience && resource.audience.contains("nobody") };
@id("board") permit(principal in Vitrine::Group::"board", action, resource);
@id("roll") permit(principal, action == Vitrine::Action::"call", resource == Vitrine::Tool::"roll")
when { context.arguments has count && context.arguments.count < 3 };
@id("no path") forbid(principal, action == Vitrine::Action::"call", resource)
when { context.arguments has path && context.arguments.path like "/etc/*" };
@id("wipe") @effect("hide") forbid(principal, action == Vitrine::Action::"call", resource == Vitrine::Tool::"wipe");
@id("greet") permit(principal, action == Vitrine::Action::"prompt", resource == Vitrine::Prompt::"greet");
`;

/** Names of groups, as a caller could choose them to be taken for the board. */
const ENTITIES = [
  { uid: { type: 'Vitrine::Group', id: 'inner' }, attrs: {}, parents: [{ type: 'Vitrine::Group', id: 'board' }] },
];

const secretOf = (name: string): string => `${name}-token-0123456789abcdef`;
const TOKENS = [
  { name: 'board', groups: ['inner'] },
  {
    name: 'quoted',
    groups: ['board"', '"board"', 'Vitrine::Group::"board"', 'board\u0000', 'BOARD', 'b\u043eard', ' board'],
  },
  { name: 'spelled', groups: ['{"type":"Vitrine::Group","id":"board"}', '__entity', 'board\\u0000', 'Board', '*'] },
  { name: 'halved', groups: ['board\ud800', '\udc00board'] },
  { name: 'scoped', groups: [], scopes: ['board', 'Vitrine::Group::"board"'] },
].map((token) => ({ ...token, hash: hashOf(secretOf(token.name)) }));

const HALF = 'half\ud800';
/** Names that look like Cedar syntax. */
const HOSTILE = [
  'x"',
  '\\"',
  '"; permit(principal, action, resource); //',
  'Vitrine::Tool::"roll"',
  'roll"',
  'roll\u0000',
  'roll ',
  'r\u043ell',
  'roll\u200b',
  'ROLL',
  'roll*',
  '*',
  '__entity',
  '{"__entity":{"type":"Vitrine::Tool","id":"roll"}}',
  HALF,
  '\udfff',
  '\u202eroll',
  'a'.repeat(100_000),
];

let vitrine: Vitrine;
let serving: HttpServing;
const failures: string[] = [];

/** A provider whose list gives entries any fields, as a mounted server may. */
function telling(): ResourceProvider {
  const inner = memoryProvider({
    resources: {
      ...Object.fromEntries(['one', 'two'].map((name) => [`guide/${name}.md`, { text: `text of ${name}` }])),
      'secret.md': { text: 'text of secret' },
    },
  });
  const more = ODD.map(([name, facts]) => ({ uri: `memory:///guide/${name}`, name, ...facts }) as unknown as Resource);
  return wrapProvider(inner, {
    async list(uri, page, ctx) {
      const { resources, ...rest } = await inner.list(uri, page, ctx);
      return uri === 'memory:///guide' && rest.nextCursor === undefined
        ? { ...rest, resources: [...resources, ...more] }
        : { ...rest, resources };
    },
  });
}

const ODD: readonly (readonly [string, object])[] = [
  ['halved', { name: HALF }],
  ['nothing', { name: null }],
  ['numbered', { mimeType: 5 }],
  ['nobody', { annotations: { audience: [null] } }],
  ['claiming', { annotations: { audience: { __entity: { type: 'Vitrine::Group', id: 'board' } } } }],
  ['made', { annotations: { audience: { __extn: { fn: 'unknown', arg: 'x' } } } }],
];

beforeAll(async () => {
  const log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (message: string, facts?: object) => void failures.push(`${message} ${JSON.stringify(facts ?? {})}`),
  };
  vitrine = createVitrine({
    mounts: [{ name: 'docs', provider: telling(), prefix: 'none' }],
    tools: ['roll', 'wipe', 'write'].map((name) =>
      defineTool({ name, inputSchema: { type: 'object' }, run: () => `${name} done` }),
    ),
    prompts: ['greet', 'hush'].map((name) => ({
      name,
      get: () => ({ messages: [{ role: 'user' as const, content: { type: 'text' as const, text: name } }] }),
    })),
    access: await cedarPolicy({ policies: POLICIES, entities: ENTITIES, log }),
  });
  serving = await serveHttp(vitrine, { port: 0, auth: { resource: RESOURCE, anonymous: true, tokens: TOKENS }, log });
});

afterAll(async () => {
  await serving.close();
  await vitrine.close();
});

const asker = (era: Era, name?: string): Promise<Ask> => askerOf(serving.url, era, name && secretOf(name));

/** Methods whose parameters have a name. */
const METHODS: readonly (readonly [string, (name: string) => object])[] = [
  ['resources/read', (name) => ({ uri: name })],
  ['resources/read', (name) => ({ uri: `memory:///${name}` })],
  ['resources/read', (name) => ({ uri: `memory:///${encodeURIComponent(name.toWellFormed())}` })],
  ['resources/metadata', (name) => ({ uri: `memory:///${name}` })],
  ['resources/list', (name) => ({ uri: `memory:///${name}` })],
  ['resources/directory/read', (name) => ({ uri: `memory:///${name}` })],
  ['tools/call', (name) => ({ name, arguments: { count: 1 } })],
  ['prompts/get', (name) => ({ name })],
  ['completion/complete', (name) => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'who', value: name } })],
  [
    'completion/complete',
    (name) => ({ ref: { type: 'ref/resource', uri: `memory:///${name}{x}` }, argument: { name: 'x', value: '' } }),
  ],
];

describe.each(ERAS)('in the %s era', (era) => {
  it.each(METHODS.map(([method, params], index) => [method, index, params] as const))(
    '%s (%i) of a hostile name is neither answered nor an internal error',
    async (method, _index, params) => {
      const ask = await asker(era);
      for (const name of HOSTILE) {
        // In the 2026 era a header repeats the name, and the server refuses a header of that length before it decides anything.
        if (era === 'modern' && name.length > 10_000) continue;
        const reply = await ask(method, params(name) as Readonly<Record<string, unknown>>);
        const outcome = reply.status >= 400 && reply.error !== undefined ? 'refused' : outcomeOf(reply);
        expect([JSON.stringify(name).slice(0, 60), outcome]).toEqual([
          expect.any(String),
          expect.stringMatching(/^(?:denied|missing|refused|failed: (?:invalid|not-found|undefined)|failed: tool)$/),
        ]);
        expect(reply.text).not.toContain('internal');
      }
      expect(failures.filter((line) => !line.includes('counts as a forbid'))).toEqual([]);
    },
  );

  it.each(['quoted', 'spelled', 'halved', 'scoped'])(
    'groups with similar names do not make anybody a member of the board: %s',
    async (name) => {
      const ask = await asker(era, name);
      expect(outcomeOf(await ask('resources/read', { uri: 'memory:///secret.md' }))).toBe('missing');
      expect(outcomeOf(await ask('tools/call', { name: 'write', arguments: {} }))).toMatch(/^(?:denied|missing)$/);
      const board = await asker(era, 'board');
      expect(outcomeOf(await board('tools/call', { name: 'write', arguments: {} }))).toBe('answered');
    },
  );

  it.each<readonly [string, unknown, string]>([
    ['as they are meant', { count: 1 }, 'answered'],
    ['too many', { count: 3 }, 'denied'],
    ['as an entity', { count: { __entity: { type: 'Vitrine::Group', id: 'board' } } }, 'denied'],
    ['as an entity, deep', { count: 1, a: [{ b: { __entity: { type: 'Vitrine::Group', id: 'board' } } }] }, 'denied'],
    ['as an extension', { count: { __extn: { fn: 'decimal', arg: '1.0' } } }, 'denied'],
    ['as unknown', { count: 1, path: { __extn: { fn: 'unknown', arg: 'path' } } }, 'denied'],
    ['as an expression', { count: 1, path: { __expr: '1' } }, 'denied'],
    ['as a principal', { count: { type: 'Vitrine::Principal', id: 'token:board' } }, 'denied'],
    ['as text', { count: '1' }, 'denied'],
    ['as a list', { count: [1] }, 'denied'],
    ['as nothing', { count: null }, 'denied'],
    ['with a fraction', { count: 1.5 }, 'denied'],
    ['beyond whole numbers', { count: -1e300 }, 'denied'],
    ['by the prototype', JSON.parse('{"__proto__":{"count":1}}'), 'denied'],
    ['twice', { count: 1, constructor: { count: 9 }, hasOwnProperty: 1 }, 'answered'],
    ['with a path', { count: 1, path: '/etc/passwd' }, 'denied'],
    ['with a path in a list', { count: 1, path: ['/etc/passwd'] }, 'denied'],
    ['with a path in an object', { count: 1, path: { toString: '/etc/passwd' } }, 'denied'],
    ['with half a character', { count: 1, a: HALF }, 'denied'],
    ['with half a character in a name', { count: 1, [HALF]: 1 }, 'denied'],
    ['with a zero', { count: 1, 'a\0': '\0' }, 'answered'],
    ['deep', { count: 1, deep: nested(30) }, 'answered'],
    ['too deep', { count: 1, deep: nested(40) }, 'denied'],
    ['many', { count: 1, list: numbers(1_000) }, 'answered'],
    ['far too many numbers', { count: 1, list: numbers(50_000) }, 'denied'],
    ['far too many empty lists', { count: 1, list: Array.from({ length: 20_000 }, () => []) }, 'denied'],
    [
      'far too many names',
      { count: 1, all: Object.fromEntries(numbers(20_000).map((each) => [`k${each}`, 1])) },
      'denied',
    ],
    ['far too long a text', { count: 1, text: 'x'.repeat(1_000_000) }, 'denied'],
  ])('only the value of an argument decides, and nothing else in it: %s', async (_name, args, expected) => {
    const ask = await asker(era);
    expect(outcomeOf(await ask('tools/call', { name: 'roll', arguments: args }))).toBe(expected);
    // A hidden tool stays hidden, whatever arguments it gets.
    expect(outcomeOf(await ask('tools/call', { name: 'wipe', arguments: args }))).toBe('missing');
  });

  it('enormous arguments delay no other caller', async () => {
    const ask = await asker(era);
    const list = Array.from({ length: 1_000_000 }, () => []);
    // Measured in processor time, which is the same on a busy machine.
    let longest = 0;
    let last = process.cpuUsage();
    const pulse = setInterval(() => {
      const { user, system } = process.cpuUsage(last);
      longest = Math.max(longest, (user + system) / 1_000);
      last = process.cpuUsage();
    }, 10);
    try {
      for (let index = 0; index < 3; index++) await ask('tools/call', { name: 'roll', arguments: { count: 1, list } });
    } finally {
      clearInterval(pulse);
    }
    // Without a limit of arguments, it would be half a minute for each call.
    expect(longest).toBeLessThan(5_000);
  });

  it('entries with fields that Cedar cannot represent are hidden, and the others are shown', async () => {
    const ask = await asker(era);
    const { result, error } = await ask('resources/list', { uri: 'memory:///guide' });
    expect(error).toBeUndefined();
    const uris = ((result?.resources ?? []) as readonly Resource[]).map(({ uri }) => uri);
    expect(uris).toEqual(expect.arrayContaining(['memory:///guide/one.md', 'memory:///guide/two.md']));
    for (const hidden of ['halved', 'nothing', 'nobody']) expect(uris).not.toContain(`memory:///guide/${hidden}`);
    const all = await ask('resources/list', {});
    expect([all.error, all.text]).toEqual([undefined, expect.not.stringContaining('secret')]);
    expect(outcomeOf(await ask('tools/call', { name: 'search', arguments: { pattern: 'text' } }))).not.toMatch(
      /^failed/,
    );
  });
});

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function nested(levels: number): object {
  let value: object = {};
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}
