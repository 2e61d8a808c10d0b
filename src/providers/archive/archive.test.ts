/** Tests hostile and damaged archives: nothing leads out of one, nothing is unbounded, and errors say why. */
import { randomBytes } from 'node:crypto';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { END, packTar, type TarEntry, tarEntry } from '../../../test/fixtures/tar.ts';
import { bytesOf, chunksOf } from '../../core/body.ts';
import { createContext, type Log, SILENT } from '../../core/context.ts';
import { listAll, readLeaf, refusal } from '../../testing/observe.ts';
import { type ArchiveKind, archiveProvider, bytesSource } from './index.ts';
import { MAX_ENTRIES } from './limits.ts';

const open = (kind: ArchiveKind, bytes: Uint8Array, log: Log = SILENT) =>
  archiveProvider({ source: bytesSource(bytes), kind, name: 'pack', log });

/** The paths of all listed entries, from the root down. */
async function everything(provider: Awaited<ReturnType<typeof open>>, uri = 'archive:///'): Promise<string[]> {
  const entries = await listAll(provider, uri);
  const below = await Promise.all(
    entries.filter(({ capabilities }) => capabilities?.list).map((each) => everything(provider, each.uri)),
  );
  return [...entries.map((each) => each.uri), ...below.flat()].sort();
}

interface Raw {
  readonly name: string;
  readonly data: Uint8Array;
  readonly method?: number;
  readonly flags?: number;
  readonly size?: number;
  readonly crc?: number;
  /** Of Unix, with the kind of file. */
  readonly mode?: number;
  /** The offset that the directory gives for its own beginning. Default: the true one. */
  readonly at?: number;
}

/** A zip with the directory that a test wants. */
function rawZip(entries: readonly Raw[], counted = entries.length): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data, method = 0, flags = 0x800, size = data.byteLength, crc = 0, mode = 0, at } of entries) {
    const path = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(path.byteLength, 26);
    parts.push(local, path, Buffer.from(data));
    const head = Buffer.alloc(46);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE(3 << 8, 4);
    head.writeUInt16LE(flags, 8);
    head.writeUInt16LE(method, 10);
    head.writeUInt32LE(crc, 16);
    head.writeUInt32LE(data.byteLength, 20);
    head.writeUInt32LE(size, 24);
    head.writeUInt16LE(path.byteLength, 28);
    head.writeUInt32LE((mode << 16) >>> 0, 38);
    head.writeUInt32LE(at ?? offset, 42);
    directory.push(head, path);
    offset += 30 + path.byteLength + data.byteLength;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(counted, 8);
  end.writeUInt16LE(counted, 10);
  end.writeUInt32LE(central.byteLength, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, central, end]);
}

const data = strToU8('x');

describe('names in archives', () => {
  const BAD = ['../out.txt', 'a/../../out.txt', '/etc/passwd', 'C:/out.txt', 'a\\..\\out.txt', 'a\u0001b.txt'];

  it.each(['zip', 'tar'] as const)('never lead out of a %s, and the log has each reason once', async (kind) => {
    const names = [...BAD, 'good.txt'];
    const said: unknown[] = [];
    const log: Log = { ...SILENT, warn: (_message, facts) => void said.push(facts) };
    const bytes =
      kind === 'zip'
        ? rawZip(names.map((name) => ({ name, data, crc: 0x8cdc1683 })))
        : Buffer.concat([...names.map((path) => tarEntry({ path, bytes: data })), END]);
    const provider = await open(kind, bytes, log);
    expect(await everything(provider)).toEqual(['archive:///good.txt']);
    expect(said.length).toBeGreaterThan(1);
    expect(said.length).toBeLessThanOrEqual(BAD.length);
    expect(JSON.stringify(said)).not.toContain('out.txt');
    await refusal(() => readLeaf(provider, 'archive:///../out.txt'), 'any', 'a dot segment');
  });

  it('that are links or devices are left out', async () => {
    const links: readonly TarEntry[] = [
      { path: 'link', type: 'SymbolicLink', linkpath: '/etc/passwd' },
      { path: 'hard', type: 'Link', linkpath: 'good.txt' },
      { path: 'zero', type: 'CharacterDevice' },
      { path: 'pipe', type: 'FIFO' },
      { path: 'good.txt', bytes: data },
    ];
    expect(await everything(await open('tar', Buffer.concat([...links.map(tarEntry), END])))).toEqual([
      'archive:///good.txt',
    ]);
    const zipped = rawZip([
      { name: 'link', data: strToU8('/etc/passwd'), mode: 0o120777 },
      { name: 'good.txt', data, mode: 0o100644 },
    ]);
    expect(await everything(await open('zip', zipped))).toEqual(['archive:///good.txt']);
  });

  it('that occur twice: of two files the later one counts, of a file and a folder the first one', async () => {
    const tarred = Buffer.concat([
      tarEntry({ path: 'a.txt', bytes: strToU8('old') }),
      tarEntry({ path: 'a.txt', bytes: strToU8('newer') }),
      tarEntry({ path: 'a.txt/b.txt', bytes: data }),
      END,
    ]);
    const provider = await open('tar', tarred);
    expect(await everything(provider)).toEqual(['archive:///a.txt']);
    expect(Buffer.from((await readLeaf(provider, 'archive:///a.txt')).bytes).toString()).toBe('newer');
  });
});

describe('sizes of archives', () => {
  it('have a limit: no entry of a bomb is read', async () => {
    const zeros = new Uint8Array(32 * 1024 ** 2);
    const provider = await open('zip', zipSync({ 'bomb.bin': zeros }));
    expect(await everything(provider)).toEqual(['archive:///bomb.bin']);
    const error = await refusal(() => readLeaf(provider, 'archive:///bomb.bin'), ['denied'], 'a bomb');
    expect(error.message).toContain('times its size');
    await refusal(() => open('tgz', gzipSync(packTar(new Map([['bomb.bin', zeros]])))), ['too-large'], 'a bomb');
  });

  it('are checked: an entry that is longer than its size is damaged, and the rest of it is not sent', async () => {
    const long = deflateRawSync(new Uint8Array(1_000_000).fill(65));
    const provider = await open('zip', rawZip([{ name: 'a.txt', data: long, method: 8, size: 1_000 }]));
    await refusal(() => readLeaf(provider, 'archive:///a.txt'), ['invalid'], 'a longer entry');
    expect((await readLeaf(provider, 'archive:///a.txt', { offset: 0, length: 10 })).bytes.byteLength).toBe(10);
  });

  it('of entries that overlap are refused', async () => {
    const bytes = rawZip([
      { name: 'a', data: new Uint8Array(100) },
      { name: 'b', data: new Uint8Array(100), at: 10 },
    ]);
    const error = await refusal(() => open('zip', bytes), ['invalid'], 'an overlap');
    expect(error.message).toContain('overlap');
  });

  it('have a limit of entries: 50,000 are listed in pages, and more than the limit are refused', async () => {
    const many = Array.from({ length: MAX_ENTRIES }, (_, at) => ({ name: `n${at}`, data: new Uint8Array() }));
    const provider = await open('zip', rawZip(many.slice(0, 50_000)));
    const page = await provider.list('archive:///', { limit: 1_000 }, createContext());
    expect(page.resources).toHaveLength(1_000);
    const next = await provider.list('archive:///', { limit: 1_000, cursor: page.nextCursor }, createContext());
    expect(next.resources[0]?.uri).not.toBe(page.resources[999]?.uri);
    const entry = tarEntry({ path: 'same' });
    const tarred = Buffer.concat([...Array.from({ length: MAX_ENTRIES + 1 }, () => entry), END]);
    await refusal(() => open('tar', tarred), ['too-large'], 'too many entries');
  });
});

it('a read of a compressed tar that is aborted stops decompressing the entries before its own', async () => {
  const before = randomBytes(16 * 1024 ** 2);
  const files = new Map([
    ['before', before],
    ['last.txt', data],
  ]);
  const bytes = bytesSource(gzipSync(packTar(files), { level: 1 }));
  const caller = new AbortController();
  let isOpen = false;
  let readings = 0;
  const source = {
    size: bytes.size,
    async open() {
      const handle = await bytes.open();
      const read = (...args: Parameters<typeof handle.read>): Promise<number> => {
        if (isOpen && ++readings === 2) caller.abort(new Error('the caller left'));
        return handle.read(...args);
      };
      return { ...handle, read };
    },
  };
  const provider = await archiveProvider({ source, kind: 'tgz', name: 'pack' });
  isOpen = true;
  const ctx = createContext({ signal: caller.signal });
  const [body] = await provider.read('archive:///last.txt', { maxBytes: 100, maxChildren: 0 }, ctx);
  const reading = async (): Promise<void> => {
    for await (const _chunk of chunksOf(body?.content ?? bytesOf(new Uint8Array())));
  };
  await expect(reading()).rejects.toThrow('the caller left');
  expect(readings).toBeLessThan(100);
  await provider.close?.();
});

describe('damaged archives', () => {
  const whole = {
    zip: Buffer.from(zipSync({ 'a.txt': strToU8('hello '.repeat(1_000)), 'b.txt': data })),
    tar: Buffer.from(packTar(new Map([['a.txt', Buffer.alloc(3_000, 1)]]))),
    tgz: gzipSync(packTar(new Map([['a.txt', Buffer.from(Array.from({ length: 3_000 }, (_, at) => at % 256))]]))),
  } as const;

  it.each(['zip', 'tar', 'tgz'] as const)('a %s that is cut off anywhere is refused as damaged', async (kind) => {
    const bytes = whole[kind];
    for (const part of [0, 1, 0.1, 0.3, 0.6]) {
      const cut = bytes.subarray(0, part < 1 ? Math.floor(bytes.byteLength * part) : 1);
      await refusal(() => open(kind, cut), ['invalid'], `${part} of it`);
    }
    await refusal(() => open(kind, Buffer.alloc(4_096, 0x41)), ['invalid'], 'another file');
  });

  it('a read of an entry whose bytes were changed fails', async () => {
    const bytes = Buffer.from(whole.zip);
    bytes.writeUInt8(bytes.readUInt8(45) ^ 0xff, 45);
    const provider = await open('zip', bytes);
    await refusal(() => readLeaf(provider, 'archive:///a.txt'), ['invalid'], 'a changed entry');
  });

  it('an encrypted entry, and one of an unknown compression, are refused with the reason', async () => {
    const provider = await open(
      'zip',
      rawZip([
        { name: 'locked.txt', data: new Uint8Array(20), flags: 0x801, size: 8 },
        { name: 'odd.txt', data: new Uint8Array(20), method: 99, size: 8 },
      ]),
    );
    const error = await refusal(() => readLeaf(provider, 'archive:///locked.txt'), ['denied'], 'an encrypted entry');
    expect(error.message).toContain('encrypted');
    await refusal(() => readLeaf(provider, 'archive:///odd.txt'), ['denied'], 'an unknown compression');
  });

  it('a zip that contains itself is opened once: the inner one is an entry', async () => {
    const quine = zipSync({ 'r/r.zip': zipSync({ 'r/r.zip': strToU8('and so on') }) });
    expect(await everything(await open('zip', quine))).toEqual(['archive:///r', 'archive:///r/r.zip']);
  });
});
