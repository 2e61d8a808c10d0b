/** Tests reads of files that change meanwhile or are large or unusual, and reads of folders. */
import { chmod, open, readFile, symlink, truncate } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/e2e/folders.ts';
import { MEBIBYTE, refused, serve } from '../../../test/security/served.ts';
import { chunksOf, closeBodies, type ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import type { ReadOptions } from '../../core/provider.ts';
import { encodeBody, STRINGS } from '../../frontends/resources/encode.ts';
import { filesProvider } from './index.ts';

const WHOLE: ReadOptions = { maxBytes: 64 * MEBIBYTE, maxChildren: 100 };

/** The chunks of a body; runs a function after the first one. */
async function collect(
  body: ResourceBody | undefined,
  afterFirst: () => Promise<unknown> = async () => {},
): Promise<Buffer> {
  if (body === undefined) throw new Error('there is no body');
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(body.content)) {
    if (chunks.push(chunk) === 1) await afterFirst();
  }
  await body.close?.();
  return Buffer.concat(chunks);
}

describe('a file that changes while it is streamed', () => {
  it('ends at its new end when it shrinks', async () => {
    await using folder = await temporaryFolder({ 'a.bin': Buffer.alloc(MEBIBYTE, 1) });
    const provider = await filesProvider({ path: folder.path });
    const [body] = await provider.read('file:///a.bin', WHOLE, createContext());
    const bytes = await collect(body, () => truncate(folder.at('a.bin'), 300_000));
    expect(bytes.equals(Buffer.alloc(300_000, 1))).toBe(true);
  });

  it('ends at once when it becomes empty', async () => {
    await using folder = await temporaryFolder({ 'a.bin': Buffer.alloc(MEBIBYTE, 1) });
    const provider = await filesProvider({ path: folder.path });
    const [body] = await provider.read('file:///a.bin', WHOLE, createContext());
    await truncate(folder.at('a.bin'), 0);
    expect((await collect(body)).byteLength).toBe(0);
  });

  it('ends at its first size when it grows', async () => {
    await using folder = await temporaryFolder({ 'a.log': 'x'.repeat(200_000) });
    const provider = await filesProvider({ path: folder.path });
    const [body] = await provider.read('file:///a.log', WHOLE, createContext());
    const handle = await open(folder.at('a.log'), 'a');
    const bytes = await collect(body, () => handle.appendFile('y'.repeat(200_000)));
    await handle.close();
    expect(bytes.toString()).toBe('x'.repeat(200_000));
  });

  it('has the size of the bytes that were sent when it shrinks before it is sent [2093-6]', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'x'.repeat(200_000) });
    const provider = await filesProvider({ path: folder.path });
    const ctx = createContext();
    const [body] = await provider.read('file:///a.txt', WHOLE, ctx);
    await truncate(folder.at('a.txt'), 100_000);
    if (body === undefined) throw new Error('there is no body');
    const { item } = await encodeBody(body, { budget: MEBIBYTE, limit: MEBIBYTE, range: undefined }, STRINGS, ctx);
    expect(item.size).toBe(100_000);
    expect('text' in item && item.text.length).toBe(100_000);
  });

  it('has the size of the bytes that were read when it is small', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'one' });
    const provider = await filesProvider({ path: folder.path });
    const [body] = await provider.read('file:///a.txt', WHOLE, createContext());
    expect(body?.resource.size).toBe(3);
    expect((await collect(body)).toString()).toBe('one');
  });
});

describe('a file of an unusual kind', () => {
  it('may be sparse: a window anywhere in it costs only its own bytes', async () => {
    await using folder = await temporaryFolder({ 'sparse.bin': 'begin' });
    const size = 8 * 1024 ** 4;
    await truncate(folder.at('sparse.bin'), size);
    const handle = await open(folder.at('sparse.bin'), 'r+');
    await handle.write('end', size - 3);
    await handle.close();
    await using served = await serve({ path: folder.path });
    expect((await served.metadata('file:///sparse.bin')).size).toBe(size);
    const at = (offset: number, length: number): Promise<Buffer> =>
      served.bytes('file:///sparse.bin', { range: { offset, length } });
    expect((await at(0, 5)).toString()).toBe('begin');
    expect((await at(size - 3, 100)).toString()).toBe('end');
    expect((await at(size / 2, 200_000)).equals(Buffer.alloc(200_000))).toBe(true);
    expect((await at(size, 10)).byteLength).toBe(0);
    expect(await refused(at(size + 1, 10))).toBe('invalid');
    expect(await refused(at(Number.MAX_SAFE_INTEGER, 10))).toBe('invalid');
  });

  it('may be empty', async () => {
    await using folder = await temporaryFolder({ 'empty.txt': '' });
    await using served = await serve({ path: folder.path });
    expect(await served.text('file:///empty.txt')).toBe('');
    expect(await served.text('file:///empty.txt', { range: { offset: 0, length: 10 } })).toBe('');
    expect((await served.metadata('file:///empty.txt')).size).toBe(0);
  });

  it.runIf(process.platform === 'linux')(
    'may be one of the kernel, whose size is 0 although it has content',
    async () => {
      await using served = await serve({ path: '/proc/sys/kernel' });
      expect((await served.text('file:///ostype')).trim()).toBe('Linux');
      expect(await served.text('file:///ostype', { range: { offset: 1, length: 3 } })).toBe('inu');
    },
  );

  it.each([0, 1, 65_535, 65_536, 65_537, 131_072, 1_000_001])('may have %d bytes', async (size) => {
    const content = Buffer.from(Array.from({ length: size }, (_, index) => (index * 7) % 251));
    await using folder = await temporaryFolder({ 'a.bin': content });
    await using served = await serve({ path: folder.path });
    expect((await served.bytes('file:///a.bin')).equals(content)).toBe(true);
    for (const [offset, length] of [
      [0, 1],
      [size >> 1, 70_000],
      [Math.max(0, size - 1), 1],
      [size, 1],
    ] as const) {
      const window = await served.bytes('file:///a.bin', { range: { offset, length } });
      expect(window.equals(content.subarray(offset, offset + length)), `${offset} + ${length}`).toBe(true);
    }
  });
});

describe('a folder that is read [2093-5]', () => {
  it('gives children whole, and leaves out those that exceed the requested bytes or number', async () => {
    await using folder = await temporaryFolder({
      'a.txt': 'a'.repeat(600),
      'b.txt': 'b'.repeat(600),
      'c.txt': 'c'.repeat(300),
      'sub/x.txt': 'x',
    });
    const provider = await filesProvider({ path: folder.path });
    const bodies = await provider.read('file:///', { maxBytes: 1_000, maxChildren: 100 }, createContext());
    expect(bodies.map(({ resource }) => resource.name)).toEqual(['sub', 'a.txt', 'c.txt']);
    expect(bodies.every(({ child }) => child)).toBe(true);
    await closeBodies(bodies);
    const few = await provider.read('file:///', { maxBytes: 1_000, maxChildren: 2 }, createContext());
    expect(few.map(({ resource }) => resource.name)).toEqual(['sub', 'a.txt']);
  });

  it('leaves out links that lead out of the root, and has the others', async () => {
    await using folder = await temporaryFolder({ 'root/a.txt': 'a', 'root/sub/b.txt': 'b', 'outside.txt': 'SECRET' });
    await symlink('../outside.txt', folder.at('root/out'));
    await symlink('sub/b.txt', folder.at('root/in'));
    await symlink('sub', folder.at('root/folder'));
    await using served = await serve({ path: folder.at('root') });
    expect(await served.text('file:///')).toBe('ab');
    expect(await served.names('file:///')).toEqual(['sub', 'a.txt', 'folder', 'in']);
  });

  it('goes on after a child that the server may not read', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' });
    await chmod(folder.at('b.txt'), 0);
    await using served = await serve({ path: folder.path });
    const text = await served.text('file:///');
    // The superuser may read everything.
    expect(text).toBe(process.getuid?.() === 0 ? 'abc' : 'ac');
  });

  it.runIf(process.platform === 'linux')('gives files of the kernel, whose size is 0, with their content', async () => {
    const random = await filesProvider({ path: '/proc/sys/kernel/random' });
    const read = async (maxBytes: number) => {
      const bodies = await random.read('file:///', { maxBytes, maxChildren: 100 }, createContext());
      return new Map(await Promise.all(bodies.map(async (body) => [body.resource.name, await collect(body)] as const)));
    };
    const boot = await readFile('/proc/sys/kernel/random/boot_id');
    expect((await read(10_000)).get('boot_id')).toEqual(boot);
    expect((await read(boot.byteLength)).get('boot_id')).toEqual(boot);
    expect((await read(boot.byteLength - 1)).has('boot_id')).toBe(false);
    await random.close?.();
  });

  it.runIf(process.platform === 'linux')('gives a long file of the kernel whole, or not at all', async () => {
    const provider = await filesProvider({ path: '/proc/self' });
    const read = async (maxBytes: number) => {
      const bodies = await provider.read('file:///', { maxBytes, maxChildren: 1_000 }, createContext());
      const body = bodies.find(({ resource }) => resource.name === 'smaps');
      await closeBodies(bodies.filter((other) => other !== body));
      return body && (await collect(body)).toString();
    };
    const whole = await read(WHOLE.maxBytes);
    expect(whole?.length).toBeGreaterThan(10_000);
    expect(whole).toMatch(/^VmFlags:.*\n$/m);
    expect(await read(5_000)).toBeUndefined();
    await provider.close?.();
  });

  it('leaves empty files empty, and has them for a budget of nothing', async () => {
    await using folder = await temporaryFolder({ 'a.txt': '', 'b.txt': 'b', 'c.txt': '' });
    const provider = await filesProvider({ path: folder.path });
    const bodies = await provider.read('file:///', { maxBytes: 0, maxChildren: 100 }, createContext());
    expect(bodies.map(({ resource }) => [resource.name, resource.size])).toEqual([
      ['a.txt', 0],
      ['c.txt', 0],
    ]);
    await closeBodies(bodies);
  });

  it('has no windows', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'a' });
    await using served = await serve({ path: folder.path });
    expect(await refused(served.text('file:///', { range: { offset: 0 } }))).toBe('invalid');
  });

  it('stops when it is aborted', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'a' });
    const provider = await filesProvider({ path: folder.path });
    const signal = AbortSignal.abort(new Error('given up'));
    await expect(provider.read('file:///', WHOLE, createContext({ signal }))).rejects.toThrow('given up');
  });
});

describe('a URI with a slash at its end', () => {
  it('names a folder, and no file', async () => {
    await using folder = await temporaryFolder({ 'sub/a.txt': 'a' });
    await using served = await serve({ path: folder.path });
    expect(await served.text('file:///sub/')).toBe('a');
    expect((await served.metadata('file:///sub/')).uri).toBe('file:///sub');
    expect(await refused(served.text('file:///sub/a.txt/'))).toBe('not-found');
    expect(await refused(served.metadata('file:///sub/a.txt/'))).toBe('not-found');
    expect(await refused(served.text('file:///sub//'))).toBe('invalid');
  });
});
