import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  invalid,
  notFound,
  notListable,
  PeerError,
  ResourceError,
  type ResourceErrorCode,
  toWireError,
} from './errors.ts';

/** Every code, the JSON-RPC code it is sent as, and whether trying again may help. */
const MAPPING: Readonly<Record<ResourceErrorCode, readonly [code: number, retryable: boolean]>> = {
  'not-found': [-32602, false],
  'not-listable': [-32602, false],
  denied: [-32602, false],
  'too-large': [-32602, false],
  invalid: [-32602, false],
  timeout: [-32603, true],
  limited: [-32603, true],
  unavailable: [-32603, true],
  internal: [-32603, false],
};

const CODES = Object.keys(MAPPING) as ResourceErrorCode[];
const SECRET = '/home/somebody/.ssh/id_ed25519';

describe('the wire error of a ResourceError', () => {
  it.each(CODES)('%s', (code) => {
    const [wireCode, retryable] = MAPPING[code];
    const error = new ResourceError(code, 'What is wrong', { uri: 'file:///a', details: { limit: 7 } });
    expect(error.retryable).toBe(retryable);
    expect(toWireError(error, 'request-1')).toEqual({
      code: wireCode,
      message: 'What is wrong',
      data: { uri: 'file:///a', reason: code, limit: 7, ...(retryable && { retryable: true }) },
    });
  });

  it.each([
    ['legacy', -32002],
    ['modern', -32602],
  ] as const)('of a missing resource has its URI, and the code of the %s era [RES-6]', (era, code) => {
    const data = { uri: 'file:///a', reason: 'not-found' };
    expect(toWireError(notFound('file:///a'), 'request-1', era)).toEqual({ code, message: 'Resource not found', data });
  });

  it('of anything else is the same in both eras', () => {
    for (const code of CODES.filter((each) => each !== 'not-found')) {
      const error = new ResourceError(code, 'What is wrong', { uri: 'file:///a' });
      expect(toWireError(error, undefined, 'legacy')).toEqual(toWireError(error, undefined, 'modern'));
    }
  });

  it('of what cannot be listed says so, and differs from that of a missing resource [2093-4]', () => {
    expect(toWireError(notListable('file:///a'))).toMatchObject({ code: -32602, data: { reason: 'not-listable' } });
    expect(notListable('file:///a').message).not.toBe(notFound('file:///a').message);
  });

  it('has no URI if none was given', () => {
    expect(toWireError(invalid('A mistake'))).toEqual({
      code: -32602,
      message: 'A mistake',
      data: { reason: 'invalid' },
    });
  });

  it('has nothing of its cause, which stays for the log', () => {
    const cause = Object.assign(new Error(`ENOENT: no such file, open '${SECRET}'`), { path: SECRET });
    for (const error of [notFound('file:///a', cause), new ResourceError('internal', 'Failed', { cause })]) {
      expect(error.cause).toBe(cause);
      expect(JSON.stringify(toWireError(error, 'request-1'))).not.toContain(SECRET);
    }
  });
});

describe('a ResourceError', () => {
  const error = new ResourceError('too-large', 'Too large', { uri: 'file:///a', cause: 'why', details: { limit: 7 } });

  it('gets another URI, and keeps everything else', () => {
    const other = error.withUri('docs+file:///a');
    expect(other).toMatchObject({ ...error, uri: 'docs+file:///a', message: 'Too large', cause: 'why' });
    expect(error.uri).toBe('file:///a');
  });

  it('keeps all but the cause when it is given one', () => {
    expect(error.withCause('because')).toMatchObject({ ...error, message: 'Too large', cause: 'because' });
  });

  it('is an Error with a name, and without a cause when none is given', () => {
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe('ResourceError');
    expect(Object.hasOwn(invalid('x'), 'cause')).toBe(false);
  });
});

describe('the error of another server', () => {
  it.each([-32602, -32603, -32601, -32042, -32000, 7])('is sent on as it came: %i', (code) => {
    const wire = { code, message: `As they say: ${SECRET}`, data: { uri: 'memo:x', deep: { kept: [1] } } };
    expect(toWireError(new PeerError(wire, 'docs+memo:x'), 'request-1')).toBe(wire);
    const { data: _, ...bare } = wire;
    expect(toWireError(new PeerError(bare), 'request-1')).toBe(bare);
  });

  it('about a missing resource has the code of the era in which it is sent, and keeps its data', () => {
    const error = new PeerError({ code: -32002, message: 'Gone', data: { uri: 'memo:x', kept: 1 } }, 'docs+memo:x');
    expect(error.code).toBe('not-found');
    expect(toWireError(error)).toEqual({ code: -32602, message: 'Gone', data: { uri: 'memo:x', kept: 1 } });
    expect(toWireError(error.withUri('docs+memo:x'))).toEqual({
      code: -32602,
      message: 'Gone',
      data: { uri: 'docs+memo:x', kept: 1 },
    });
    expect(toWireError(new PeerError({ code: -32002, message: 'Gone' }, 'docs+memo:x'))).toEqual({
      code: -32602,
      message: 'Gone',
      data: { uri: 'docs+memo:x' },
    });
    expect(toWireError(new PeerError({ code: -32002, message: 'Gone' }))).toMatchObject({ code: -32602, data: {} });
    expect(toWireError(error, undefined, 'legacy')).toEqual({
      code: -32002,
      message: 'Gone',
      data: { uri: 'memo:x', kept: 1 },
    });
    const odd = { code: -32002, message: 'Gone', data: 'any JSON' as unknown as object as Record<string, unknown> };
    expect(toWireError(new PeerError(odd, 'docs+memo:x'), undefined, 'legacy')).toEqual(odd);
  });

  it('keeps its class under another URI and with a cause, and its data gets the URI only if they had one', () => {
    const wire = { code: -32603, message: 'Failed', data: { kept: 1 } };
    const cause = new Error(SECRET);
    for (const error of [
      new PeerError(wire, 'memo:x').withCause(cause).withUri('docs+memo:x'),
      new PeerError(wire, 'memo:x').withUri('docs+memo:x').withCause(cause),
    ]) {
      expect(error).toBeInstanceOf(PeerError);
      expect(error).toMatchObject({ uri: 'docs+memo:x', wire, code: 'invalid', cause });
      expect(toWireError(error)).toEqual(wire);
    }
  });
});

describe('the wire error of anything else', () => {
  const bare = {
    code: -32603,
    message: 'Internal error; the server log has the cause under this request id',
    data: { requestId: 'request-1' },
  };

  it.each<[string, unknown]>([
    ['an error of the system', Object.assign(new Error(`EACCES: '${SECRET}'`), { code: 'EACCES', path: SECRET })],
    ['a bug', new TypeError(`Cannot read ${SECRET}`)],
    ['a string', SECRET],
    ['nothing', undefined],
    ['null', null],
    [
      'what looks like a ResourceError',
      { name: 'ResourceError', code: 'invalid', message: SECRET, uri: SECRET, details: {} },
    ],
    ['an error with a wire code', Object.assign(new Error(SECRET), { code: -32602, data: { path: SECRET } })],
    ['a value that throws at every access', new Proxy({}, { get: () => failNow() })],
    ['several errors', new AggregateError([new Error(SECRET)], SECRET)],
  ])('%s is bare', (_what, thrown) => {
    expect(toWireError(thrown, 'request-1')).toEqual(bare);
  });

  it('has no data where the request has no id', () => {
    const { data: _, ...rest } = bare;
    expect(toWireError(new Error('x'))).toEqual(rest);
  });

  it('says nothing of any thrown value', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (thrown) => {
          expect(toWireError(thrown, 'request-1')).toEqual(bare);
          expect(toWireError(new Error(SECRET, { cause: thrown }), 'request-1')).toEqual(bare);
        },
      ),
    );
  });
});

function failNow(): never {
  throw new Error(SECRET);
}
