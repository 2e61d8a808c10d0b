import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ANONYMOUS, SILENT } from '../core/context.ts';
import { ConfigError } from './error.ts';
import { policyOf } from './policy.ts';

const FILES = {
  'my.cedar': '@id("all") permit(principal in Vitrine::Group::"all", action, resource);',
  'broken.cedar': '\npermit(principal, action',
  'my.json': JSON.stringify([
    {
      uid: { type: 'Vitrine::Principal', id: 'anonymous' },
      attrs: {},
      parents: [{ type: 'Vitrine::Group', id: 'all' }],
    },
  ]),
  'broken.json': '[{ "uid":',
  'object.json': '{}',
  'text.json': '[{ "uid": "x", "attrs": {}, "parents": [] }]',
} as const;

let base: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'vitrine-test-'));
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(base, name), content);
});
afterAll(() => rm(base, { recursive: true, force: true }));

const opened = (policies: string, entities?: string) =>
  policyOf({ access: { cedar: { policies, entities } } }, { base, log: SILENT });

it('reads the policies and the entities of Cedar', async () => {
  const policy = await opened('my.cedar', 'my.json');
  const decision = await policy?.decide({ principal: ANONYMOUS, operation: 'read', uri: 'docs+file:///a' });
  await policy?.close?.();
  expect(decision).toEqual({ effect: 'allow', rule: 'all' });
});

it('is undefined if the configuration has no policies of Cedar', async () => {
  expect(await policyOf({}, { base, log: SILENT })).toBeUndefined();
  expect(await policyOf({ access: { rules: [] } }, { base, log: SILENT })).toBeUndefined();
});

it.each([
  ['broken.cedar', 'my.json', 'broken.cedar:2:25: unexpected end of input'],
  ['none.cedar', undefined, 'access.cedar.policies: none.cedar: there is no such file'],
  ['my.cedar', 'none.json', 'access.cedar.entities: none.json: there is no such file'],
  ['my.cedar', 'broken.json', 'broken.json: '],
  ['my.cedar', 'object.json', 'object.json: entities are a list'],
  ['my.cedar', 'text.json', 'text.json: '],
])('says where the mistake is: %s, %s', async (policies, entities, message) => {
  const failure = await opened(policies, entities).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigError);
  expect((failure as ConfigError).message).toContain(message);
  expect((failure as ConfigError).message).not.toContain('\n');
});
