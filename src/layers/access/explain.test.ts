import { expect, it } from 'vitest';
import { createResolver } from '../../core/mounts/resolver.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { type AccessRules, createAccess } from './index.ts';

const A = 'memory:///a.txt';
const B = 'memory:///b.txt';
const ANNA = { id: 'anna', scopes: [] };

/** Explains a read of `a.txt`, which is also named `b.txt`. */
async function explained(access: AccessRules) {
  const provider: ResourceProvider = {
    ...memoryProvider({ resources: { 'a.txt': { text: 'a' } } }),
    alsoNamed: (uri: string) => (uri === A ? [B] : []),
  };
  const resolver = createResolver([{ name: 'm', provider, prefix: 'none' }]);
  const { effect, rule, also } = await createAccess(access, resolver).explain({ operation: 'read', uri: A }, ANNA);
  return [effect, rule, also.map((other) => `${other.effect} ${other.rule}`)];
}

const allowA = { name: 'allow a', effect: 'allow', uris: [A] } as const;
const allowBoth = { name: 'allow both', effect: 'allow', uris: [A, B] } as const;
const denyB = { name: 'deny b', effect: 'deny', uris: [B] } as const;
const denyBoth = { name: 'deny both', effect: 'deny', uris: [A, B] } as const;
const hideB = { name: 'hide b', effect: 'hide', uris: [B] } as const;

it.each<[string, AccessRules, readonly unknown[]]>([
  ['another name decides', { rules: [allowA, denyB] }, ['deny', 'deny b', ['allow allow a']]],
  ['another name decides by default', { rules: [allowA] }, ['deny', 'default', ['allow allow a']]],
  [
    'another name decides, and several rules match this one',
    { rules: [allowA, allowBoth, denyBoth, hideB] },
    ['hide', 'hide b', ['deny deny both', 'allow allow a', 'allow allow both']],
  ],
  ['a rule that matches both names decides', { rules: [allowA, denyBoth] }, ['deny', 'deny both', ['allow allow a']]],
  ['no rule matches this name', { rules: [denyB], default: 'allow' }, ['deny', 'deny b', []]],
  ['no rule matches', { rules: [] }, ['deny', 'default', []]],
  [
    'a scope is missing',
    { rules: [{ effect: 'allow', uris: [A, B], who: { scopes: ['read'] } }] },
    ['deny', 'default', []],
  ],
  [
    'two rules have one name',
    { rules: [allowBoth, { ...allowBoth, operations: ['read'] }] },
    ['allow', 'allow both', ['allow allow both']],
  ],
])('names every other rule that matches if %s', async (_case, access, expected) => {
  expect(await explained(access)).toEqual(expected);
});
