import { describe, expect, it } from 'vitest';
import { argumentTest } from './arguments.ts';
import type { ArgumentValue } from './options.ts';

const forbids = (wanted: ArgumentValue | readonly ArgumentValue[], given: unknown): boolean =>
  argumentTest({ effect: 'deny', arguments: { it: wanted } })({ it: given });
const allows = (wanted: ArgumentValue | readonly ArgumentValue[], given: unknown): boolean =>
  argumentTest({ effect: 'allow', arguments: { it: wanted } })({ it: given });

describe('rules over arguments', () => {
  it.each<[ArgumentValue | readonly ArgumentValue[], unknown]>([
    ['http://169.254.*', 'http://169.254.169.254/latest/meta-data/'],
    ['http://169.254.*', ' HTTP://169.254.169.254/'],
    ['private.txt', ['private.txt']],
    ['private.txt', ['public.txt', 'private.txt']],
    ['private.txt', { path: { of: ['private.txt'] } }],
    [['a', 'private.*'], [['private.txt']]],
    [5, '5'],
    ['5', 5],
    [1, '1.0'],
    [1, '01'],
    [1, '1e0'],
    [1, ' 1'],
    [1, '+1'],
    [1, '1.'],
    [1, '0x1'],
    [1, '\uff11'],
    [1, true],
    [1, 'TRUE'],
    [0, '-0'],
    [0, '.0'],
    [-1, '-1.00'],
    [-16, '-0x10'],
    [1_000_000, '1e6'],
    [1_000_000, '1_000_000'],
    [0.5, '.5'],
    [0.5, '5E-1'],
    [9_007_199_254_740_992, '9007199254740993'],
    [1e21, '1000000000000000000000'],
    ['1', '1.0'],
    [['a', '1'], 1],
    ['1.0', 1],
    [' 1', '1e0'],
    ['0x10', 16],
    [1, { of: ['1.0'] }],
    [true, 'true'],
    [true, [true]],
    [true, 1],
    [true, '1'],
    [true, 'Yes'],
    [false, 0],
    [false, 'off'],
    [false, '0.0'],
    ['true', true],
    ['', ''],
    ['draft[1]', 'draft[1]'],
    ['secret', '\uff33ecret'],
  ])('a rule that forbids %j forbids %j', (wanted, given) => expect(forbids(wanted, given)).toBe(true));

  it.each<[ArgumentValue | readonly ArgumentValue[], unknown]>([
    [1, '10'],
    [1, 'one'],
    [1, '1 file'],
    [0, ''],
    [0, ' '],
    [0, null],
    [false, ''],
    [true, 'truely'],
    ['1*', '2'],
    ['a', 'b'],
    [1, {}],
    [1, 'Infinity'],
    [1, '1.0.0'],
    [1, 'yes'],
    [true, 2],
    ['y', 'on'],
    [0, '.'],
    [2, ['1', { of: '3' }]],
  ])('a rule that forbids %j does not forbid %j', (wanted, given) => expect(forbids(wanted, given)).toBe(false));

  it('a forbidding rule forbids arguments that are nested too deep', () => {
    const deep = JSON.parse(`${'['.repeat(100)}"x"${']'.repeat(100)}`) as unknown;
    expect(forbids('private.txt', deep)).toBe(true);
  });

  it.each<[ArgumentValue | readonly ArgumentValue[], unknown]>([
    ['public/*', ['public/a']],
    ['public/*', { path: 'public/a' }],
    ['public/*', 'PUBLIC/a'],
    [5, '5'],
    ['5', 5],
    ['5', '5.0'],
    [5, '5.0'],
    [true, 'true'],
    [true, 1],
  ])('a rule that allows %j does not allow %j', (wanted, given) => expect(allows(wanted, given)).toBe(false));

  it.each<[ArgumentValue | readonly ArgumentValue[], unknown]>([
    ['public/*', 'public/a/b'],
    [['a', 5], 5],
    ['', ''],
  ])('a rule that allows %j allows %j', (wanted, given) => expect(allows(wanted, given)).toBe(true));

  it('a missing argument does not match, whatever objects inherit', () => {
    expect(argumentTest({ effect: 'deny', arguments: { toString: '*' } })({})).toBe(false);
  });
});
