/** The skills layer in a tree of mounts: skills that are left out, the search for skills, and shared digests. */
import { describe, expect, it } from 'vitest';
import { createContext, SILENT } from '../../core/context.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import { createResolver } from '../../core/mounts/resolver.ts';
import { mountTree } from '../../core/mounts.ts';
import type { Operations } from '../../core/operations.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { sealedAnswers } from '../../core/shared-answers/sealed-answers.ts';
import type { SharedAnswers } from '../../core/shared-answers/shared-answers.ts';
import { withNamed } from '../../core/with-named.ts';
import { ETAG_META_KEY } from '../../protocol/meta.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { createSkills } from './index.ts';

layerContract('skills', createSkills({ resolver: createResolver([]), maxFileBytes: 1_000_000 }).layer);

const head = (name: string): string => `---\nname: ${name}\ndescription: Does it\n---\n`;
const ctx = createContext();

function serve(
  provider: ResourceProvider,
  skills: Mount['skills'] = true,
  { answers, ...others }: Partial<Mount> & { readonly answers?: SharedAnswers } = {},
) {
  const mount: Mount = { name: 'docs', provider, prefix: 'none', skills, ...others };
  const resolver = createResolver([mount]);
  const made = createSkills({ resolver, maxFileBytes: 1_000_000, answers });
  const none = { listSkills: async () => ({ items: [] }) } as unknown as Parameters<typeof withNamed>[1];
  const layered = made.layer(withNamed(mountTree([mount], resolver), () => none as never)) as Required<Operations>;
  const list = async (asking = ctx) =>
    (await layered.listSkills({ limit: 10_000 }, asking)).items.map(({ skill }) => skill);
  return {
    list,
    get: (uri: string) => layered.getSkill(uri, ctx),
    leftOut: async () => (await made.found(mount, ctx))?.leftOut,
    layered,
  };
}

/** A time long ago, so that the file does not count as changing. */
const annotations = { lastModified: '2026-01-02T03:04:05.006Z' };

const memory = (resources: Record<string, string | Uint8Array>) =>
  memoryProvider({
    scheme: 'skill',
    resources: Object.fromEntries(
      Object.entries(resources).map(([path, each]) => [
        path,
        { annotations, ...(typeof each === 'string' ? { text: each } : { bytes: each }) },
      ]),
    ),
  });

describe('skills are left out, with the reason, if they', () => {
  it('have too many files, too large ones, or too many bytes in total', async () => {
    const many = Object.fromEntries(Array.from({ length: 512 }, (_, index) => [`many/${index}.txt`, 'x']));
    const large = Object.fromEntries(
      Array.from({ length: 17 }, (_, index) => [`large/${index}.bin`, new Uint8Array(999_999)]),
    );
    const { list, leftOut } = serve(
      memory({
        'many/SKILL.md': head('many'),
        ...many,
        'large/SKILL.md': head('large'),
        ...large,
        'one-large/SKILL.md': head('one-large'),
        'one-large/a.bin': new Uint8Array(1_000_001),
        'good/SKILL.md': head('good'),
      }),
    );
    expect((await list()).map(({ uri }) => uri)).toEqual(['skill:///good/SKILL.md']);
    expect(await leftOut()).toEqual([
      { uri: 'skill:///large/SKILL.md', reason: expect.stringMatching(/^its files have 17\d+ bytes together/) },
      { uri: 'skill:///many/SKILL.md', reason: 'it has 513 files, and a skill has at most 512' },
      {
        uri: 'skill:///one-large/SKILL.md',
        reason: expect.stringContaining('larger than the 1000000 bytes that a read gives'),
      },
    ]);
  });

  it('change during each read', async () => {
    const provider = memory({ 'busy/SKILL.md': head('busy'), 'busy/a.txt': 'x' });
    let count = 0;
    const { list, leftOut } = serve({
      ...provider,
      metadata: async (uri, asked) => ({
        ...(await provider.metadata(uri, asked)),
        ...(uri.endsWith('a.txt') && { annotations: { lastModified: new Date(++count * 1_000).toISOString() } }),
      }),
    });
    expect(await list()).toEqual([]);
    expect(await leftOut()).toEqual([
      { uri: 'skill:///busy/SKILL.md', reason: 'skill:///busy/a.txt changes while it is read' },
    ]);
  });

  it('have a folder that cannot be listed', async () => {
    const { ResourceError } = await import('../../core/errors.ts');
    const provider = memory({ 'half/SKILL.md': head('half'), 'half/below/a.txt': 'x', 'good/SKILL.md': head('good') });
    const { list, leftOut } = serve({
      ...provider,
      list: (uri, page, asked) =>
        uri?.endsWith('/below')
          ? Promise.reject(new ResourceError('unavailable', 'Away'))
          : provider.list(uri, page, asked),
    });
    expect((await list()).map(({ uri }) => uri)).toEqual(['skill:///good/SKILL.md']);
    expect(await leftOut()).toEqual([
      { uri: 'skill:///half/SKILL.md', reason: 'skill:///half/below cannot be listed: Away' },
    ]);
  });
});

describe('skills', () => {
  it('are limited to those that a glob names, by their paths', async () => {
    const files = { 'a/one/SKILL.md': head('one'), 'b/two/SKILL.md': head('two'), 'b/c/three/SKILL.md': head('three') };
    const { list, get } = serve(memory(files), ['b/*']);
    expect((await list()).map(({ uri }) => uri)).toEqual(['skill:///b/two/SKILL.md']);
    expect((await get('skill:///b/two/SKILL.md')).skill.frontmatter.name).toBe('two');
    await expect(get('skill:///a/one/SKILL.md')).rejects.toThrow('No skill is served at this URI');
  });

  it('have a dynamic manifest if the provider gives no state of a file and two reads of it differ', async () => {
    const provider = memory({ 'made/SKILL.md': head('made'), 'made/now.txt': 'x' });
    let count = 0;
    const plain = <T extends object>(resource: T): T => ({ ...resource, annotations: {}, size: undefined });
    const { list } = serve({
      ...provider,
      list: async (...asked) => {
        const { resources, ...page } = await provider.list(...asked);
        return { ...page, resources: resources.map(plain) };
      },
      read: async (uri, want, asked) => {
        const bodies = await provider.read(uri, want, asked);
        const bytes = new TextEncoder().encode(String(++count));
        return uri.endsWith('now.txt')
          ? bodies.map((body) => ({ ...body, content: { kind: 'bytes', bytes } }))
          : bodies;
      },
    });
    expect((await list())[0]?.resources).toBe('dynamic');
  });

  it('are up to date when one is requested, and unchanged files are not read again', async () => {
    const provider = memory({ 'good/SKILL.md': head('good'), 'good/a.txt': 'one' });
    const reads: string[] = [];
    const { list, get } = serve({
      ...provider,
      read: (uri, want, asked) => {
        reads.push(uri);
        return provider.read(uri, want, asked);
      },
    });
    const uri = 'skill:///good/SKILL.md';
    const [before] = await list();
    expect((await get(uri)).skill).toEqual(before);
    expect(reads.sort()).toEqual(['skill:///good/SKILL.md', 'skill:///good/a.txt']);
    provider.set('good/a.txt', { text: 'two' });
    const after = (await get(uri)).skill;
    expect(after).not.toEqual(before);
    expect(reads.filter((each) => each === uri)).toHaveLength(1);
  });
});

describe('the search for skills', () => {
  it('stops in an endless list of roots, and says so', async () => {
    const provider = memory({ 'good/SKILL.md': head('good') });
    const { list, leftOut } = serve({
      ...provider,
      async list(uri, page, asked) {
        if (uri !== undefined) return provider.list(uri, page, asked);
        const from = Number(page.cursor ?? 0);
        const names = Array.from({ length: page.limit }, (_, index) => `${from + index}.txt`);
        const resources = names.map((name) => ({ uri: `skill:///${name}`, name, mimeType: 'text/plain' }));
        return { resources, nextCursor: String(from + page.limit) };
      },
    });
    expect(await list()).toEqual([]);
    expect(await leftOut()).toEqual([{ uri: 'docs', reason: expect.stringContaining('more entries') }]);
  });

  it.each([
    ['of roots', undefined],
    ['of a folder', 'skill:///good'],
  ])('stops in an endless list %s of empty pages', async (_what, endless) => {
    const provider = memory({ 'good/SKILL.md': head('good') });
    let asked = 0;
    const { leftOut } = serve({
      ...provider,
      async list(uri, page, asking) {
        if (uri !== endless) return provider.list(uri, page, asking);
        if (++asked > 300_000) throw new Error('the search does not end');
        return { resources: [], nextCursor: String(asked) };
      },
    });
    expect(await leftOut()).toEqual([{ uri: 'docs', reason: expect.stringContaining('more entries') }]);
    expect(asked).toBeLessThan(251_000);
  });
});

describe('shared digests of skills', () => {
  const bytes = new Uint8Array(300_000).fill(7);
  const other = new Uint8Array(300_000).fill(8);

  /** Shared answers within this process. */
  function shared() {
    const kept = new Map<string, Uint8Array>();
    const write = async (name: string, sealed: Uint8Array) => void kept.set(name, sealed);
    const store = { maxAnswerBytes: 1_000, read: async (name: string) => kept.get(name), write };
    const answers = sealedAnswers({ store, keys: [new Uint8Array(32)], log: SILENT });
    return { kept, answers };
  }

  /**
   * Makes a layer like that of a process that has just started, over a skill whose files have a version.
   * @returns functions that give the digest of its large file, and how often that file was read
   */
  function started(answers: SharedAnswers, version: string, content = bytes, others: Partial<Mount> = {}) {
    const files = memory({ 'good/SKILL.md': head('good'), 'good/large.bin': content });
    const tagged = <T extends { readonly uri: string }>(resource: T): T => ({
      ...resource,
      _meta: { [ETAG_META_KEY]: version },
    });
    let reads = 0;
    const provider: ResourceProvider = {
      ...files,
      metadata: async (uri, asked) => tagged(await files.metadata(uri, asked)),
      list: async (...asked) => {
        const { resources, ...page } = await files.list(...asked);
        return { ...page, resources: resources.map(tagged) };
      },
      read: (uri, want, asked) => {
        if (uri.endsWith('large.bin')) reads++;
        return files.read(uri, want, asked);
      },
    };
    const { list } = serve(provider, true, { ...others, answers });
    return {
      digest: async (asking = ctx) => {
        const [skill] = await list(asking);
        await answers.close();
        return Array.isArray(skill?.resources) ? skill.resources.find(({ uri }) => uri.endsWith('bin')) : undefined;
      },
      reads: () => reads,
    };
  }

  it('are made once for each version, by any process; small files of this machine are read', async () => {
    const { kept, answers } = shared();
    const [first, second, third] = [started(answers, 'one'), started(answers, 'one'), started(answers, 'two', other)];
    const digest = await first.digest();
    expect(digest).toMatchObject({ size: 300_000, digest: expect.stringMatching(/^sha256:/) });
    expect(kept.size).toBe(1);
    expect(await second.digest()).toEqual(digest);
    expect(await third.digest()).not.toEqual(digest);
    expect([first.reads(), second.reads(), third.reads()]).toEqual([1, 0, 1]);
  });

  it('belong to one reader, one mount and one file', async () => {
    const { answers } = shared();
    const digest = await started(answers, 'one').digest();
    const theirs = started(answers, 'one', other);
    const found = await theirs.digest(createContext({ principal: { id: 'somebody else' } }));
    expect(found?.digest).not.toBe(digest?.digest);
    expect(theirs.reads()).toBe(1);
    expect((await started(answers, 'one', other, { name: 'copy' }).digest())?.digest).not.toBe(digest?.digest);
  });

  it('are not kept for weak versions and for mounted servers', async () => {
    const { kept, answers } = shared();
    await started(answers, 'W/"one"').digest();
    const server = { features: {} } as NonNullable<Mount['server']>;
    await started(answers, 'one', bytes, { server }).digest();
    expect(kept.size).toBe(0);
  });

  it('are replaced by a read if the kept value is not a digest', async () => {
    const { answers } = shared();
    answers.put(
      ['digest', 'docs', ctx.principal.id, 'skill:///good/large.bin', 'one', '300000'],
      Buffer.from('sha256:no'),
    );
    await answers.close();
    const one = started(answers, 'one');
    expect((await one.digest())?.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(one.reads()).toBe(1);
  });
});
