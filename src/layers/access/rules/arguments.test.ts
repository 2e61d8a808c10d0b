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
    [true, 'true'],
    [true, [true]],
    ['', ''],
    ['draft[1]', 'draft[1]'],
    ['secret', '\uff33ecret'],
  ])('what forbids %j forbids %j', (wanted, given) => expect(forbids(wanted, given)).toBe(true));

  it('forbids what is nested too deep to be looked at', () => {
    const deep = JSON.parse(`${'['.repeat(100)}"x"${']'.repeat(100)}`) as unknown;
    expect(forbids('private.txt', deep)).toBe(true);
  });

  it.each<[ArgumentValue | readonly ArgumentValue[], unknown]>([
    ['public/*', ['public/a']],
    ['public/*', { path: 'public/a' }],
    ['public/*', 'PUBLIC/a'],
    [5, '5'],
    ['5', 5],
    [true, 'true'],
  ])('what allows %j does not allow %j', (wanted, given) => expect(allows(wanted, given)).toBe(false));

  it.each<[ArgumentValue | readonly ArgumentValue[], unknown]>([
    ['public/*', 'public/a/b'],
    [['a', 5], 5],
    ['', ''],
  ])('what allows %j allows %j', (wanted, given) => expect(allows(wanted, given)).toBe(true));

  it('an argument that is not given is no such argument, whatever objects inherit', () => {
    expect(argumentTest({ effect: 'deny', arguments: { toString: '*' } })({})).toBe(false);
  });
});
