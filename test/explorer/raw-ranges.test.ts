/** Ranges of the raw addresses, for providers that give windows, the whole, or something else than was requested. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, type ResourceBody } from '../../src/core/body.ts';
import { defineProvider } from '../../src/core/define-provider.ts';
import type { ByteRange } from '../../src/core/provider.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';

const SMALL = Uint8Array.from({ length: 300 }, (_, at) => at % 251);
const LARGE = Uint8Array.from({ length: 3 * 1024 * 1024 }, (_, at) => (at * 7 + (at >> 9)) % 256);
const WORDS = 'Grüße aus der Vitrine. '.repeat(10);
const LAST_MODIFIED = '2024-05-01T10:00:00Z';

/** The bytes of each resource, and the size by which it is described. */
const CONTENTS: Readonly<Record<string, { readonly bytes: Uint8Array; readonly size?: number }>> = {
  small: { bytes: SMALL },
  large: { bytes: LARGE },
  streamed: { bytes: LARGE },
  words: { bytes: new TextEncoder().encode(WORDS) },
  'longer-than-described': { bytes: SMALL, size: 200 },
  'shorter-than-described': { bytes: SMALL, size: 400 },
  'streamed-shorter-than-described': { bytes: SMALL, size: 400 },
  empty: { bytes: new Uint8Array() },
  'empty-when-described': { bytes: SMALL, size: 0 },
  windowed: { bytes: LARGE },
  'windows-of-fewer-bytes': { bytes: LARGE },
  'windows-of-more-bytes': { bytes: LARGE },
  'windows-that-begin-before': { bytes: LARGE },
  'windows-of-a-shorter-content': { bytes: SMALL, size: 400 },
  'windows-of-an-unknown-total': { bytes: SMALL },
  'windows-that-begin-after': { bytes: SMALL },
  'windows-that-stop': { bytes: SMALL },
  'windows-of-unknown-total-empty-when-described': { bytes: SMALL, size: 0 },
};
const names = Object.keys(CONTENTS);
const bytesAt = (name: string): Uint8Array => CONTENTS[name]?.bytes ?? new Uint8Array();

let reads = 0;

/** The bodies of a provider with windows, which are not always those that were requested. */
function windowOf(name: string, { offset, length = Infinity }: ByteRange, resource: ResourceBody['resource']) {
  const bytes = bytesAt(name);
  const [from, to] = ((): [number, number] => {
    if (name === 'windows-of-fewer-bytes') return [offset, offset + Math.min(length, 700_000)];
    if (name === 'windows-of-more-bytes') return [offset, offset + length + 5];
    if (name === 'windows-that-begin-before') return [Math.max(0, offset - 5), offset + length];
    if (name === 'windows-that-begin-after') return [offset + 1, offset + length];
    if (name === 'windows-that-stop') return [offset, offset === 0 ? 10 : offset];
    return [offset, offset + length];
  })();
  const total = name.includes('unknown-total') ? undefined : bytes.byteLength;
  return [{ resource, content: bytesOf(bytes.subarray(from, to)), window: { offset: from, total } }];
}

const provider = defineProvider({
  name: 'store',
  scheme: 'store',
  list: () =>
    names.map((name) => ({
      uri: `store:///${name}`,
      mimeType: name === 'words' ? 'text/plain' : 'application/octet-stream',
      size: CONTENTS[name]?.size ?? bytesAt(name).byteLength,
      annotations: { lastModified: LAST_MODIFIED },
    })),
  read: (uri, want) => {
    reads++;
    const name = uri.slice('store:///'.length);
    if (name === 'words') return WORDS;
    if (name.startsWith('window')) return windowOf(name, want.range ?? { offset: 0 }, { uri, name });
    if (!name.startsWith('streamed')) return bytesAt(name);
    return {
      async *open() {
        const bytes = bytesAt(name);
        for (let at = 0; at < bytes.byteLength; at += 65_536) yield bytes.subarray(at, at + 65_536);
      },
    };
  },
});

let vitrine: Vitrine;
let serving: HttpServing;

beforeAll(async () => {
  vitrine = createVitrine({ mounts: [{ name: 'my', provider }] });
  serving = await serveHttp(vitrine, { port: 0 });
});
afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
});

interface Got {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** Rejects if the connection ends before the answer does, or if more is sent than was announced. */
function get(name: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const url = new URL(`/raw/my+store/${name}`, serving.url);
    const asking = request(url, { headers, method, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const got = { status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) };
        // The socket reports bytes after the end as an answer to nothing.
        setTimeout(() => resolve(got), 10);
      });
    });
    asking.on('error', reject);
    asking.end();
  });
}

const RANGES = ['bytes=0-9', 'bytes=0-0', 'bytes=10-', 'bytes=100-109', 'bytes=-5', 'bytes=299-', 'bytes=200-9999999'];

/** The positions of a range in a content. */
function positions(range: string, size: number): [number, number] {
  const [, first = '', last = ''] = /=(\d*)-(\d*)/.exec(range) ?? [];
  if (first === '') return [size - Number(last), size];
  return [Number(first), last === '' ? size : Math.min(size, Number(last) + 1)];
}

describe.each([
  'small',
  'large',
  'streamed',
  'words',
  'windowed',
  'windows-of-fewer-bytes',
  'windows-of-more-bytes',
  'windows-that-begin-before',
  'windows-of-an-unknown-total',
])('of %s', (name) => {
  const bytes = Buffer.from(bytesAt(name));

  it.each(RANGES)('%s is answered with just these bytes', async (range) => {
    const [from, to] = positions(range, bytes.byteLength);
    if (from >= to) return;
    const { status, headers, bytes: got } = await get(name, { range });
    expect(status).toBe(206);
    expect(headers['content-range']).toBe(`bytes ${from}-${to - 1}/${bytes.byteLength}`);
    expect(headers['content-length']).toBe(String(to - from));
    expect(got.equals(bytes.subarray(from, to))).toBe(true);
  });

  it('the whole is answered where no range is requested, or one of another version', async () => {
    for (const headers of [{}, { range: 'bytes=0-9', 'if-range': '"other"' }, { range: 'bytes=0-1,4-5' }]) {
      const { status, headers: given, bytes: got } = await get(name, headers);
      expect(status).toBe(200);
      expect(given['content-range']).toBeUndefined();
      expect(given['content-length']).toBe(String(bytes.byteLength));
      expect(got.equals(bytes)).toBe(true);
    }
  });

  it('a range of this version is answered', async () => {
    const { headers } = await get(name, { range: 'bytes=0-9' }, 'HEAD');
    const etag = String(headers.etag);
    const { status, bytes: got } = await get(name, { range: 'bytes=5-9', 'if-range': etag });
    expect([status, got]).toEqual([206, bytes.subarray(5, 10)]);
  });

  it('HEAD has no range and no bytes', async () => {
    const { status, headers, bytes: got } = await get(name, { range: 'bytes=0-9' }, 'HEAD');
    expect([status, got.byteLength]).toEqual([200, 0]);
    expect(headers['content-length']).toBe(String(bytes.byteLength));
    expect(headers['accept-ranges']).toBe('bytes');
  });
});

describe('of a content that does not have the described size', () => {
  it.each([
    'longer-than-described',
    'shorter-than-described',
    'streamed-shorter-than-described',
    'windows-of-a-shorter-content',
    'empty-when-described',
  ])('%s is sent whole, whatever the range', async (name) => {
    for (const range of ['bytes=0-9', 'bytes=150-', 'bytes=-5', 'bytes=0-']) {
      const { status, headers, bytes } = await get(name, { range });
      if (name === 'empty-when-described') {
        expect(status).toBe(416);
        continue;
      }
      // A stream does not show its end to a reader that stops before.
      if (name.startsWith('streamed') && range === 'bytes=0-9') expect(status).toBe(206);
      else expect([range, status, headers['content-length']]).toEqual([range, 200, '300']);
      expect(bytes.equals(Buffer.from(SMALL).subarray(0, bytes.byteLength))).toBe(true);
    }
    const whole = await get(name);
    expect([whole.status, whole.headers['content-length']]).toEqual([200, '300']);
    expect(whole.bytes.equals(SMALL)).toBe(true);
  });

  it('is sent to its end if it is described as empty and its windows do not say their total', async () => {
    const name = 'windows-of-unknown-total-empty-when-described';
    const { status, headers, bytes } = await get(name);
    expect([status, headers['content-length']]).toEqual([200, undefined]);
    expect(bytes.equals(SMALL)).toBe(true);
    expect((await get(name, {}, 'HEAD')).headers).not.toHaveProperty('content-length');
  });

  it('no byte of an empty one can be requested', async () => {
    expect((await get('empty', { range: 'bytes=0-9' })).status).toBe(416);
    expect((await get('empty')).headers['content-length']).toBe('0');
  });
});

describe('of a provider that gives other windows than were requested', () => {
  it('one that begins after the requested one is an error', async () => {
    expect((await get('windows-that-begin-after', { range: 'bytes=5-9' })).status).toBe(500);
  });

  it('the connection ends early if a window has too few bytes', async () => {
    await expect(get('windows-that-stop')).rejects.toThrow();
    await expect(get('windows-that-stop', { range: 'bytes=0-99' })).rejects.toThrow();
  });
});

it('a content without windows is read once for each request', async () => {
  for (const range of ['bytes=0-9', 'bytes=10-', 'bytes=0-']) {
    reads = 0;
    await get('large', { range });
    expect(reads).toBe(1);
  }
});
