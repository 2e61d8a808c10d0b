import { describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { detached } from '../../core/invocation.ts';
import { createCursorCodec } from '../../core/lists/cursor.ts';
import { definePrompt } from '../../core/prompt.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { DEFAULT_LIMITS, type ResourceOptions } from '../resources/options.ts';
import { MAX_ARGUMENT_LENGTH } from './arguments.ts';
import { listPrompts } from './methods.ts';
import { createPromptRegistry } from './registry.ts';

const options: ResourceOptions = {
  provider: memoryProvider(),
  cursors: createCursorCodec(),
  limits: { ...DEFAULT_LIMITS, pageSize: 2 },
  listing: 'walk',
  cacheHint: { ttlMs: 0, cacheScope: 'private' },
};

const echo = definePrompt({
  name: 'echo',
  arguments: [{ name: 'said', required: true }, { name: 'how' }],
  get: ({ said = '', how = '' }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `${said}|${how}` } }],
  }),
});

const registry = createPromptRegistry([
  echo,
  ...['b', 'c', 'd'].map((name) => definePrompt({ name, title: name.toUpperCase(), get: () => ({ messages: [] }) })),
]);

const get = (args: Readonly<Record<string, string>>, name = 'echo') =>
  registry.getPrompt({ name, arguments: args }, {}, detached(createContext()));

describe('prompts/list', () => {
  it('gives all prompts in pages, with their known fields', async () => {
    const ctx = createContext();
    const first = await listPrompts(registry, options, {}, ctx);
    expect(first.prompts).toEqual([
      { name: 'echo', arguments: [{ name: 'said', required: true }, { name: 'how' }] },
      { name: 'b', title: 'B' },
    ]);
    const second = await listPrompts(registry, options, { cursor: first.nextCursor ?? '' }, ctx);
    expect(second.prompts.map(({ name }) => name)).toEqual(['c', 'd']);
    expect(second.nextCursor).toBeUndefined();
  });
});

describe('the arguments of prompts/get', () => {
  it('arrive unchanged', async () => {
    const said = 'Tab\t, line\nbreak\r\n, “ünïcödé”, 👩‍🚀 and {{how}}';
    expect(await get({ said, how: '' })).toMatchObject({ messages: [{ content: { text: `${said}|` } }] });
    const longest = 'x'.repeat(MAX_ARGUMENT_LENGTH);
    expect(await get({ said: longest })).toMatchObject({ messages: [{ content: { text: `${longest}|` } }] });
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ['one that is missing', { how: 'x' }, /echo needs said/],
    ['one that is not declared', { said: 'x', loud: 'y' }, /no argument "loud"; it takes said, how/],
    ['one by a name of every object', { said: 'x', constructor: 'y' }, /no argument "constructor"/],
    ['a null character', { said: 'a\u0000b' }, /said contains control characters/],
    ['a terminal escape', { said: '\u001b[31mred' }, /control characters/],
    ['a backspace', { said: 'a\u0008' }, /control characters/],
    ['a C1 control', { said: 'a\u009b31m' }, /control characters/],
    ['a line separator', { said: 'a\u2028b' }, /control characters/],
    ['a right-to-left override', { said: 'a\u202etxt.exe' }, /control characters/],
    ['a bidi isolate', { said: 'a\u2066b\u2069' }, /control characters/],
    ['half of a surrogate pair', { said: 'a\ud800' }, /control characters/],
    ['one that is too long', { said: 'x'.repeat(MAX_ARGUMENT_LENGTH + 1) }, /more than 32768 characters/],
  ])('are refused if there is %s [SEC-PROMPT-1]', async (_, args, message) => {
    const refused = await get(args).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ResourceError);
    expect(refused).toMatchObject({ code: 'invalid', message: expect.stringMatching(message) });
  });

  it('have to be those of an existing prompt', async () => {
    await expect(get({}, 'nobody')).rejects.toMatchObject({ code: 'invalid', message: /no prompt named "nobody"/ });
  });
});
