import { describe, expect, it } from 'vitest';
import { guarded, resources, uriOf, without } from '../../../test/security/access/guarded.ts';
import type { AccessPolicy } from '../../core/access.ts';
import { textBytes } from '../../core/body.ts';
import { type Context, createContext } from '../../core/context.ts';
import { PeerError, type ResourceError } from '../../core/errors.ts';
import { type ProviderOverrides, wrapProvider } from '../../core/layer.ts';
import { createResolver } from '../../core/mounts/resolver.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { type AccessOptions, createAccess } from './index.ts';

layerContract('access, to everything', createAccess({ rules: [{ effect: 'allow' }] }).layer);
layerContract(
  'access, by rules',
  createAccess({
    rules: [
      { effect: 'allow', uris: ['**'], tools: ['*'], prompts: ['*'] },
      { effect: 'deny', uris: ['nothing:*'] },
    ],
  }).layer,
);

const PRIVATE = uriOf('private/c.txt');

/** Another server, which has one resource under every URI. */
function careless(access: AccessOptions, uri: string): ResourceProvider {
  const memory = memoryProvider({ resources });
  const resource: Resource = { uri, name: 'x' };
  const provider: ResourceProvider = {
    ...wrapProvider(memory, {
      metadata: async () => resource,
      read: async () => [{ resource, content: textBytes('open') }],
    }),
    features: { ...memory.features, schemes: ['*'], foreign: true },
  };
  return createAccess(access, createResolver([{ name: 'm', provider, prefix: 'none' }])).layer(provider);
}

const ctx = createContext();
const want = { maxBytes: 1_000, maxChildren: 100 };
const codeOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'nothing',
    (error: ResourceError) => `${error.code}: ${error.message} ${error.uri}`,
  );

async function listed(provider: ResourceProvider, uri: string, limit: number, on: Context = ctx): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await provider.list(uri, { cursor, limit }, on);
    pages.push(page.resources.map((resource) => resource.uri));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

describe('a hidden resource [SEC-RES-2]', () => {
  it('gives every operation the error of a missing resource, word for word', async () => {
    const provider = await guarded(without('hide'));
    for (const uri of [PRIVATE, uriOf('private'), uriOf('private/nothing.txt'), uriOf('nothing.txt')]) {
      const missing = `not-found: Resource not found ${uri}`;
      expect(await codeOf(provider.metadata(uri, ctx))).toBe(missing);
      expect(await codeOf(provider.read(uri, want, ctx))).toBe(missing);
      expect(await codeOf(provider.list(uri, { limit: 10 }, ctx))).toBe(missing);
      const search = provider.search?.({ literal: true, pattern: 'text', uri }, ctx)[Symbol.asyncIterator]();
      if (search !== undefined) expect(await codeOf(search.next())).toBe(missing);
    }
  });

  it('is on no page of a list, and leaves neither a gap nor an empty page', async () => {
    const provider = await guarded(without('hide'));
    const [root] = (await provider.list(undefined, { limit: 1 }, ctx)).resources;
    const all = (await listed(provider, root?.uri ?? '', 1)).flat();
    expect(all).toEqual([uriOf('public'), uriOf('a.txt'), uriOf('b.txt')]);
    expect(await listed(provider, root?.uri ?? '', 2)).toEqual([all.slice(0, 2), all.slice(2)]);
    expect(await listed(provider, root?.uri ?? '', 3)).toEqual([all]);
    const only = await guarded({ rules: [{ effect: 'allow', uris: [root?.uri ?? '', uriOf('a.txt')] }] });
    expect(await listed(only, root?.uri ?? '', 1)).toEqual([[uriOf('a.txt')]]);
  });

  it('is not among the children of a read', async () => {
    const provider = await guarded(without('hide'));
    const [root] = (await provider.list(undefined, { limit: 1 }, ctx)).resources;
    const bodies = await provider.read(root?.uri ?? '', want, ctx);
    expect(bodies.length).toBeGreaterThan(0);
    expect(bodies.filter(({ resource }) => resource.uri.includes('private'))).toEqual([]);
  });

  it('is missing under every spelling, even if another spelling is allowed', async () => {
    const described: Resource = { uri: PRIVATE, name: 'c' };
    // A provider that knows the same resource under another URI.
    const alias = (): ProviderOverrides => ({
      metadata: async () => described,
      read: async () => [{ resource: described, content: textBytes('secret') }],
    });
    const provider = await guarded(without('hide'), alias);
    for (const uri of ['memory:///open/../private/c.txt', 'memory:///%70rivate/c.txt']) {
      expect(await codeOf(provider.read(uri, want, ctx))).toBe(`not-found: Resource not found ${uri}`);
      expect(await codeOf(provider.metadata(uri, ctx))).toBe(`not-found: Resource not found ${uri}`);
    }
  });

  it.each([
    ['http://example.com/', 'http://example.com'],
    ['http://example.com', 'http://example.com/'],
    ['http://example.com/', 'HTTP://example.com'],
    ['https://example.com/**', 'https:/example.com/a'],
    ['http://127.0.0.1/**', 'http://127.1/a'],
  ])('of another server, %s, is missing as %s', async (rule, uri) => {
    const provider = careless({ rules: [{ effect: 'hide', uris: [rule] }], default: 'allow' }, uri);
    expect(await codeOf(provider.read(uri, want, ctx))).toBe(`not-found: Resource not found ${uri}`);
  });

  it("does not give a mounted server's own error for a missing resource", async () => {
    const away = (): ProviderOverrides => ({
      metadata: async (uri) => {
        throw new PeerError({ code: -32_602, message: 'No such page in our wiki', data: { uri } }, uri);
      },
    });
    const uri = uriOf('gone.txt');
    expect(await codeOf((await guarded(without('hide'), away)).metadata(uri, ctx))).toBe(
      `not-found: Resource not found ${uri}`,
    );
    // If nothing is hidden, hidden and missing resources need not look alike.
    expect(await codeOf((await guarded(without('deny'), away)).metadata(uri, ctx))).toContain('our wiki');
  });

  it('can be subscribed to like a resource that does not exist yet', async () => {
    const provider = await guarded(without('hide'));
    const handle = await provider.watch?.(PRIVATE, () => {}, ctx);
    await handle?.[Symbol.asyncDispose]();
    expect(handle).toBeDefined();
  });
});

describe('an allowed resource of another server', () => {
  it('is read as the rule spells it, with or without the slash after the host', async () => {
    for (const uri of ['http://example.com', 'http://example.com/']) {
      const provider = careless({ rules: [{ effect: 'allow', uris: [uri] }] }, uri);
      expect(await provider.read(uri, want, ctx)).toHaveLength(1);
    }
  });
});

describe.each(['hide', 'deny', 'ask'] as const)('the bodies of a read under %s [SEC-RES-2]', (effect) => {
  /** Reads a folder, or a resource with an unrequested body, and tells which bodies were closed. */
  async function read(uri: string, bodies: readonly { readonly path: string; readonly child?: true }[]) {
    const closed: string[] = [];
    const several = (): ProviderOverrides => ({
      read: async () =>
        bodies.map(({ path, ...child }) => ({
          resource: { uri: uriOf(path), name: path },
          content: textBytes(path),
          close: async () => void closed.push(path),
          ...child,
        })),
    });
    const provider = await guarded(without(effect, { operations: ['read'] }), several);
    const reading = provider.read(uri, want, ctx);
    return { reading, closed };
  }
  const children = ['a.txt', 'private/c.txt', 'public/e.txt', 'private/d.txt'].map(
    (path) => ({ path, child: true }) as const,
  );

  it('have no children that may not be read, and only those are closed', async () => {
    const { reading, closed } = await read(uriOf('public'), [{ path: 'public' }, ...children]);
    const uris = (await reading).map(({ resource }) => resource.uri);
    expect(uris).toEqual(['public', 'a.txt', 'public/e.txt'].map(uriOf));
    expect(closed).toEqual(['private/c.txt', 'private/d.txt']);
  });

  it('are all closed if nothing may be read', async () => {
    const { reading, closed } = await read(uriOf('public'), children.slice(1, 2));
    expect(await reading).toEqual([]);
    expect(closed).toEqual(['private/c.txt']);
  });

  it('are all closed if the read turns out to be of another resource that may not be read', async () => {
    const { reading, closed } = await read(uriOf('a.txt'), [{ path: 'private/c.txt' }, { path: 'a.txt' }]);
    await expect(reading).rejects.toThrow();
    expect(closed.sort()).toEqual(['a.txt', 'private/c.txt']);
  });
});

describe('a denied resource [SEC-RES-2]', () => {
  it('refuses the denied operation as denied, and no other operation', async () => {
    const provider = await guarded(without('deny', { operations: ['read'] }));
    expect(await codeOf(provider.read(PRIVATE, want, ctx))).toMatch(
      /^denied: .*\(read\) memory:\/\/\/private\/c\.txt$/,
    );
    expect((await provider.metadata(PRIVATE, ctx)).uri).toBe(PRIVATE);
    const matches: string[] = [];
    for await (const { uri } of provider.search?.({ literal: true, pattern: 'text' }, ctx) ?? []) matches.push(uri);
    expect(matches.filter((uri) => uri.includes('private'))).toEqual([]);
  });

  it('lacks the capability of a denied operation [2093-3]', async () => {
    const provider = await guarded(without('deny', { operations: ['list', 'subscribe'] }));
    expect((await provider.metadata(uriOf('private'), ctx)).capabilities).toEqual({ list: false, subscribe: false });
    expect((await provider.metadata(uriOf('public'), ctx)).capabilities?.list).toBe(true);
  });

  it('is denied by its attributes if a rule names them', async () => {
    const rules: AccessOptions = { rules: [{ effect: 'deny', minBytes: 22, operations: ['read'] }], default: 'allow' };
    const provider = await guarded(rules);
    expect(await codeOf(provider.read(PRIVATE, want, ctx))).toContain('denied');
    expect(await codeOf(provider.read(uriOf('a.txt'), want, ctx))).toBe('nothing');
  });
});

describe('a resource that a human has to allow', () => {
  const asking = without('ask', { operations: ['read'], rememberSeconds: 60 });

  it('is read after a yes, which is remembered for this principal and peer only', async () => {
    const provider = await guarded(asking);
    const anna = createContext({ principal: { id: 'anna' }, peer: 's1' });
    expect(await codeOf(provider.read(PRIVATE, want, anna))).toContain('only after a human has confirmed it');
    expect(await codeOf(provider.read(PRIVATE, want, { ...anna, confirmed: new Set([PRIVATE]) }))).toBe('nothing');
    expect(await codeOf(provider.read(PRIVATE, want, anna))).toBe('nothing');
    expect(await codeOf(provider.read(uriOf('private/d.txt'), want, anna))).toContain('denied');
    expect(await codeOf(provider.read(PRIVATE, want, { ...anna, peer: 's2' }))).toContain('denied');
    expect(await codeOf(provider.read(PRIVATE, want, { ...anna, principal: { id: 'bert' } }))).toContain('denied');
    expect(
      await codeOf(provider.read(PRIVATE, want, { ...anna, principal: { id: 'anna', scopes: ['less'] } })),
    ).toContain('denied');
  });

  it('is not read after a no, which is remembered, too', async () => {
    const provider = await guarded(asking);
    const anna = createContext({ principal: { id: 'anna' } });
    const no = { ...anna, refused: new Set([PRIVATE]) };
    expect(await codeOf(provider.read(PRIVATE, want, no))).toContain('The user did not let');
    expect(await codeOf(provider.read(PRIVATE, want, anna))).toContain('The user did not let');
  });

  it('is asked about each time for callers who cannot be told apart', async () => {
    const provider = await guarded(asking);
    expect(await codeOf(provider.read(PRIVATE, want, { ...ctx, confirmed: new Set([PRIVATE]) }))).toBe('nothing');
    expect(await codeOf(provider.read(PRIVATE, want, ctx))).toContain('only after a human');
  });
});

describe('a custom policy', () => {
  const policy = (decide: AccessPolicy['decide']): AccessPolicy => ({ name: 'mine', attributes: false, decide });

  it('may be asynchronous', async () => {
    const provider = await guarded(
      policy(async ({ uri }) => ({ effect: uri === PRIVATE ? 'hide' : 'allow', rule: '' })),
    );
    expect(await codeOf(provider.read(PRIVATE, want, ctx))).toContain('not-found');
    expect(await codeOf(provider.read(uriOf('a.txt'), want, ctx))).toBe('nothing');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
    ['fails', () => Promise.reject(new Error('down'))],
  ] as const)('denies everything if it %s, and the log has the cause', async (_how, decide) => {
    const errors: unknown[] = [];
    const log = { ...ctx.log, error: (_message: string, facts?: object) => void errors.push(facts) };
    const provider = await guarded(policy(decide));
    expect(await codeOf(provider.read(PRIVATE, want, { ...ctx, log }))).toContain('denied');
    expect(errors.length).toBeGreaterThan(0);
  });
});

describe('`readMeansAll` of a policy', () => {
  const policyWith = (readMeansAll: AccessPolicy['readMeansAll']): AccessPolicy => ({
    name: 'own',
    attributes: false,
    decide: ({ operation }) => ({ effect: operation === 'read' ? 'allow' : 'deny', rule: 'reads' }),
    ...(readMeansAll && { readMeansAll }),
  });
  const capable = (inner: ResourceProvider): ProviderOverrides => ({
    async read(uri, options, on) {
      const bodies = await inner.read(uri, options, on);
      const capabilities = { list: false, subscribe: true };
      return bodies.map((body) => ({ ...body, resource: { ...body.resource, capabilities } }));
    },
  });

  it.each<[string, AccessPolicy['readMeansAll'], boolean]>([
    ['allows subscriptions to everything readable if it is true', () => true, true],
    ['leaves the decision about subscriptions to the policy if it is false', () => false, false],
    ['leaves the decision about subscriptions to the policy if it is missing', undefined, false],
    [
      'leaves the decision about subscriptions to the policy if it throws, and the read goes on',
      () => {
        throw new Error('down');
      },
      false,
    ],
  ])('%s [2093-3]', async (_, readMeansAll, subscribe) => {
    const provider = await guarded(policyWith(readMeansAll), capable);
    const [body] = await provider.read(uriOf('a.txt'), want, ctx);
    expect(body?.resource.capabilities).toMatchObject({ subscribe });
  });
});
