/** Cedar policies decide as rules do, for every caller, in both eras: they allow, deny, hide and ask. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cedarPolicy } from 'vitrine/plug-ins/cedar';
import { defineTool } from '../../src/core/tool.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { ERAS } from '../e2e/harness.ts';
import { type Ask, askerOf } from './access/asking.ts';
import { outcomeOf } from './access/outcomes.ts';
import { hashOf, RESOURCE } from './authorization-servers.ts';

const POLICIES = `
@id("people") permit(principal in Vitrine::Group::"people", action, resource in Vitrine::Mount::"docs");
@id("guests") permit(
  principal,
  action in [Vitrine::Action::"list", Vitrine::Action::"read", Vitrine::Action::"metadata"],
  resource is Vitrine::Resource
) when { resource.uri == "memory:///" || resource.uri like "memory:///guide*" };
@id("drafts") @effect("hide") forbid(principal, action, resource is Vitrine::Resource)
when { resource.uri like "memory:///drafts*" } unless { principal in Vitrine::Group::"board" };
@id("pictures") forbid(principal, action == Vitrine::Action::"read", resource)
when { resource has mimeType && resource.mimeType like "image/*" };
@id("contracts") @effect("ask") permit(principal, action == Vitrine::Action::"read", resource)
when { resource.uri == "memory:///guide/contract.md" };
@id("typed") forbid(principal, action == Vitrine::Action::"read", resource)
when { resource.uri like "*/odd.md" && resource.missing };

@id("roll") permit(principal, action == Vitrine::Action::"call", resource == Vitrine::Tool::"roll")
when { context.arguments has count && context.arguments.count < 3 };
@id("sum") @effect("ask") permit(principal, action == Vitrine::Action::"call", resource == Vitrine::Tool::"sum");
@id("wipe") @effect("hide") forbid(principal, action == Vitrine::Action::"call", resource == Vitrine::Tool::"wipe")
unless { principal.scopes.contains("docs:write") };
@id("wiping") permit(principal, action == Vitrine::Action::"call", resource == Vitrine::Tool::"wipe");
@id("no search") forbid(principal, action == Vitrine::Action::"call", resource == Vitrine::Tool::"search")
when { !principal.authenticated };
@id("greet") permit(principal, action == Vitrine::Action::"prompt", resource == Vitrine::Prompt::"greet");
@id("hush") @effect("hide") forbid(principal, action == Vitrine::Action::"prompt", resource == Vitrine::Prompt::"hush");
`;

const ENTITIES = ['staff', 'board'].map((id) => ({
  uid: { type: 'Vitrine::Group', id },
  attrs: {},
  parents: [{ type: 'Vitrine::Group', id: 'people' }],
}));

const secretOf = (name: string): string => `${name}-token-0123456789abcdef`;
const TOKENS = [
  { name: 'staff', groups: ['staff'] },
  { name: 'board', groups: ['board'], scopes: ['docs:write'] },
].map((token) => ({ ...token, hash: hashOf(secretOf(token.name)) }));
const PEOPLE = ['nobody', 'staff', 'board'] as const;

const FILES = ['a.md', 'drafts/new.md', 'guide/one.md', 'guide/two.md', 'guide/contract.md', 'guide/odd.md'];

let vitrine: Vitrine;
let serving: HttpServing;
const failures: unknown[] = [];

beforeAll(async () => {
  const ignore = (): void => {};
  const log = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (message: string, facts?: object) => void failures.push({ message, ...facts }),
  };
  const provider = memoryProvider({
    resources: {
      ...Object.fromEntries(FILES.map((path) => [path, { text: `text of ${path}` }])),
      'guide/map.png': { bytes: Buffer.from('89504e470d0a1a0a', 'hex'), mimeType: 'image/png' },
    },
  });
  vitrine = createVitrine({
    mounts: [{ name: 'docs', provider, prefix: 'none' }],
    tools: ['roll', 'sum', 'wipe'].map((name) =>
      defineTool({ name, inputSchema: { type: 'object' }, run: () => `${name} done` }),
    ),
    prompts: ['greet', 'hush'].map((name) => ({
      name,
      get: () => ({ messages: [{ role: 'user' as const, content: { type: 'text' as const, text: name } }] }),
    })),
    limits: { pageSize: 2 },
    access: await cedarPolicy({ policies: POLICIES, entities: ENTITIES, log }),
  });
  serving = await serveHttp(vitrine, { port: 0, auth: { resource: RESOURCE, anonymous: true, tokens: TOKENS } });
});

afterAll(async () => {
  await serving.close();
  await vitrine.close();
});

const read = (path: string) => ['resources/read', { uri: `memory:///${path}` }] as const;
const called = (name: string, args: object = {}) => ['tools/call', { name, arguments: args }] as const;
const prompt = (name: string) => ['prompts/get', { name }] as const;

/** The outcomes for an anonymous caller, for staff and for the board. */
const CASES: readonly (readonly [readonly [method: string, params: object], string, string, string])[] = [
  [read('a.md'), 'denied', 'answered', 'answered'],
  [read('guide/one.md'), 'answered', 'answered', 'answered'],
  [read('%64rafts/new.md'), 'missing', 'missing', 'answered'],
  [read('drafts/new.md'), 'missing', 'missing', 'answered'],
  [read('drafts/none.md'), 'missing', 'missing', 'missing'],
  [read('guide/map.png'), 'denied', 'denied', 'denied'],
  [['resources/metadata', { uri: 'memory:///guide/map.png' }], 'answered', 'answered', 'answered'],
  [read('guide/contract.md'), 'asked', 'asked', 'asked'],
  [read('guide/odd.md'), 'denied', 'denied', 'denied'],
  [called('roll', { count: 2 }), 'answered', 'answered', 'answered'],
  [called('roll', { count: 3 }), 'denied', 'denied', 'denied'],
  [called('roll'), 'denied', 'denied', 'denied'],
  [called('roll', { count: { __extn: { fn: 'decimal', arg: '1.0' } } }), 'denied', 'denied', 'denied'],
  [called('sum'), 'asked', 'asked', 'asked'],
  [called('wipe'), 'missing', 'missing', 'answered'],
  [called('search', { pattern: 'text' }), 'denied', 'answered', 'answered'],
  [called('describe', { uri: 'memory:///a.md' }), 'denied', 'answered', 'answered'],
  [prompt('greet'), 'answered', 'answered', 'answered'],
  [prompt('hush'), 'missing', 'missing', 'missing'],
];

describe.each(ERAS)('policies in Cedar, %s', (era) => {
  let asks: readonly Ask[];
  beforeAll(async () => {
    const tokens = PEOPLE.map((name) => (name === 'nobody' ? undefined : secretOf(name)));
    asks = await Promise.all(tokens.map((token) => askerOf(serving.url, era, token)));
  });

  it.each(CASES)('[SEC-RES-2] [SEC-TOOL-2] [SEC-PROMPT-2] %j', async ([method, params], ...expected) => {
    const outcomes = await Promise.all(
      asks.map(async (ask) => outcomeOf(await ask(method, params as Readonly<Record<string, unknown>>))),
    );
    expect(outcomes).toEqual(expected);
  });

  it('[SEC-RES-2] lists have full pages of the resources that may be listed', async () => {
    const listed = await Promise.all(
      asks.map(async (ask) => {
        const pages: string[][] = [];
        let cursor: string | undefined;
        do {
          const { result } = await ask('resources/list', {
            uri: 'memory:///',
            ...(cursor !== undefined && { cursor }),
          });
          const page = result as {
            readonly resources: readonly { readonly uri: string }[];
            readonly nextCursor?: string;
          };
          pages.push(page.resources.map(({ uri }) => uri.slice('memory:///'.length)));
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        return pages;
      }),
    );
    expect(listed).toEqual([[['guide']], [['guide', 'a.md']], [['drafts', 'guide'], ['a.md']]]);
  });

  it('[SEC-TOOL-2] [SEC-PROMPT-2] lists have the tools and prompts that the caller may use in some way', async () => {
    const names = async (ask: Ask, kind: 'tools' | 'prompts'): Promise<string[]> => {
      const found: string[] = [];
      let cursor: unknown;
      do {
        const { result } = await ask(`${kind}/list`, cursor === undefined ? {} : { cursor });
        const listed = (result?.[kind] ?? []) as readonly { readonly name: string }[];
        found.push(...listed.map(({ name }) => name));
        cursor = result?.nextCursor;
      } while (cursor !== undefined);
      return found.filter((name) => ['roll', 'sum', 'wipe', 'search', 'greet', 'hush'].includes(name)).sort();
    };
    expect(await Promise.all(asks.map((ask) => names(ask, 'tools')))).toEqual([
      ['roll', 'sum'],
      ['roll', 'search', 'sum'],
      ['roll', 'search', 'sum', 'wipe'],
    ]);
    expect(await Promise.all(asks.map((ask) => names(ask, 'prompts')))).toEqual([['greet'], ['greet'], ['greet']]);
  });
});

it('the error of a failed policy is in the log only', () => {
  expect(failures).toContainEqual({
    message: 'a Cedar policy failed, so it counts as a forbid',
    policy: 'typed',
    error: expect.stringContaining('`missing`'),
  });
});
