import { expect, it } from 'vitest';
import type { Data } from '../../../../protocol/data.ts';
import type { CheckContext } from '../check.ts';
import { examine } from '../examined.ts';
import type { Wire } from '../wire.ts';
import { LIST_CHECKS } from './lists.ts';
import { PROMPT_CHECKS } from './prompts.ts';
import { SKILL_CHECKS } from './skills.ts';

const COUNT = 100_000;

const texts = (): string[] => Array.from({ length: COUNT }, (_, index) => `name-${index}`);

const CAPABILITIES = { tools: {}, prompts: {}, extensions: { 'io.modelcontextprotocol/skills': {} } };

const run = (id: string, result: Data) => {
  const wire = { era: 'legacy', ask: async () => ({ kind: 'result', result }) } as unknown as Wire;
  const limits = { sample: 1, pages: 10, timeoutMs: 1_000, endMs: 1_000 };
  const ctx = { wire, limits, examined: examine(wire, CAPABILITIES, limits) } as unknown as CheckContext;
  return [...LIST_CHECKS, ...PROMPT_CHECKS, ...SKILL_CHECKS].find((check) => check.id === id)?.run(ctx);
};

it('finds repeated entries of a very long list', async () => {
  const tools = [...texts(), 'name-5', 'name-7', 'name-5', undefined, undefined].map((name) => ({ name }));
  expect(await run('list-unique', { tools })).toMatchObject({
    status: 'problem',
    saw: ['tools/list: name-5', 'tools/list: name-7'],
    count: 2,
  });
});

it('finds skills with the same name in a very long list', async () => {
  const skills = [...texts(), 'name-5', 'name-5'].map((name) => ({ frontmatter: { name } }));
  expect(await run('skill-names', { skills })).toMatchObject({ status: 'problem', saw: ['name-5'], count: 1 });
});

it('finds repeated arguments among very many', async () => {
  const prompts = [{ name: 'long', arguments: [...texts(), 'name-5', 'name-5'].map((name) => ({ name })) }];
  expect(await run('prompt-arguments', { prompts })).toMatchObject({
    status: 'problem',
    saw: ['long: name-5 is there twice', 'long: name-5 is there twice'],
    count: 2,
  });
});

it.each(
  [
    ...[0x00, 0x08, 0x0b, 0x1b, 0x7f, 0x9b, 0xad, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202e],
    ...[0x2060, 0x2064, 0x2066, 0x206f, 0xfeff, 0xfff9, 0xe0041, 0xe01ef],
  ].map((code) => [code.toString(16), String.fromCodePoint(code)]),
)('finds the hidden character U+%s in names, titles and descriptions', async (_code, hidden) => {
  const text = `a${hidden}b`;
  const tools = [{ name: text }, { name: 'one', title: text }, { name: 'two', description: text }, { name: 'three' }];
  expect(await run('names-shown', { tools })).toMatchObject({
    status: 'problem',
    saw: [
      `tools/list: the name of ${JSON.stringify(text)}`,
      'tools/list: the title of "one"',
      'tools/list: the description of "two"',
    ],
  });
});

it.each(['a\tb', 'a\nb', 'a\r\nb', '\ud83d\udc69\u200d\ud83d\udd27', '\u0645\u06cc\u200c\u062e', '\u2764\ufe0f'])(
  'accepts the text %j, in which everything is seen',
  async (description) => {
    expect(await run('names-shown', { tools: [{ name: 'one', description }] })).toMatchObject({ status: 'ok' });
  },
);
