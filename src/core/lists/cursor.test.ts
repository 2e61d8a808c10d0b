import { describe, expect, it } from 'vitest';
import { CURSOR_TTL_MS, type CursorScope, createCursorCodec, MAX_POSITION_BYTES } from './cursor.ts';

const SCOPE: CursorScope = { principal: 'somebody', method: 'resources/list', parameters: ['file:///guide'] };
const SECRET = new Uint8Array(32).fill(7);

const REFUSED = expect.objectContaining({
  name: 'ResourceError',
  code: 'invalid',
  message: 'The cursor is not valid for this request or has expired; list again without it',
  uri: undefined,
  details: {},
});

describe('a cursor [SEC-UTIL-1]', () => {
  const codec = createCursorCodec({ keys: [SECRET] });
  const sealed = codec.seal('dguide', SCOPE);

  it('gives its position back to the same principal, method and parameters', () => {
    expect(codec.open(sealed, SCOPE)).toBe('dguide');
    expect(codec.open(sealed, { ...SCOPE, parameters: [...SCOPE.parameters] })).toBe('dguide');
  });

  it('is of characters that need no escape in JSON, a URL or a command line', () => {
    expect(sealed).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  it('reveals neither its position nor its principal, and differs each time', () => {
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toMatch(/guide|somebody/);
    expect(codec.seal('dguide', SCOPE)).not.toBe(sealed);
  });

  it.each<[string, CursorScope]>([
    ['another principal', { ...SCOPE, principal: 'anonymous' }],
    ['another method', { ...SCOPE, method: 'resources/directory/read' }],
    ['another parameter', { ...SCOPE, parameters: ['file:///'] }],
    ['a parameter less', { ...SCOPE, parameters: [] }],
    ['a parameter more', { ...SCOPE, parameters: ['file:///guide', ''] }],
    ['a parameter that moved to the method', { ...SCOPE, method: 'resources/list","file:///guide', parameters: [] }],
    [
      'a method that moved to the principal',
      { principal: 'somebody","resources/list', method: 'file:///guide', parameters: [] },
    ],
  ])('is refused for %s', (_what, scope) => {
    expect(() => codec.open(sealed, scope)).toThrow(REFUSED);
  });

  it('is refused with another key, and accepted by a replica with the same', () => {
    expect(() => createCursorCodec({ keys: [new Uint8Array(32).fill(8)] }).open(sealed, SCOPE)).toThrow(REFUSED);
    expect(() => createCursorCodec().open(sealed, SCOPE)).toThrow(REFUSED);
    expect(createCursorCodec({ keys: [new Uint8Array(32).fill(7)] }).open(sealed, SCOPE)).toBe('dguide');
  });

  it.each([
    ['nothing', ''],
    ['a word', 'cursor'],
    ['a position in the clear', 'dguide'],
    ['JSON', '{"offset":10}'],
    ['base64 of JSON', Buffer.from('{"offset":10}').toString('base64url')],
    ['zeros', Buffer.alloc(64).toString('base64url')],
    [
      'noise of the right form',
      Buffer.from(Array.from({ length: 64 }, (_, i) => (i * 89) & 0xff)).toString('base64url'),
    ],
    ['other characters', '💥'.repeat(20)],
    ['something huge', 'A'.repeat(1_000_000)],
  ])('is refused when it is %s', (_what, cursor) => {
    expect(() => codec.open(cursor, SCOPE)).toThrow(REFUSED);
  });

  it('is refused in any other spelling of the same bytes', () => {
    const bytes = Buffer.from(sealed, 'base64url');
    for (const spelling of [`${sealed}=`, `${sealed}==`, `${sealed}\n`, ` ${sealed}`, bytes.toString('hex')]) {
      expect(() => codec.open(spelling, SCOPE), JSON.stringify(spelling)).toThrow(REFUSED);
    }
    const standard = Array.from({ length: 50 }, () => codec.seal('x', SCOPE)).find((each) => /[-_]/.test(each)) ?? '';
    expect(() => codec.open(standard.replaceAll('-', '+').replaceAll('_', '/'), SCOPE)).toThrow(REFUSED);
  });

  it('is refused when bits are set that base64 does not use', () => {
    // 2 or 4 of the last character's bits mean nothing, and decoders overlook them.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const odd = ['x', 'xx', 'xxx']
      .map((position) => codec.seal(position, SCOPE))
      .find(({ length }) => length % 4 !== 0);
    const last = odd?.at(-1) ?? '';
    const twin = `${odd?.slice(0, -1)}${alphabet[alphabet.indexOf(last) + 1]}`;
    expect(Buffer.from(twin, 'base64url')).toEqual(Buffer.from(odd ?? '', 'base64url'));
    expect(() => codec.open(twin, SCOPE)).toThrow(REFUSED);
  });

  it('refuses every invalid cursor in the same words', () => {
    const messages = new Set(
      ['', 'x', sealed.slice(0, -4), createCursorCodec().seal('x', SCOPE)].map((cursor) => {
        try {
          return codec.open(cursor, SCOPE);
        } catch (error) {
          return String(error);
        }
      }),
    );
    expect(messages.size).toBe(1);
  });
});

describe('the age of a cursor', () => {
  it('ends after its time, to the second', () => {
    let now = 1_000_000_000_500;
    const codec = createCursorCodec({ keys: [SECRET], ttlMs: 60_000, now: () => now });
    const sealed = codec.seal('x', SCOPE);
    now += 60_000;
    expect(codec.open(sealed, SCOPE)).toBe('x');
    now += 1_000;
    expect(() => codec.open(sealed, SCOPE)).toThrow(REFUSED);
  });

  it('is an hour by default, and the holder cannot extend it', () => {
    let now = 1_700_000_000_000;
    const codec = createCursorCodec({ keys: [SECRET], now: () => now });
    const bytes = Buffer.from(codec.seal('x', SCOPE), 'base64url');
    now += CURSOR_TTL_MS;
    expect(codec.open(bytes.toString('base64url'), SCOPE)).toBe('x');
    bytes.writeUInt32BE(0xffffffff, 1);
    expect(() => codec.open(bytes.toString('base64url'), SCOPE)).toThrow(REFUSED);
    expect(CURSOR_TTL_MS).toBe(3_600_000);
  });
});

describe('a large position', () => {
  const codec = createCursorCodec({ keys: [SECRET] });
  const uris = (count: number): string =>
    JSON.stringify(
      Array.from({ length: count }, (_, index) => [`docs+file:///a/long/way/down/the/tree/${index}`, null, 3]),
    );

  it('comes back, and is short where it repeats itself', () => {
    const position = uris(1_000);
    const sealed = codec.seal(position, SCOPE);
    expect(codec.open(sealed, SCOPE)).toBe(position);
    expect(sealed.length).toBeLessThan(position.length / 4);
  });

  it('comes back up to the limit, and is refused over it', () => {
    const longest = 'x'.repeat(MAX_POSITION_BYTES);
    expect(codec.open(codec.seal(longest, SCOPE), SCOPE)).toBe(longest);
    expect(() => codec.seal(`${longest}x`, SCOPE)).toThrow(expect.objectContaining({ code: 'too-large' }));
    expect(() => codec.seal('日'.repeat(MAX_POSITION_BYTES / 2), SCOPE)).toThrow(
      expect.objectContaining({ code: 'too-large' }),
    );
  });
});
