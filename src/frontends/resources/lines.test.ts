import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../../test/e2e/folders.ts';
import { refused } from '../../../test/security/served.ts';
import type { ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { createCursorCodec } from '../../core/lists/cursor.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { filesProvider } from '../../providers/files/index.ts';
import { lineUri, splitLines } from './line-uri.ts';
import { cutLines } from './lines.ts';
import { DEFAULT_LIMITS } from './options.ts';
import { readConfirmed } from './read.ts';

describe('a line fragment', () => {
  it.each([
    ['x:a#L1', { resource: 'x:a', lines: { first: 1, last: 1 } }],
    ['x:a#L2-L4', { resource: 'x:a', lines: { first: 2, last: 4 } }],
    ['x:a#L2-4', { resource: 'x:a', lines: { first: 2, last: 4 } }],
    ['x:a#L9999999999', { resource: 'x:a', lines: { first: 9_999_999_999, last: 9_999_999_999 } }],
    ['x:a?q#L1', { resource: 'x:a?q', lines: { first: 1, last: 1 } }],
  ])('%s names lines, and can be written again', (uri, split) => {
    expect(splitLines(uri)).toEqual(split);
    expect(splitLines(lineUri(split.resource, split.lines))).toEqual(split);
  });

  it.each(['x:a', 'x:a#L0', 'x:a#L', 'x:a#l1', 'x:a#L1-', 'x:a#L1-L0', 'x:a#L-1', 'x:a#L1#L2', 'x:a#L99999999999'])(
    '%s is a part of the URI',
    (uri) => {
      expect(splitLines(uri)).toEqual({ resource: uri });
    },
  );

  it('refuses lines in reverse', () => {
    expect(() => splitLines('x:a#L4-L2')).toThrow('before the first');
  });
});

describe('lines in resources/read', () => {
  let folder: Folder;
  let provider: ResourceProvider;
  beforeAll(async () => {
    folder = await temporaryFolder({
      'a.md': 'one\ntwo\nthree\nfour\nfive',
      'crlf.md': 'one\r\ntwo\r\n',
      'empty.md': '',
      'latin1.md': Buffer.from('one\nété\n', 'latin1'),
      'image.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 10, 1]),
      'large.log': `first\n${`${'x'.repeat(999)}\n`.repeat(20_000)}`,
    });
    provider = await filesProvider({ path: folder.path, watch: false });
  });
  afterAll(async () => {
    await provider.close?.();
    await folder[Symbol.asyncDispose]();
  });

  async function read(uri: string) {
    const options = {
      provider,
      cursors: createCursorCodec(),
      limits: DEFAULT_LIMITS,
      listing: 'walk',
      cacheHint: { ttlMs: 0, cacheScope: 'private' },
    } as const;
    const { contents } = await readConfirmed(options, { uri: `file:///${uri}` }, createContext());
    expect(contents).toHaveLength(1);
    expect(contents[0]?.uri).toBe(`file:///${uri}`);
    return contents[0];
  }

  it.each([
    ['a.md#L1', 'one\n'],
    ['a.md#L2-L4', 'two\nthree\nfour\n'],
    ['a.md#L2-4', 'two\nthree\nfour\n'],
    ['a.md#L5', 'five'],
    ['a.md#L4-L9999999999', 'four\nfive'],
    ['crlf.md#L2', 'two\r\n'],
    ['large.log#L1', 'first\n'],
    ['large.log#L20001', `${'x'.repeat(999)}\n`],
  ])('%s', async (uri, text) => {
    expect(await read(uri)).toMatchObject({ text, mimeType: expect.stringMatching(/^text\//) });
  });

  it('gives lines in another encoding as their original bytes', async () => {
    expect(await read('latin1.md#L2')).toMatchObject({ blob: Buffer.from('été\n', 'latin1').toString('base64') });
    expect(await read('latin1.md#L1')).toMatchObject({ text: 'one\n' });
  });

  it.each([
    ['a.md#L6', 'invalid'],
    ['a.md#L9999999999', 'invalid'],
    ['a.md#L4-L2', 'invalid'],
    ['crlf.md#L3', 'invalid'],
    ['empty.md#L1', 'invalid'],
    ['image.png#L1', 'invalid'],
    ['#L1', 'invalid'],
    ['nope.md#L1', 'not-found'],
    ['large.log#L1-L20001', 'too-large'],
  ])('%s is refused as %s', async (uri, code) => {
    expect(await refused(read(uri))).toBe(code);
  });

  it('reads no further than the last line', async () => {
    let chunks = 0;
    let closed = false;
    async function* open(): AsyncIterable<Uint8Array> {
      try {
        for (;;) {
          chunks++;
          yield Buffer.from('line\n');
        }
      } finally {
        closed = true;
      }
    }
    const resource = { uri: 'x:a', name: 'a' };
    const body: ResourceBody = { resource, content: { kind: 'stream', size: undefined, open } };
    const { bytes, offset } = await cutLines(body, { first: 3, last: 4 }, 100, createContext());
    expect([bytes.toString(), offset, chunks, closed]).toEqual(['line\nline\n', 10, 4, true]);
    const aborted = createContext({ signal: AbortSignal.abort(new Error('gone')) });
    await expect(cutLines(body, { first: 3, last: 4 }, 100, aborted)).rejects.toThrow('gone');
  });
});
