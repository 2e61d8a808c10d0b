import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTreeUri } from '../../core/uri.ts';
import { type Address, isRefName, parseUri, uriOf } from './address.ts';
import { nameOf, segmentOf } from './names.ts';

/** Bytes that a careless spelling would confuse, among all that a name in git can contain. */
const TRICKY = [
  '~',
  '0',
  'A',
  'F',
  '2',
  '.',
  '%',
  '\\',
  '\n',
  '\x7f',
  '\xff',
  '\xc3',
  '\xa9',
  '\xef',
  '\xbf',
  '\xbd',
  ' ',
];
const byte = fc.oneof(
  fc.constantFrom(...TRICKY),
  fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)),
);
const bytes = fc.array(byte, { minLength: 1, maxLength: 12 }).map((all) => all.join(''));
const fileName = bytes.filter((name) => !name.includes('/'));
const hash = fc.stringMatching(/^[0-9a-f]{40}$/);
const revision = fc.oneof(
  fc.constant({ kind: 'head' } as const),
  bytes.filter(isRefName).map((name) => ({ kind: 'branch', name }) as const),
  bytes.filter(isRefName).map((name) => ({ kind: 'tag', name }) as const),
  hash.map((oid) => ({ kind: 'commit', oid }) as const),
);
const path = fc.array(fc.oneof(fileName, fc.constantFrom('HEAD', 'branches', 'commit', 'log', '.', '..', '.git')), {
  maxLength: 4,
});
const address: fc.Arbitrary<Address> = fc.oneof(
  fc.constantFrom<Address>({ kind: 'root' }, { kind: 'branches' }, { kind: 'tags' }, { kind: 'commits' }),
  fc.record({ kind: fc.constant('commit' as const), revision }),
  fc.record({
    kind: fc.constantFrom('tree' as const, 'log' as const, 'blame' as const, 'diff' as const),
    revision,
    path,
  }),
  fc.record({ kind: fc.constant('compare' as const), base: revision, revision, path }),
);
const options = { seed: 20_261_122, numRuns: 2_000 };

describe('a name', () => {
  it('of any bytes is one segment, from which it can be read back [RES-1]', () => {
    fc.assert(
      fc.property(bytes, (name) => {
        expect(nameOf(segmentOf(name))).toBe(name);
      }),
      options,
    );
  });

  it('has no other spelling: a valid segment is the one that would be written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 8 }), (segment) => {
        const name = nameOf(segment);
        if (name !== undefined) expect(segmentOf(name)).toBe(segment);
      }),
      options,
    );
    expect(nameOf('~41')).toBeUndefined();
    expect(nameOf('')).toBeUndefined();
  });

  it.each([
    ['plain.ts', 'plain.ts'],
    ['feature/x', 'feature~2Fx'],
    ['backup~', 'backup~'],
    ['a~1F', 'a~7E1F'],
    ['line\nbreak', 'line~0Abreak'],
    ['.', '~2E'],
    ['..', '~2E~2E'],
    ['...', '...'],
    ['caf\xe9', 'caf~E9'],
    ['caf\xc3\xa9', 'café'],
    ['\xef\xbf\xbd', '~EF~BF~BD'],
    ['back\\slash', 'back~5Cslash'],
  ])('%j is %j', (name, segment) => {
    expect(segmentOf(name)).toBe(segment);
  });
});

describe('an address', () => {
  it('has one URI, from which it can be read back, whatever names it contains [RES-1]', () => {
    fc.assert(
      fc.property(address, (each) => {
        const uri = uriOf(each);
        expect(parseUri(uri).address).toEqual(each);
        // `parseTreeUri`, which all other code uses, agrees.
        expect(parseTreeUri(uri, 'git').trailingSlash).toBe(each.kind === 'root');
      }),
      options,
    );
  });

  it('has another URI than every other one', () => {
    fc.assert(
      fc.property(address, address, (one, other) => {
        expect(uriOf(one) === uriOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      options,
    );
  });
});
