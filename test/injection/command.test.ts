/** Values that try to be more than one argument, an option, another path or a program: none of them succeeds. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import { ResourceError } from '../../src/core/errors.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { commandProvider } from '../../src/providers/command/index.ts';
import { readLeaf } from '../../src/testing/observe.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';

/** The values with which a caller may replace a variable, before they are encoded in a URI. */
const VALUES: readonly string[] = [
  '; touch ran',
  '&& touch ran',
  '|| touch ran',
  '| touch ran',
  '& touch ran &',
  '$(touch ran)',
  '`touch ran`',
  "'; touch ran; '",
  '"; touch ran; "',
  '> ran',
  '>ran',
  '\n touch ran',
  '\r\ntouch ran',
  '\u0000touch ran',
  'a\u0000b',
  '$' + '{IFS}touch$' + '{IFS}ran',
  '$HOME',
  '~',
  '*',
  '?',
  '[a-z]',
  '{a,b}',
  '{value}',
  '{other}',
  '%s%n',
  '\\',
  '\\x2d',
  'a b',
  ' ',
  '\t',
  '-',
  '--',
  '-o',
  '-o/etc/passwd',
  '--output=/etc/passwd',
  '--help',
  '\u2010dash',
  '..',
  '.',
  '../../etc/passwd',
  '/etc/passwd',
  'a/b',
  '%2e%2e%2f',
  '@/etc/passwd',
  'file:///etc/passwd',
  '\u202egpj.exe',
  '\ud800',
  'caf\u00e9',
  '__proto__',
  'constructor',
  'x'.repeat(70_000),
];

const encoded = (value: string): string =>
  [...Buffer.from(value, 'utf8')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

/** Prints its arguments with a NUL after each, and adds a byte to a file, which `counted` reads. */
const SHOWN = ['sh', '-c', 'echo >> started; printf "%s\\0" "$@"', 'sh'];

let folder: Folder;
let provider: ResourceProvider;
beforeAll(async () => {
  folder = await temporaryFolder();
  const word = '[a-z][a-z0-9-]{0,31}';
  provider = await commandProvider({
    cwd: folder.path,
    run: {
      'any/{value}': { argv: [...SHOWN, 'before', '{value}', 'after'], variables: { value: '(?s).*' } },
      'part/x{value}y': { argv: [...SHOWN, '--unit={value}', '{value}!'], variables: { value: '(?s).*' } },
      'mid/{value}': { argv: [...SHOWN, '--unit={value}'], variables: { value: '.*' } },
      'word/{value}': { argv: [...SHOWN, '{value}'], variables: { value: `^${word}$` } },
      'two/{value}/{other}': {
        argv: [...SHOWN, '{value}{other}', '{other}'],
        variables: { value: `(?:${word})?`, other: '.+' },
      },
      'option/{value}': { argv: [...SHOWN, '{value}'], variables: { value: '-[a-z]' } },
      'listed/{value}': { argv: [...SHOWN, '{value}'], variables: { value: ['web', '-v', 'a b;c'] } },
      'slow/{value}': { argv: [...SHOWN, '{value}'], variables: { value: '(a+)+b' } },
      'braces.txt': [...SHOWN, '{value}', '{print $1}', '$' + '{X}'],
    },
  });
});
afterAll(async () => {
  await provider?.close?.();
  await folder?.[Symbol.asyncDispose]();
});

/** Runs something, and returns its result with the number of programs that it started. */
async function counted<T>(run: () => Promise<T>): Promise<{ readonly result: T; readonly started: number }> {
  await folder.write('started', '');
  const result = await run();
  return { result, started: (await stat(folder.at('started'))).size };
}

/** The arguments that the program got, or the code of the refusal, which started nothing. */
async function outcome(uri: string): Promise<readonly string[] | string> {
  const { result, started } = await counted(async () => {
    try {
      const text = Buffer.from((await readLeaf(provider, uri)).bytes).toString();
      return text.split('\0').slice(0, -1);
    } catch (error) {
      if (error instanceof ResourceError) return error.code;
      throw error;
    }
  });
  expect(started, 'programs that were started').toBe(typeof result === 'string' ? 0 : 1);
  return result;
}

const REFUSED = expect.stringMatching(/^(?:not-found|invalid)$/);

describe.each(VALUES)('the value %j', (value) => {
  it('is one unchanged argument, or refused, if the pattern allows everything', async () => {
    const got = await outcome(`command:///any/${encoded(value)}`);
    const isName = !/[\u0000-\u001f\u007f-\u009f\\/]/.test(value) && value.isWellFormed() && !/^\.{1,2}$/.test(value);
    const isArgument = isName && !value.startsWith('-') && value.length < 1_000;
    expect(got).toEqual(isArgument ? ['before', value, 'after'] : REFUSED);
    expect(existsSync(folder.at('ran'))).toBe(false);
  });

  it('is an unchanged part of arguments, or refused, and may begin with a dash only within an argument', async () => {
    const got = await outcome(`command:///part/x${encoded(value)}y`);
    if (typeof got === 'string') expect(got).toEqual(REFUSED);
    else expect(got).toEqual([`--unit=${value}`, `${value}!`]);
    if (value.startsWith('-')) {
      expect(got).toEqual(REFUSED);
      const mid = await outcome(`command:///mid/${encoded(value)}`);
      expect(mid).toEqual(value.includes('/') ? REFUSED : [`--unit=${value}`]);
    }
  });

  it('is refused if it does not match as a whole', async () => {
    const matches = /^[a-z][a-z0-9-]{0,31}$/.test(value);
    expect(await outcome(`command:///word/${encoded(value)}`)).toEqual(matches ? [value] : REFUSED);
    expect(await outcome(`command:///listed/${encoded(value)}`)).toEqual(REFUSED);
    const { started } = await counted(() =>
      expect(provider.metadata(`command:///listed/${encoded(value)}`, createContext())).rejects.toThrow(ResourceError),
    );
    expect(started).toBe(0);
  });
});

describe('a value', () => {
  it('that is listed, or whose pattern begins with a dash, may be an option', async () => {
    expect(await outcome('command:///option/-v')).toEqual(['-v']);
    expect(await outcome('command:///option/--v')).toBe('not-found');
    expect(await outcome('command:///listed/-v')).toEqual(['-v']);
    expect(await outcome('command:///listed/a%20b;c')).toEqual(['a b;c']);
  });

  it('that begins with a dash is refused behind another value, even an empty one', async () => {
    expect(await outcome('command:///two/a/-rf')).toBe('not-found');
    expect(await outcome('command:///two/a/b')).toEqual(['ab', 'b']);
    expect(await outcome('command:///two//-rf')).toBe('invalid');
  });

  it('is matched in time linear in its length', async () => {
    expect(await outcome(`command:///slow/${'a'.repeat(20_000)}`)).toBe('not-found');
    expect(await outcome('command:///slow/aab')).toEqual(['aab']);
  });

  it('adds no argument: braces that are no variable are text', async () => {
    expect(await outcome('command:///braces.txt')).toEqual(['{value}', '{print $1}', '$' + '{X}']);
  });
});

describe('a configuration is refused', () => {
  it.each([
    ['a/{x}', { argv: ['echo', '{x}'] }, /Braces in a path may only hold/],
    ['a', { argv: ['echo'], variables: { x: 'a' } }, /"x" is not in a/],
    ['{x}', { argv: ['{x}'], variables: { x: 'a' } }, /A variable cannot name the program/],
    ['{x}{y}', { argv: ['echo'], variables: { x: 'a', y: 'b' } }, /only one variable between/],
    ['{x}/{x}', { argv: ['echo'], variables: { x: 'a' } }, /each variable only once/],
    ['{x}', { argv: ['echo'], variables: { x: '(a' } }, /not a regular expression/],
    ['{x}', { argv: ['echo'], variables: { x: '(?=a)' } }, /not a regular expression/],
    ['{x}', { argv: ['echo'], variables: { x: ['a/b'] } }, /must not contain a slash/],
    ['../x', { argv: ['echo'] }, /dot segment/],
    ['a//b', { argv: ['echo'] }, /empty segment/],
  ])('for the path %s with %j', async (path, block, message) => {
    await expect(commandProvider({ run: { [path]: block } })).rejects.toThrow(message);
  });

  it('for programs of which one lies below another', async () => {
    await expect(commandProvider({ run: { a: ['echo'], 'a/b': ['echo'] } })).rejects.toThrow(/nothing can be below/);
  });
});
