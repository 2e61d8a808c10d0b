import { describe, expect, it } from 'vitest';
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { CHARSET_META_KEY, DECLARED_MIME_TYPE_META_KEY } from '../../protocol/meta.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { streaming } from '../../testing/memory-fixture.ts';
import { EVERYTHING, readLeaf } from '../../testing/observe.ts';
import { mimeLayer } from './index.ts';

layerContract('mime', mimeLayer());

const PNG_START = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);

const inner = memoryProvider({
  resources: {
    'picture.txt': { bytes: PNG_START },
    'not-really.png': { text: 'I am a picture, honestly. '.repeat(1_000) },
    'short.png': { text: 'né' },
    untyped: { text: '日本語' },
    'utf16.csv': { bytes: Buffer.from('\ufeffa,b\n', 'utf16le') },
    'latin1.txt': { bytes: Buffer.from('caf\u00e9', 'latin1') },
    'frames.mp3': { bytes: new Uint8Array([0xff, 0xfe, 0, 1, 2, 3, 0xff, 0xff]) },
    'notes.md': { text: '# Notes', _meta: { 'example/kept': true } },
    'folder/inside.png': { text: 'text' },
    'folder/deeper/leaf.txt': { text: 'text' },
  },
});

const first = async (provider: ResourceProvider, uri: string, offset?: number, length?: number) => {
  const { bodies } = await readLeaf(provider, uri, offset === undefined ? undefined : { offset, length });
  return bodies[0]?.resource;
};

describe.each([
  ['in memory', mimeLayer()(inner)],
  ['in streams', mimeLayer()(streaming(inner))],
])('the mime layer over content %s', (_name, provider) => {
  it('corrects a type that the bytes contradict, and keeps the declared one [SEC-RES-6]', async () => {
    expect(await first(provider, 'memory:///picture.txt')).toMatchObject({
      mimeType: 'image/png',
      _meta: { [DECLARED_MIME_TYPE_META_KEY]: 'text/plain' },
    });
    expect(await first(provider, 'memory:///not-really.png')).toMatchObject({
      mimeType: 'text/plain',
      _meta: { [DECLARED_MIME_TYPE_META_KEY]: 'image/png' },
    });
  });

  it('adds a missing type, without a mark', async () => {
    const resource = await first(provider, 'memory:///untyped');
    expect(resource?.mimeType).toBe('text/plain');
    expect(resource).not.toHaveProperty('_meta');
  });

  it('gives the encoding of a text that names it, and marks others as not UTF-8 [SEC-RES-6]', async () => {
    const charsetOf = async (name: string) => (await first(provider, `memory:///${name}`))?._meta?.[CHARSET_META_KEY];
    expect(await charsetOf('utf16.csv')).toBe('utf-16le');
    expect(await charsetOf('latin1.txt')).toBe('unknown-8bit');
    expect(await charsetOf('frames.mp3')).toBeUndefined();
    expect(await first(provider, 'memory:///utf16.csv')).toMatchObject({ mimeType: 'text/csv' });
  });

  it('keeps a type that fits, and all other fields', async () => {
    expect(await first(provider, 'memory:///notes.md')).toEqual(
      await inner.metadata('memory:///notes.md', createContext()),
    );
  });

  it('leaves the types in lists and metadata, which come from names, and reads no content for them [2093-2]', async () => {
    const ctx = createContext();
    expect(await provider.metadata('memory:///picture.txt', ctx)).toMatchObject({ mimeType: 'text/plain' });
    const { resources } = await provider.list('memory:///', { limit: 100 }, ctx);
    expect(resources.find(({ name }) => name === 'picture.txt')).toMatchObject({ mimeType: 'text/plain' });
  });

  it('gives the first window the same type as the whole, wherever the window ends', async () => {
    for (const uri of ['memory:///short.png', 'memory:///untyped', 'memory:///not-really.png']) {
      const whole = await first(provider, uri);
      for (let length = 1; length <= 9; length++) {
        expect((await first(provider, uri, 0, length))?.mimeType, `${uri}, ${length} bytes`).toBe(whole?.mimeType);
      }
    }
  });

  it('leaves a window from the middle unchanged', async () => {
    expect((await first(provider, 'memory:///picture.txt', 4, 8))?.mimeType).toBe('text/plain');
  });

  it('verifies children, and leaves containers alone [2093-5]', async () => {
    const bodies = await provider.read('memory:///folder', EVERYTHING, createContext());
    expect(bodies.map(({ resource }) => [resource.name, resource.mimeType])).toEqual([
      ['deeper', 'inode/directory'],
      ['inside.png', 'text/plain'],
    ]);
    await closeBodies(bodies);
  });
});

describe('the mime layer over streams', () => {
  const bodyOf = (chunks: () => AsyncIterable<Uint8Array>, closed: () => void): ResourceBody => ({
    resource: { uri: 'memory:///a', name: 'a' },
    content: { kind: 'stream', open: chunks },
    close: async () => closed(),
  });
  const giving = (...bodies: ResourceBody[]): ResourceProvider =>
    mimeLayer()(wrapProvider(inner, { read: async () => bodies }));

  it('reads only the head until the caller reads on', async () => {
    let chunks = 0;
    async function* endless(): AsyncIterable<Uint8Array> {
      for (;;) {
        chunks++;
        yield new Uint8Array(1_000).fill(0x61);
      }
    }
    const bodies = await giving(bodyOf(endless, () => {})).read('memory:///a', EVERYTHING, createContext());
    expect(chunks).toBe(5);
    await closeBodies(bodies);
  });

  it('closes all bodies when the head of one cannot be read [RES-7]', async () => {
    const closed: string[] = [];
    async function* failing(): AsyncIterable<Uint8Array> {
      yield new Uint8Array(10);
      throw new Error('The disk is on fire');
    }
    let ended = false;
    async function* sound(): AsyncIterable<Uint8Array> {
      try {
        for (;;) yield new Uint8Array(5_000);
      } finally {
        ended = true;
      }
    }
    const provider = giving(
      bodyOf(failing, () => closed.push('failing')),
      bodyOf(sound, () => closed.push('sound')),
    );
    await expect(provider.read('memory:///a', EVERYTHING, createContext())).rejects.toThrow('on fire');
    expect([...new Set(closed)].sort()).toEqual(['failing', 'sound']);
    expect(ended).toBe(true);
  });
});

describe('contents of another server', () => {
  it('keep their type, and are not checked: the type is that server’s word', async () => {
    const item = { uri: 'memory:///a', name: 'a', mimeType: 'image/png', text: 'no picture' };
    let opened = 0;
    async function* open(): AsyncIterable<Uint8Array> {
      opened++;
      yield new TextEncoder().encode('no picture');
    }
    const body: ResourceBody = {
      resource: { uri: item.uri, name: 'a', mimeType: 'image/png' },
      content: { kind: 'stream', open },
      item,
    };
    const provider = mimeLayer()(wrapProvider(memoryProvider(), { read: async () => [body] }));
    const [given] = await provider.read(item.uri, EVERYTHING, createContext());
    expect(given).toBe(body);
    expect(opened).toBe(0);
  });
});
