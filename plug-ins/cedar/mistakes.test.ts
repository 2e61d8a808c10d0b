/** Mistakes in policies are reported with their place, and the policies of the guide decide as its rules do. */
import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type AccessDecision, ANONYMOUS, type Principal } from 'vitrine/plug-in';
import { ANNA, BOTH, call, closePolicies, DEFAULT, of, policyOf } from '../../test/tools/cedar.ts';
import { type Engine, loadEngine } from './engine.ts';
import { cedarPolicy } from './index.ts';
import { parsePolicies } from './policies.ts';

afterEach(closePolicies);

describe('mistakes', () => {
  it.each([
    ['\n  permit(principal, action', 'my.cedar:2:27: unexpected end of input'],
    ['// é\npermit(principal, action, resource) when { foo };', 'my.cedar:2:44: invalid variable: foo'],
    ['permit(principal == ?principal, action, resource);', 'my.cedar:1:1: a template'],
    [
      '@effect("hide") permit(principal, action, resource);',
      'my.cedar:1:1: @effect of permit is allow or ask, not "hide"',
    ],
    [`${BOTH}\n@effect("ask") forbid(principal, action, resource);`, 'my.cedar:2:1: @effect of forbid is deny or hide'],
    ['@remember("60") permit(principal, action, resource);', '@remember needs @effect("ask")'],
    ['@effect("ask") @remember("1 h") permit(principal, action, resource);', '@remember is in seconds'],
    ['@effects("hide") forbid(principal, action, resource);', 'there is no @effects'],
  ])('%j', async (policies, message) => {
    const names = { policies: 'my.cedar', entities: 'my.json' };
    await expect(cedarPolicy({ policies, names })).rejects.toThrow(message);
  });

  it.each([
    [[{ uid: { type: 'A', id: 'a' } }], 'my.json: .*missing field `attrs`'],
    [[{ uid: 'A', attrs: {}, parents: [] }], 'my.json: .*literal entity reference'],
    [[{ uid: { type: 'A', id: 'a' }, attrs: { x: null }, parents: [] }], 'my.json: .*null'],
  ])('%j', async (entities, message) => {
    const names = { policies: 'my.cedar', entities: 'my.json' };
    await expect(cedarPolicy({ policies: BOTH, entities, names })).rejects.toThrow(new RegExp(message));
  });

  it('are reported at the policy itself, even if another one has the same text', async () => {
    const twice = 'permit(principal, action, resource);';
    const permits = `// ${twice}\n${twice}\n@id("a;//b") permit(principal, action, resource);\r\n${twice}`;
    const policy = await policyOf(permits);
    expect(policy.matching(of()).map(({ rule }) => rule)).toEqual(['policy of line 2', 'a;//b', 'policy of line 4']);
    const names = { policies: 'my.cedar', entities: 'my.json' };
    const template = 'permit(principal == ?principal, action, resource);';
    await expect(cedarPolicy({ policies: `// ${template}\n ${template}`, names })).rejects.toThrow('my.cedar:2:2: ');
    const wrong = '@remember("60") permit(principal, action, resource);';
    await expect(cedarPolicy({ policies: `//${wrong}\n${wrong}`, names })).rejects.toThrow('my.cedar:2:1: ');
  });

  it('in one policy are reported at their place in the file', async () => {
    const cedar = await loadEngine();
    const failing = (start?: number): Engine => ({
      ...cedar,
      policyToJson: () => ({
        type: 'failure',
        errors: [
          {
            message: 'too long',
            help: null,
            code: null,
            url: null,
            severity: null,
            sourceLocations: start === undefined ? [] : [{ label: null, start, end: start }],
            related: [],
          },
        ],
      }),
    });
    const text = '// é\n  @id("é") permit(principal, action, resource);';
    expect(() => parsePolicies(failing(10), text, 'my.cedar')).toThrow('my.cedar:2:12: too long');
    expect(() => parsePolicies(failing(), text, 'my.cedar')).toThrow('my.cedar:2:3: too long');
  });

  it('against the schema are reported', async () => {
    const schema = `namespace Vitrine { entity Principal { subject?: String }; entity Resource { uri: String };
      action "read" appliesTo { principal: [Principal], resource: [Resource] }; }`;
    const policies = (name: string): string =>
      `@id("typed") permit(principal is Vitrine::Principal, action == Vitrine::Action::"read", resource) when { resource.${name} like "a*" };`;
    await policyOf(policies('uri'), { schema });
    await expect(cedarPolicy({ policies: policies('url'), schema })).rejects.toThrow(/policies: typed: .*url/);
    await expect(cedarPolicy({ policies: BOTH, schema: 'entity' })).rejects.toThrow('Cedar schema: ');
  });

  it('name the package to install if Cedar is missing', async () => {
    vi.doMock('@cedar-policy/cedar-wasm/nodejs', () => {
      throw new Error('Cannot find package');
    });
    try {
      await expect(cedarPolicy({ policies: BOTH })).rejects.toThrow(/npm install .*@cedar-policy\/cedar-wasm/);
    } finally {
      vi.doUnmock('@cedar-policy/cedar-wasm/nodejs');
    }
    const again: AccessDecision = (await policyOf(BOTH)).decide(of());
    expect(again.effect).toBe('allow');
  });
});

it('the policies of the guide decide as its rules do', async () => {
  const guide = await readFile(new URL('../../docs/guide/access.md', import.meta.url), 'utf8');
  const policies = /```cedar\n([\s\S]*?)```/.exec(guide)?.[1] ?? '';
  const policy = await policyOf(policies);
  const rulesOf = (principal: Principal, uri: string): string[] =>
    policy.matching(of({}, { principal, uri })).map(({ effect, rule }) => `${effect}: ${rule}`);
  expect(rulesOf(ANONYMOUS, 'docs+file:///guide/one.md')).toEqual(['allow: guests see the guide']);
  expect(rulesOf(ANONYMOUS, 'docs+file:///guidelines.md')).toEqual([DEFAULT]);
  expect(rulesOf(ANNA, 'docs+file:///drafts/new.md')).toEqual(['hide: nobody knows of drafts']);
  expect(rulesOf(ANNA, 'docs+file:///contracts/x.pdf')).toEqual([
    'ask: contracts need a yes',
    'allow: staff reads the library',
  ]);
  expect(policy.decide(call({}, { name: 'wiki_delete_page' })).rule).toBe('no writing to the wiki');
});
