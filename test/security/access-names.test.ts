/**
 * Rules hold for a resource, tool or prompt under every name that it has: in mounts without a prefix, in spellings of mounted servers,
 * and in the results of tools and prompts (SEC-RES-2, SEC-TOOL-2, SEC-PROMPT-2).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mount } from '../../src/core/mounts/mount.ts';
import type { AccessRule } from '../../src/layers/access/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { upstream } from '../../src/providers/upstream/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { ERAS, type Era } from '../e2e/harness.ts';
import { type Ask, askerOf } from './access/asking.ts';
import { CARELESS } from './access/careless.ts';

const DOCS = memoryProvider({ scheme: 'memory', resources: { 'a.txt': { text: 'SECRET of docs' } } });

interface World extends AsyncDisposable {
  ask(era: Era): Promise<Ask>;
}

type Order = 'up first' | 'docs first';

/** The careless server and a mount with a prefix, in either order. */
async function serve(rules: readonly AccessRule[], prefix: 'name' | 'none', order: Order = 'up first'): Promise<World> {
  const up = upstream({ name: 'up', target: { command: process.execPath, args: ['-e', CARELESS] } });
  const mounts: Mount[] = [
    { name: 'up', provider: up.provider, server: up.server, prefix },
    { name: 'docs', provider: DOCS },
  ];
  const vitrine = createVitrine({
    mounts: order === 'up first' ? mounts : mounts.toReversed(),
    access: { rules, default: 'deny' },
    promptFolders: [],
  });
  expect(await up.ready(60_000)).toBe(true);
  const http = await serveHttp(vitrine, { port: 0 });
  return {
    ask: (era) => askerOf(http.url, era, undefined),
    async [Symbol.asyncDispose]() {
      await http.close();
      await vitrine.close();
    },
  };
}

const everything = (effect: AccessRule['effect'], rule: Omit<AccessRule, 'effect'>): readonly AccessRule[] =>
  effect === 'allow' ? [{ effect, ...rule }] : [{ effect: 'allow' }, { effect, ...rule }];

describe.each(ERAS)('to a client of the %s era', (era) => {
  describe.each<Order>(['up first', 'docs first'])(
    'with %s, a mount without a prefix owns nothing of another',
    (order) => {
      it.each<[string, readonly AccessRule[]]>([
        ['only up is allowed', everything('allow', { mounts: ['up'] })],
        ['docs is hidden', everything('hide', { mounts: ['docs'] })],
        ['docs is denied', everything('deny', { mounts: ['docs'] })],
      ])('%s', async (_name, rules) => {
        await using world = await serve(rules, 'none', order);
        const ask = await world.ask(era);
        for (const uri of [
          'docs+memory:///a.txt',
          'DOCS+memory:///a.txt',
          'docs+MEMORY:///a.txt',
          'docs+memory:///%61.txt',
        ]) {
          const { error, text } = await ask('resources/read', { uri });
          expect.soft([uri, error === undefined], text).toEqual([uri, false]);
          expect(text).not.toContain('SECRET');
        }
        expect((await ask('resources/list')).text).not.toContain('docs+');
        expect((await ask('resources/read', { uri: 'file:///public/a.md' })).text).toContain('open text');
      });

      it('up is hidden', async () => {
        await using world = await serve(everything('hide', { mounts: ['up'] }), 'none', order);
        const ask = await world.ask(era);
        expect((await ask('resources/read', { uri: 'docs+memory:///a.txt' })).text).toContain('of docs');
        expect((await ask('resources/read', { uri: 'file:///secret/a.md' })).text).not.toContain('SECRET');
        expect((await ask('tools/call', { name: 'hand' })).text).not.toContain('SECRET');
      });
    },
  );
});

const SPELLINGS = [
  'file:///secret/a.md',
  'file:///s%65cret/a.md',
  'file:///s%2565cret/a.md',
  'FILE:///secret/a.md',
  'file:/secret/a.md',
  'file://localhost/secret/a.md',
  'file://LocalHost/secret/a.md',
  'file:////secret/a.md',
  'file:///secret//a.md',
  'file:///secret/./a.md',
  'file:///public/../secret/a.md',
  'file:///public/%2e%2e/secret/a.md',
  'file:///public/%2E./secret/a.md',
  'file:///public/%252e%252e/secret/a.md',
  'file:///public%2f..%2fsecret%2fa.md',
  'file:///public/..%5csecret/a.md',
  'file:///secret%2Fa.md',
  'file:///secret/a.md/',
  'file:///secret/a.md?x=1',
  'file:///secret/a.md#top',
  'file:///public/x?/../../secret/a.md',
  'file:///secret/a%2Emd',
] as const;

describe.each(['name', 'none'] as const)('the URIs of another server, with prefix: %s', (prefix) => {
  const begin = prefix === 'name' ? 'up+' : '';
  const worlds: World[] = [];
  const asks: Ask[] = [];
  const LISTS: readonly (readonly AccessRule[])[] = [
    everything('deny', { uris: [`${begin}file:///secret/**`] }),
    everything('hide', { uris: [`${begin}file:///secret/**`] }),
    everything('allow', { uris: [`${begin}file:///public/**`] }),
    everything('deny', { uris: [`${begin}file:///**`], except: [`${begin}file:///public/**`] }),
  ];
  beforeAll(async () => {
    for (const rules of LISTS) {
      const world = await serve(rules, prefix);
      worlds.push(world);
      for (const era of ERAS) asks.push(await world.ask(era));
    }
  });
  afterAll(async () => {
    for (const world of worlds) await world[Symbol.asyncDispose]();
  });

  it.each(SPELLINGS)('%s leads to nothing that rules hide or deny', async (native) => {
    for (const [index, ask] of asks.entries()) {
      const uri = begin + native;
      for (const method of ['resources/read', 'resources/metadata', 'resources/list', 'resources/directory/read']) {
        const { text, error } = await ask(method, { uri });
        expect.soft(text, `${method} ${index}`).not.toContain('SECRET');
        expect.soft(error, `${method} ${index}: ${text}`).toBeDefined();
      }
      const { text } = await ask('tools/call', {
        name: prefix === 'none' ? 'vitrine_read' : 'read',
        arguments: { uri },
      });
      expect.soft(text, `read ${index}`).not.toContain('SECRET');
    }
  });

  it('allowed resources can be read, also as the server spells their URIs', async () => {
    for (const ask of asks) {
      expect.soft((await ask('resources/read', { uri: `${begin}file:///public/a.md` })).text).toContain('open text');
      const odd = await ask('resources/read', { uri: `${begin}file:///public/x/../listed.md` });
      expect.soft(odd.text).toContain('odd text');
      const never = await ask('resources/read', { uri: `${begin}file:///public/y/../listed.md` });
      expect.soft(never.error, never.text).toBeDefined();
    }
  });

  // Each variable is completed while the other one has a value that leads to a hidden resource.
  it.each([
    ['{+path}', 'path'],
    ['{folder}/{name}', 'folder'],
    ['{folder}/{name}', 'name'],
  ])('completion of %s for %s offers and counts no hidden resource', async (template, name) => {
    for (const ask of asks) {
      const { text } = await ask('completion/complete', {
        ref: { type: 'ref/resource', uri: `${begin}file:///${template}` },
        argument: { name, value: '' },
      });
      expect.soft(text).not.toContain('secret');
      expect.soft(text).not.toContain('"total":2');
    }
  });
});

/** Names of folders that are also glob patterns. */
const FOLDERS = [
  'a (old)',
  'a)',
  'a^b',
  'a+b',
  '!a',
  'a[1]',
  '{a,b}',
  'a{b',
  'a|b',
  "a'b",
  'a@(b)',
  'größe',
  '書類',
  '.a',
];

describe.each(ERAS)('rules about folders with special characters in their names, for a client of the %s era', (era) => {
  const TREE = memoryProvider({
    resources: Object.fromEntries([...FOLDERS, 'other'].map((name) => [`${name}/deep/x.txt`, { text: `of ${name}` }])),
  });
  const uris = FOLDERS.map((name) => `docs+memory:///${name.replace(/[*?[\]{}\\]/g, '\\$&').replace(/^!/, '\\!')}/**`);

  it.each<AccessRule['effect']>(['deny', 'hide', 'allow'])('%s those folders, and no others', async (effect) => {
    const vitrine = createVitrine({
      mounts: [{ name: 'docs', provider: TREE }],
      access: { rules: everything(effect, { uris }), default: 'deny' },
    });
    const http = await serveHttp(vitrine, { port: 0 });
    try {
      const ask = await askerOf(http.url, era, undefined);
      for (const name of [...FOLDERS, 'other']) {
        const given = (name === 'other') !== (effect === 'allow');
        const uri = `docs+memory:///${encodeURIComponent(name)}/deep/x.txt`;
        const { result, text } = await ask('resources/read', { uri });
        expect.soft([name, result !== undefined], text).toEqual([name, given]);
      }
    } finally {
      await http.close();
      await vitrine.close();
    }
  });
});

describe.each(ERAS)('prompts of a folder, for a client of the %s era', (era) => {
  const PROMPTS = memoryProvider({
    resources: { 'prompts/greet.md': { text: 'SECRET greeting' }, 'other/a.txt': { text: 'open text' } },
  });

  it.each<[AccessRule['effect'], AccessRule]>([
    ['deny', { effect: 'deny', mounts: ['docs'], operations: ['prompt'] }],
    ['hide', { effect: 'hide', mounts: ['docs'], operations: ['prompt', 'call'] }],
    ['hide', { effect: 'hide', mounts: ['docs'], prompts: ['*'] }],
  ])('belong to their mount in rules: %s', async (_effect, rule) => {
    const vitrine = createVitrine({
      mounts: [{ name: 'docs', provider: PROMPTS }],
      promptFolders: [{ uri: 'docs+memory:///prompts' }],
      access: { rules: [{ effect: 'allow' }, rule] },
    });
    const http = await serveHttp(vitrine, { port: 0 });
    try {
      const ask = await askerOf(http.url, era, undefined);
      for (const [method, params] of [
        ['prompts/list', {}],
        ['prompts/get', { name: 'greet' }],
      ] as const)
        expect.soft((await ask(method, params)).text).not.toMatch(/SECRET|"greet"[,}]/);
      expect((await ask('resources/read', { uri: 'docs+memory:///other/a.txt' })).text).toContain('open text');
    } finally {
      await http.close();
      await vitrine.close();
    }
  });

  it('are allowed by a rule that allows their mount', async () => {
    const vitrine = createVitrine({
      mounts: [{ name: 'docs', provider: PROMPTS }],
      promptFolders: [{ uri: 'docs+memory:///prompts' }],
      access: { rules: [{ effect: 'allow', mounts: ['docs'] }] },
    });
    const http = await serveHttp(vitrine, { port: 0 });
    try {
      const ask = await askerOf(http.url, era, undefined);
      expect((await ask('prompts/get', { name: 'greet' })).text).toContain('SECRET greeting');
    } finally {
      await http.close();
      await vitrine.close();
    }
  });
});

describe.each(ERAS)('results of mounted tools and prompts, for a client of the %s era', (era) => {
  it.each<[AccessRule['effect'], boolean]>([
    ['hide', false],
    ['deny', true],
    ['ask', true],
  ])('contain only resources that the caller may read: %s', async (effect, told) => {
    const rules: readonly AccessRule[] = [
      { effect: 'allow' },
      { effect, uris: ['up+file:///secret/**'], ...(effect === 'ask' && { operations: ['read'] }) },
    ];
    await using world = await serve(rules, 'name');
    const ask = await world.ask(era);
    for (const [method, params] of [
      ['tools/call', { name: 'up_hand' }],
      ['prompts/get', { name: 'up_tell' }],
    ] as const) {
      const { text, result } = await ask(method, params);
      expect.soft(result, text).toBeDefined();
      expect.soft(text).not.toContain('SECRET');
      expect.soft(text.includes('left out')).toBe(told);
      if (!told) expect.soft(text).not.toContain('secret');
      expect.soft(text).toContain('open text');
    }
  });

  it('are denied by rules about names of tools and arguments, across slashes, in lists and in objects', async () => {
    const rules: readonly AccessRule[] = [
      { effect: 'allow' },
      { effect: 'deny', tools: ['up_wiki_delete*'] },
      { effect: 'deny', tools: ['up_fetch'], arguments: { url: 'http://169.254.*' } },
      { effect: 'deny', tools: ['up_fetch'], arguments: { path: 'private.txt' } },
    ];
    await using world = await serve(rules, 'name');
    const ask = await world.ask(era);
    const call = (name: string, given: object) => ask('tools/call', { name, arguments: given });
    for (const { text } of [
      await call('up_wiki_delete/page', {}),
      await call('up_fetch', { url: 'http://169.254.169.254/latest/meta-data' }),
      await call('up_fetch', { url: ['HTTP://169.254.169.254/latest'] }),
      await call('up_fetch', { path: ['private.txt'] }),
      await call('up_fetch', { path: { of: 'private.txt' } }),
    ])
      expect.soft(text).not.toContain('called');
    expect((await call('up_fetch', { url: 'http://example.com/', path: 'public.txt' })).text).toContain('called fetch');
    expect((await ask('tools/list')).text).not.toContain('delete');
  });
});
