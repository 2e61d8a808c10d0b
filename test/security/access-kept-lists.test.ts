/** If the entries of a list are kept, access is still decided for each caller and each request (SEC-RES-2, 2093-3). */
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { AccessPolicy } from '../../src/core/access.ts';
import { createContext, type Principal } from '../../src/core/context.ts';
import type { ResourcePage } from '../../src/core/provider.ts';
import type { AccessOptions, AccessRule } from '../../src/layers/access/index.ts';
import { filesProvider } from '../../src/providers/files/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { ERAS } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { askerOf } from './access/asking.ts';

const ANNA = { id: 'anna', subject: 'anna' };
const BERT = { id: 'bert', subject: 'bert' };

async function serve(access: AccessOptions, prefix?: 'none') {
  const folder = await temporaryFolder({ 'a.md': 'a', 'b.md': 'b', 'sub/c.md': 'c' });
  const provider = await filesProvider({ path: folder.path });
  const vitrine = createVitrine({ mounts: [{ name: 'docs', provider, ...(prefix && { prefix }) }], access });
  const root = prefix === 'none' ? 'file:///' : 'docs+file:///';
  return {
    folder,
    vitrine,
    root,
    async list(principal: { readonly id: string; readonly subject: string }, uri: string | undefined = root) {
      const { resources } = await vitrine.provider.list(uri, { limit: 100 }, createContext({ principal }));
      return resources;
    },
    /** Resolves when the entries are kept. */
    settled: () =>
      until(async () => {
        const list = () => provider.list('file:///', { limit: 100 }, createContext());
        const first = await list();
        return (await list()) === first;
      }, 'a list that is kept'),
    async [Symbol.asyncDispose]() {
      await vitrine.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const rules: readonly AccessRule[] = [
  { effect: 'hide', who: { subjects: ['bert'] }, uris: ['**/a.md', 'docs+file:///a.md', 'file:///a.md'] },
  {
    effect: 'deny',
    who: { subjects: ['anna'] },
    operations: ['subscribe'],
    uris: ['docs+file:///b.md', 'file:///b.md'],
  },
  { effect: 'allow' },
];

describe('a list with kept entries', () => {
  it.each(['none', undefined] as const)(
    'is filtered for each caller, whoever listed before [SEC-RES-2] (prefix: %s)',
    async (prefix) => {
      await using served = await serve({ rules }, prefix);
      await served.settled();
      for (let round = 0; round < 3; round++) {
        const [anna, bert] = [await served.list(ANNA), await served.list(BERT)];
        expect(anna.map(({ name, capabilities }) => `${name} ${capabilities?.subscribe}`)).toEqual([
          'sub true',
          'a.md true',
          'b.md false',
        ]);
        expect(bert.map(({ name, capabilities }) => `${name} ${capabilities?.subscribe}`)).toEqual([
          'sub true',
          'b.md true',
        ]);
        for (const { uri } of [...anna, ...bert]) expect(uri.startsWith(served.root)).toBe(true);
      }
    },
  );

  it('is decided again for each request if a policy changes its decisions', async () => {
    let open = true;
    const policy: AccessPolicy = {
      name: 'moody',
      attributes: false,
      decide: ({ uri }) => ({ effect: open || !uri?.endsWith('a.md') ? 'allow' : 'hide', rule: 'mood' }),
    };
    await using served = await serve(policy);
    await served.settled();
    for (const now of [true, false, true, false]) {
      open = now;
      expect((await served.list(ANNA)).some(({ name }) => name === 'a.md')).toBe(now);
    }
  });

  it.each(ERAS)('stays the same over the wire when it is listed again, and shows changes: %s', async (era) => {
    await using served = await serve({ rules: [{ effect: 'allow' }] });
    const http = await serveHttp(served.vitrine, { port: 0 });
    try {
      const ask = await askerOf(http.url, era, undefined);
      const textOf = async (...asked: Parameters<typeof ask>): Promise<string> =>
        (await ask(...asked)).text.replace(/"id":\d+/, '');
      for (const params of [{}, { uri: served.root }]) {
        const first = await textOf('resources/list', params);
        await served.settled();
        for (let count = 0; count < 3; count++) expect(await textOf('resources/list', params)).toBe(first);
      }
      await writeFile(served.folder.at('new.md'), 'new');
      expect(await textOf('resources/list', { uri: served.root })).toContain('new.md');
      expect(await textOf('resources/list', {})).toContain('new.md');
    } finally {
      await http.close();
    }
  });
});

describe('a kept list', () => {
  const PAGE = { limit: 100 };
  const again = async (access: AccessOptions) => {
    const memory = memoryProvider({ resources: { 'a.md': { text: 'a' }, 'b.md': { text: 'b' } } });
    const vitrine = createVitrine({ mounts: [{ name: 'm', provider: memory }], access });
    const uri = 'm+memory:///';
    const list = (principal: Principal) => vitrine.provider.list(uri, PAGE, createContext({ principal }));
    const isAgain = (page: ResourcePage, principal: Principal): boolean =>
      vitrine.provider.listAgain?.(page, uri, PAGE, createContext({ principal })) === true;
    return { list, isAgain, [Symbol.asyncDispose]: () => vitrine.close() };
  };

  it('is given again only to the caller who got it', async () => {
    await using served = await again({ rules });
    const [anna, bert] = [await served.list(ANNA), await served.list(BERT)];
    expect(served.isAgain(bert, BERT)).toBe(true);
    expect(served.isAgain(bert, { ...BERT })).toBe(true);
    expect(served.isAgain(anna, BERT)).toBe(false);
    expect(served.isAgain(bert, ANNA)).toBe(false);
  });

  it.each([
    ['reports that', true],
    ['does not report that', false],
  ])('is decided again after the policy has changed its decisions, if the policy %s', async (_, says) => {
    let hidden: string | undefined;
    let steady = {};
    const policy: AccessPolicy = {
      name: 'of moods',
      attributes: false,
      decide: ({ uri }) => ({ effect: uri === hidden ? 'hide' : 'allow', rule: 'the mood' }),
      ...(says && { steady: () => steady }),
    };
    await using served = await again(policy);
    const page = await served.list(ANNA);
    expect(served.isAgain(page, ANNA)).toBe(true);
    hidden = 'm+memory:///a.md';
    steady = {};
    expect(served.isAgain(page, ANNA)).toBe(false);
    expect((await served.list(ANNA)).resources.map(({ name }) => name)).toEqual(['b.md']);
    hidden = 'm+memory:///';
    expect(served.isAgain(page, ANNA)).toBe(false);
  });

  it.each<[string, Partial<AccessPolicy>]>([
    ['looks at more than URIs', { attributes: true }],
    ['takes its time', { decide: async () => ({ effect: 'allow', rule: 'later' }) }],
  ])('is listed again for each request if the policy %s', async (_, odd) => {
    const decide: AccessPolicy['decide'] = () => ({ effect: 'allow', rule: 'all' });
    await using served = await again({ name: 'odd', attributes: false, decide, ...odd });
    expect(served.isAgain(await served.list(ANNA), ANNA)).toBe(false);
    expect(served.isAgain(await served.list(ANNA), ANNA)).toBe(false);
  });

  it('is decided again if the policy fails to say whether its decisions have changed', async () => {
    const steady = (): never => {
      throw new Error('no idea');
    };
    const decide: AccessPolicy['decide'] = () => ({ effect: 'allow', rule: 'all' });
    await using served = await again({ name: 'odd', attributes: false, decide, steady });
    const page = await served.list(ANNA);
    expect(page.resources).toHaveLength(2);
    expect(served.isAgain(page, ANNA)).toBe(true);
  });
});
