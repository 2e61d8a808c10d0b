import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeSegment, encodeSegment, nameProblem, parseTreeUri, treeUri } from '../../core/uri.ts';
import type { Identity, Parameter, ValueKind } from './dialect.ts';
import { decodeKey, decodeName, encodeKey, encodeName, type Key } from './keys.ts';

const KINDS: readonly ValueKind[] = ['integer', 'real', 'text', 'bytes', 'any'];

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }).map((each) => each.toWellFormed()),
  fc.string({
    unit: fc.constantFrom('~', ',', '.', '/', '\\', '%', '2', 'F', 'n', 'b', ':', '\0', '\ufffd'),
    maxLength: 8,
  }),
);

const value: fc.Arbitrary<Parameter> = fc.oneof(
  text,
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.double({ noNaN: true }).map((each) => (each === 0 ? 0.5 : each)),
  fc.uint8Array({ maxLength: 6 }).map((bytes) => new Uint8Array(bytes)),
  fc.constant(null),
);

const identity: fc.Arbitrary<Identity> = fc
  .array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 3 })
  .map((kinds) => ({
    of: 'primary key',
    columns: kinds.map((kind, index) => ({ name: `c${index}`, kind })),
    tieBreak: 'rowid',
  }));

const keyed = identity.chain((each) =>
  fc
    .tuple(fc.tuple(...each.columns.map(() => value)), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))
    .map(([values, tieBreak]): [Identity, Key] => [
      each,
      {
        values: values.map((one, at) => fitting(one, each.columns[at]?.kind)),
        ...(values.includes(null) && { tieBreak }),
      },
    ]),
);

/** Turns a whole number into a bigint if its column has integers, as a database does. */
const fitting = (one: Parameter, kind: ValueKind | undefined): Parameter =>
  kind === 'integer' && typeof one === 'number' && Number.isSafeInteger(one) ? BigInt(one) : one;

const seeded = { seed: 6, numRuns: 2_000 };

describe('keys in URIs', () => {
  it('are read back unchanged, of every kind and with every value [RES-5]', () => {
    fc.assert(
      fc.property(keyed, ([columns, key]) => {
        const segment = encodeKey(key, columns) ?? '';
        expect(nameProblem(segment)).toBeUndefined();
        expect(decodeSegment(encodeSegment(segment))).toBe(segment);
        expect(decodeKey(segment, columns)).toEqual(key);
      }),
      seeded,
    );
  });

  it('differ if the keys differ', () => {
    fc.assert(
      fc.property(keyed, fc.infiniteStream(value), ([columns, key], others) => {
        const values = columns.columns.map(({ kind }) => fitting(others.next().value ?? null, kind));
        const other: Key = { values, ...(values.includes(null) && { tieBreak: 1n }) };
        const same = JSON.stringify(comparable(key)) === JSON.stringify(comparable(other));
        expect(encodeKey(key, columns) === encodeKey(other, columns)).toBe(same);
      }),
      seeded,
    );
  });

  it('have one form: a valid segment is the one that would be written', () => {
    const segment = fc.string({ unit: fc.constantFrom(...'~,:.nirtbAF0129-+e x'), maxLength: 10 });
    fc.assert(
      fc.property(identity, segment, (columns, typed) => {
        const key = decodeKey(typed, columns);
        if (key !== undefined) expect(encodeKey(key, columns)).toBe(typed);
      }),
      seeded,
    );
  });

  it('are refused in any other spelling', () => {
    const integer: Identity = { of: 'primary key', columns: [{ name: 'id', kind: 'integer' }] };
    for (const typed of [
      '',
      '017',
      '+1',
      '1.0',
      ' 1',
      '1 ',
      '0x11',
      '-0',
      '~i:1',
      '~n',
      '~n,1',
      '1,2',
      '~',
      '~t:1x~',
      '1'.repeat(99),
    ])
      expect(decodeKey(typed, integer), typed).toBeUndefined();
    const name: Identity = { of: 'primary key', columns: [{ name: 'id', kind: 'text' }] };
    for (const typed of [
      '',
      '~2f',
      '~61',
      '~t:a',
      '~C3',
      '~',
      'a~',
      '~b:0',
      '~b:AA',
      '~schema',
      '~r:',
      'x'.repeat(5_000),
    ])
      expect(decodeKey(typed, name), typed).toBeUndefined();
  });
});

describe('names in URIs', () => {
  it('are read back, and never taken for a reserved word', () => {
    fc.assert(
      fc.property(
        text.filter((each) => each !== ''),
        (name) => {
          const segment = encodeName(name);
          expect(decodeName(segment)).toBe(name);
          expect(segment).not.toMatch(/^~[a-z]/);
          expect(parseTreeUri(treeUri('sqlite', [segment]), 'sqlite').segments).toEqual([segment]);
        },
      ),
      seeded,
    );
  });
});

const comparable = ({ values, tieBreak }: Key): unknown => [
  values.map((each) => [
    each instanceof Uint8Array ? 'bytes' : typeof each,
    each instanceof Uint8Array ? Buffer.from(each).toString('hex') : String(each),
  ]),
  String(tieBreak),
];
