/** Mounts beside each other: their names, their prefixes, and a mount that may have URIs of any scheme. */
import { describe, expect, it } from 'vitest';
import { memoryProvider } from '../../providers/memory/index.ts';
import { flatProvider } from '../../testing/flat-fixture.ts';
import { listAll, readLeaf, urisOf } from '../../testing/observe.ts';
import { createContext } from '../context.ts';
import { ANY_SCHEME, MAX_MOUNT_NAME_LENGTH, mountNameProblem, mountTree } from '../mounts.ts';
import { createNotes } from '../notes.ts';
import type { ResourceProvider } from '../provider.ts';
import type { Mount } from './mount.ts';

const ctx = createContext();
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a mount without a prefix that may have URIs of any scheme', () => {
  const anyOf = (...uris: string[]): ResourceProvider => {
    const provider = flatProvider({ resources: new Map(uris.map((uri) => [uri, bytes(uri)])) });
    return { ...provider, features: { ...provider.features, schemes: [ANY_SCHEME] } };
  };
  const memory = memoryProvider({ resources: { a: { text: '' } } });

  it('has the URIs that no other mount has', async () => {
    const uris = ['file:///a', 'git+ssh://host/a', 'memo:1+1', 'ui://page', 'urn:a:b'];
    const mount: Mount = { name: 'any', provider: anyOf(...uris), prefix: 'none' };
    const tree = mountTree([{ name: 'docs', provider: memory }, mount]);
    expect(urisOf(await listAll(tree, undefined))).toEqual(['docs+memory:///', ...uris]);
    for (const uri of uris) {
      expect((await readLeaf(tree, uri)).bytes).toEqual(bytes(uri));
    }
    expect(await tree.metadata('docs+memory:///a', ctx)).toMatchObject({ uri: 'docs+memory:///a' });
    await expect(tree.metadata('memory:///a', ctx)).rejects.toMatchObject({ code: 'not-found', uri: 'memory:///a' });
    expect(tree.features.schemes).toEqual(['docs+memory', ANY_SCHEME]);
  });

  it('uses its prefix, if it has one, for all URIs', async () => {
    const tree = mountTree([{ name: 'any', provider: anyOf('urn:a:b', 'ui://page') }]);
    expect(urisOf(await listAll(tree, undefined))).toEqual(['ui://any+page', 'any+urn:a:b']);
    expect(tree.features.schemes).toEqual([ANY_SCHEME]);
    await expect(tree.metadata('urn:a:b', ctx)).rejects.toMatchObject({ code: 'not-found' });
  });

  it('cannot stand beside another without a prefix, whatever their order', () => {
    const any: Mount = { name: 'any', provider: anyOf(), prefix: 'none' };
    const other: Mount = { name: 'other', provider: memory, prefix: 'none' };
    const message = /"any" and "other".*"any" may have URIs of any scheme/;
    expect(() => mountTree([any, other])).toThrow(message);
    expect(() => mountTree([other, any])).toThrow(message);
    const second: Mount = { ...any, name: 'second' };
    expect(() => mountTree([any, second])).toThrow(expect.objectContaining({ code: 'invalid' }));
    expect(() => mountTree([any, { ...other, prefix: 'name' }])).not.toThrow();
  });

  it('does not show entries whose URIs belong to another mount, and the list says so', async () => {
    const inner = anyOf('docs+memory:///', 'ui://docs+page', 'urn:a:b');
    const withTemplates: ResourceProvider = {
      ...inner,
      listTemplates: async () => ({
        resourceTemplates: [
          { uriTemplate: 'docs+memory:///{+path}', name: 'theirs' },
          { uriTemplate: '{+uri}', name: 'own' },
        ],
      }),
    };
    const tree = mountTree([
      { name: 'docs', provider: memory },
      { name: 'any', provider: withTemplates, prefix: 'none' },
    ]);
    const notes = createNotes();
    const noted = createContext({ notes });
    const { resources } = await tree.list(undefined, { limit: 100 }, noted);
    expect(urisOf(resources)).toEqual(['docs+memory:///', 'urn:a:b']);
    const templates = await tree.listTemplates?.({ limit: 100 }, noted);
    expect(templates?.resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'docs+memory:///{+path}',
      '{+uri}',
    ]);
    const missing = ['docs+memory:///', 'ui://docs+page', 'docs+memory:///{+path}'];
    expect(notes.finish({}, { ttlMs: 1, cacheScope: 'public' })).toMatchObject({
      _meta: { 'vitrine/missing': missing.map((uri) => ({ mount: 'any', entry: uri })) },
    });
    expect(
      urisOf(await listAll(mountTree([{ name: 'any', provider: inner, prefix: 'none' }]), undefined)),
    ).toHaveLength(3);
  });
});

describe('mounts beside each other', () => {
  const memory = memoryProvider();
  const refused = (...mounts: Mount[]) => expect(() => mountTree(mounts));

  it.each(['', 'Docs', '1docs', '-docs', '.docs', 'do+cs', 'do cs', 'do:cs', 'do/cs', 'dócs', 'x'.repeat(65)])(
    'cannot have the name %j',
    (name) => {
      expect(mountNameProblem(name)).toEqual(expect.any(String));
      refused({ name, provider: memory }).toThrow(expect.objectContaining({ code: 'invalid' }));
    },
  );

  it.each(['a', 'docs', 'my-docs.v2', 'a1', 'x'.repeat(MAX_MOUNT_NAME_LENGTH)])('may have the name %j', (name) => {
    expect(mountNameProblem(name)).toBeUndefined();
    expect(mountTree([{ name, provider: memory }]).features.schemes).toEqual([`${name}+memory`]);
  });

  it('cannot have the same name', () => {
    refused({ name: 'docs', provider: memory }, { name: 'docs', provider: memory }).toThrow(
      /Two mounts are named "docs"/,
    );
  });

  it('cannot both publish one scheme without a prefix', () => {
    refused(
      { name: 'a', provider: memory, prefix: 'none' },
      { name: 'b', provider: memoryProvider(), prefix: 'none' },
    ).toThrow(/"a" and "b" both publish memory:/);
  });

  it('cannot have a scheme without a prefix that looks like another mount', () => {
    const gitSsh = memoryProvider({ scheme: 'git+ssh' });
    refused({ name: 'git', provider: memory }, { name: 'b', provider: gitSsh, prefix: 'none' }).toThrow(
      /looks like a prefix of the mount "git"/,
    );
    refused({ name: 'b', provider: gitSsh, prefix: 'none' }, { name: 'git', provider: memory }).toThrow(/looks like/);
  });

  it('may have no prefix if their schemes differ, also beside one of the same scheme with a prefix', async () => {
    const notes = memoryProvider({ scheme: 'notes', name: 'notes' });
    const tree = mountTree([
      { name: 'a', provider: memory, prefix: 'none' },
      { name: 'b', provider: notes, prefix: 'none' },
      { name: 'c', provider: notes },
    ]);
    expect(urisOf(await listAll(tree, undefined))).toEqual(['memory:///', 'notes:///', 'c+notes:///']);
  });
});
