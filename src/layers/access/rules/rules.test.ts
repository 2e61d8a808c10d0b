import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccessRequest } from '../../../core/access.ts';
import { ANONYMOUS, type Principal } from '../../../core/context.ts';
import type { AccessOperation } from '../../../core/decided.ts';
import type { Resource } from '../../../protocol/resources.ts';
import { type AccessRule, type AccessRules, rulesPolicy } from './index.ts';

const ANNA: Principal = {
  id: 'https://i.example#anna',
  subject: 'anna',
  issuer: 'https://i.example',
  clientId: 'desk',
  scopes: ['docs:read'],
  groups: ['staff'],
};

const read = (uri: string, more: Partial<AccessRequest> = {}): AccessRequest => ({
  principal: ANNA,
  operation: 'read',
  uri,
  mount: 'docs',
  ...more,
});
const decide = (rules: AccessRules, request: AccessRequest): string => {
  const { effect, rule } = rulesPolicy(rules).decide(request);
  return `${effect} ${rule}`;
};
const allow = (rule: Omit<AccessRule, 'effect'> = {}): AccessRules => ({ rules: [{ effect: 'allow', ...rule }] });
const A = 'docs+file:///a.md';

describe('rules', () => {
  it('deny what none of them matches, or follow the default', () => {
    expect(decide({ rules: [] }, read(A))).toBe('deny default');
    expect(decide({ rules: [], default: 'hide' }, read(A))).toBe('hide default');
    expect(decide({ rules: [], default: 'allow' }, read(A))).toBe('allow default');
    expect(decide(allow(), read(A))).toBe('allow rule 1');
  });

  it('have no order: the strictest one that matches decides', () => {
    const effects = ['allow', 'ask', 'deny', 'hide'] as const;
    for (const a of effects) {
      for (const b of effects) {
        const stricter = effects.indexOf(a) >= effects.indexOf(b) ? a : b;
        expect(
          decide(
            {
              rules: [
                { effect: a, name: 'x' },
                { effect: b, name: 'x' },
              ],
            },
            read(A),
          ),
        ).toBe(`${stricter} x`);
      }
    }
  });

  it.each<[NonNullable<AccessRule['who']>, boolean, boolean]>([
    ['anyone', true, true],
    ['anonymous', false, true],
    ['authenticated', true, false],
    [{ subjects: ['anna', 'bert'] }, true, false],
    [{ subjects: ['bert'] }, false, false],
    [{ subjects: ['anna'], issuers: ['https://other.example'] }, false, false],
    [{ groups: ['press', 'staff'] }, true, false],
    [{ groups: ['press'] }, false, false],
    [{ clients: ['desk'] }, true, false],
    [{ scopes: ['docs:read'] }, true, false],
    [{ scopes: ['docs:read', 'docs:write'] }, false, false],
    [{ authenticated: true, groups: ['staff'], clients: ['phone'] }, false, false],
  ])('match callers: %j', (who, anna, nobody) => {
    expect(decide(allow({ who }), read(A))).toBe(anna ? 'allow rule 1' : 'deny default');
    expect(decide(allow({ who }), read(A, { principal: ANONYMOUS }))).toBe(nobody ? 'allow rule 1' : 'deny default');
  });

  it.each<[Omit<AccessRule, 'effect'>, string, boolean]>([
    [{ mounts: ['docs'] }, A, true],
    [{ mounts: ['wiki'] }, A, false],
    [{ uris: ['docs+file:///guide/**'] }, 'docs+file:///guide', true],
    [{ uris: ['docs+file:///guide/**'] }, 'docs+file:///guide/a/b.md', true],
    [{ uris: ['docs+file:///guide/**'] }, 'docs+file:///guide/.hidden/b.md', true],
    [{ uris: ['docs+file:///guide/**'] }, 'docs+file:///guidebook.md', false],
    [{ uris: ['docs+file:///*.md'] }, A, true],
    [{ uris: ['docs+file:///*.md'] }, 'docs+file:///sub/a.md', false],
    [{ uris: ['docs+file:///**'] }, 'docs+file:///', true],
    [{ uris: ['docs+file:///my notes/**'] }, 'docs+file:///my%20notes/a.md', true],
    [{ uris: ['docs+file:///été.md'] }, 'docs+file:///%C3%A9t%C3%A9.md', true],
    [{ uris: ['docs+**'] }, A, true],
    [{ uris: ['docs+**'] }, 'docs+file:///guide/a.md', true],
    [{ uris: ['docs+**'] }, 'docs2+file:///a.md', false],
    [{ uris: ['docs+file:///gui**'] }, 'docs+file:///guide/b/c.md', true],
    [{ uris: ['docs+file:///**/a.md'] }, 'docs+file:///guide/b/a.md', true],
    [{ uris: ['docs+**'], except: ['docs+file:///a.*'] }, A, false],
    [{ uris: ['docs+**'], except: ['docs+file:///b.*'] }, A, true],
    [{ uris: ['\\!docs+file:///a.md'] }, 'docs+file:///b.md', false],
    [{ uris: ['urn:isbn:*'] }, 'urn:isbn:123', true],
    [{ operations: ['list'] }, A, false],
    [{ tools: ['*'] }, A, false],
    [{ prompts: ['*'] }, A, false],
  ])('match targets: %j of %s', (rule, uri, matches) => {
    expect(decide(allow(rule), read(uri))).toBe(matches ? 'allow rule 1' : 'deny default');
  });

  const resource = (parts: Partial<Resource>): Resource => ({ uri: A, name: 'a', ...parts });

  it.each<[Omit<AccessRule, 'effect'>, Partial<Resource>, boolean | 'unknown']>([
    [{ mimeTypes: ['text/*'] }, { mimeType: 'text/markdown; charset=utf-8' }, true],
    [{ mimeTypes: ['image/*'] }, { mimeType: 'text/plain' }, false],
    [{ mimeTypes: ['image/*'] }, {}, 'unknown'],
    [{ maxBytes: 10 }, { size: 10 }, true],
    [{ maxBytes: 10 }, { size: 11 }, false],
    [{ minBytes: 11 }, { size: 11 }, true],
    [{ minBytes: 11 }, {}, 'unknown'],
    [{ minBytes: 0 }, { mimeType: 'inode/directory' }, false],
    [{ newerThanSeconds: 3_600 }, { annotations: { lastModified: new Date().toISOString() } }, true],
    [{ olderThanSeconds: 3_600 }, { annotations: { lastModified: new Date().toISOString() } }, false],
    [{ olderThanSeconds: 3_600 }, { annotations: { lastModified: 'sometime' } }, 'unknown'],
    [{ audience: ['user'] }, { annotations: { audience: ['user', 'assistant'] } }, true],
    [{ audience: ['user'] }, { annotations: { audience: ['assistant'] } }, false],
    [{ audience: ['user'] }, {}, 'unknown'],
  ])('match attributes: %j of %j', (rule, parts, matches) => {
    const request = read(A, { resource: resource(parts) });
    expect(decide(allow(rule), request)).toBe(matches === true ? 'allow rule 1' : 'deny default');
    // A rule that hides also matches if an attribute is unknown.
    const hiding: AccessRules = { rules: [{ effect: 'hide', ...rule }], default: 'allow' };
    expect(decide(hiding, request)).toBe(matches === false ? 'allow default' : 'hide rule 1');
    expect(decide(hiding, read(A))).toBe('hide rule 1');
    expect(decide(allow(rule), read(A))).toBe('deny default');
    expect(rulesPolicy(hiding).attributes).toBe(true);
  });

  const call = (name: string, args: Record<string, unknown> | undefined, more: Partial<AccessRequest> = {}) =>
    ({ principal: ANNA, operation: 'call', name, arguments: args, ...more }) as const;

  it('match tools and their arguments [SEC-TOOL-2]', () => {
    const rules = allow({ tools: ['db_*'], arguments: { table: ['public_*', 'people'], limit: [10, 20], dry: true } });
    const good = { table: 'public_x', limit: 20, dry: true, other: 1 };
    expect(decide(rules, call('db_query', good))).toBe('allow rule 1');
    expect(decide(rules, call('fs_query', good))).toBe('deny default');
    for (const wrong of [{ table: 'secret' }, { limit: 30 }, { limit: '20' }, { dry: false }, { table: ['people'] }]) {
      expect(decide(rules, call('db_query', { ...good, ...wrong }))).toBe('deny default');
    }
    expect(decide(rules, call('db_query', {}))).toBe('deny default');
    // In a list: there are arguments with which the tool may be called.
    expect(decide(rules, call('db_query', undefined))).toBe('allow rule 1');
    const denying: AccessRules = { rules: [{ effect: 'deny', arguments: { path: '/etc/**' } }], default: 'allow' };
    expect(decide(denying, call('cat', { path: '/etc/passwd' }))).toBe('deny rule 1');
    expect(decide(denying, call('cat', undefined))).toBe('allow default');
    expect(decide(denying, call('cat', JSON.parse('{"__proto__": {"path": "/etc/x"}}')))).toBe('allow default');
  });

  it('do not apply to the resource tools, unless one names them', () => {
    expect(decide({ rules: [] }, call('read', {}, { onlyResources: true }))).toBe('allow default of resource tools');
    expect(decide({ rules: [{ effect: 'hide', tools: ['read'] }] }, call('read', {}, { onlyResources: true }))).toBe(
      'hide rule 1',
    );
  });

  it('name the scopes if only these are missing', () => {
    const policy = rulesPolicy({
      rules: [
        { effect: 'allow', who: { scopes: ['docs:read', 'docs:write'] }, mounts: ['docs'], operations: ['read'] },
        { effect: 'allow', who: { groups: ['press'], scopes: ['press:read'] }, mounts: ['press'] },
      ],
    });
    expect(policy.decide(read(A))).toEqual({
      effect: 'deny',
      rule: 'default',
      byDefault: true,
      scopes: ['docs:write'],
    });
    expect(policy.decide(read(A, { operation: 'list' })).scopes).toBeUndefined();
    expect(policy.decide(read('press+x:a', { mount: 'press' })).scopes).toBeUndefined();
  });

  it('tell in advance what could be allowed, and who may do everything [SEC-CAP-1]', () => {
    const policy = rulesPolicy({
      rules: [
        { effect: 'allow', who: { groups: ['staff'] }, uris: ['docs+**'] },
        { effect: 'ask', who: 'anonymous', operations: ['call'], mounts: ['wiki'] },
        { effect: 'deny', who: 'anonymous', operations: ['read'] },
      ],
    });
    expect(policy.could?.(ANNA, { operation: 'read' })).toBe(true);
    expect(policy.could?.(ANNA, { operation: 'call' })).toBe(false);
    expect(policy.could?.(ANONYMOUS, { operation: 'call' })).toBe(true);
    expect(policy.could?.(ANONYMOUS, { mount: 'wiki' })).toBe(true);
    expect(policy.could?.(ANONYMOUS, { mount: 'docs' })).toBe(false);
    expect(policy.everything?.(ANNA)).toBe(false);
    expect(rulesPolicy(allow()).everything?.(ANNA)).toBe(true);
    expect(rulesPolicy(allow({ mounts: ['docs'] })).everything?.(ANNA)).toBe(false);
    expect(rulesPolicy({ rules: [{ effect: 'allow' }, { effect: 'hide', tools: ['x'] }] }).everything?.(ANNA)).toBe(
      false,
    );
  });

  it('tell in advance where everything is allowed [SEC-RES-2]', () => {
    const withholds = (rules: AccessRules, mount: string | undefined = 'docs') =>
      rulesPolicy(rules).couldWithhold?.(ANNA, { operation: 'list', mount });
    const allow = { effect: 'allow', mounts: ['docs'] } as const;
    expect(withholds({ rules: [allow] })).toBe(false);
    expect(withholds({ rules: [allow] }, 'wiki')).toBe(true);
    expect(rulesPolicy({ rules: [allow] }).couldWithhold?.(ANNA, { operation: 'list' })).toBe(true);
    expect(withholds({ rules: [{ ...allow, operations: ['read'] }] })).toBe(true);
    expect(withholds({ rules: [{ ...allow, uris: ['docs+file:///**'] }] })).toBe(true);
    for (const effect of ['hide', 'deny'] as const) {
      const against = { effect, uris: ['docs+file:///x'] };
      expect(withholds({ rules: [allow, against] })).toBe(true);
      expect(withholds({ rules: [allow, { ...against, mounts: ['wiki'] }] })).toBe(false);
      expect(withholds({ rules: [allow, { ...against, operations: ['read'] }] })).toBe(false);
      expect(withholds({ rules: [against], default: 'allow' })).toBe(true);
    }
    expect(withholds({ rules: [], default: 'allow' })).toBe(false);
    expect(withholds({ rules: [] })).toBe(true);
  });

  it('tell whether a caller may list and subscribe to everything readable [2093-3]', () => {
    const operation = fc.constantFrom<AccessOperation>('list', 'read', 'metadata', 'subscribe');
    const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
    const rule = fc.record({
      effect: fc.constantFrom('allow' as const, 'deny' as const, 'hide' as const),
      who: fc.constantFrom('anyone' as const, 'anonymous' as const, 'authenticated' as const),
      operations: some(fc.uniqueArray(operation, { minLength: 1 })),
      uris: some(fc.constantFrom(['docs+**'], ['docs+file:///a.*'], ['docs+file:///b/**'])),
      except: some(fc.constant(['docs+file:///b/c.md'])),
    });
    const rules = fc.record({
      rules: fc.array(rule, { maxLength: 5 }),
      default: fc.constantFrom('allow' as const, 'deny' as const, 'hide' as const),
    });
    const uri = fc.constantFrom(A, 'docs+file:///b/c.md', 'docs+file:///b/d.md', 'wiki+x:y');
    let meant = 0;
    const sees = fc.property(rules, fc.constantFrom(ANNA, ANONYMOUS), uri, (each, principal, asked) => {
      const policy = rulesPolicy(each);
      const effectOf = (wanted: AccessOperation): string =>
        policy.decide(read(asked, { principal, operation: wanted })).effect;
      if (policy.readMeansAll?.(principal) !== true || effectOf('read') !== 'allow') return;
      meant++;
      expect([effectOf('list'), effectOf('subscribe')]).toEqual(['allow', 'allow']);
    });
    fc.assert(sees, { numRuns: 2_000 });
    expect(meant).toBeGreaterThan(100);
    const denied = { effect: 'deny', operations: ['subscribe'] } as const;
    expect(rulesPolicy({ rules: [{ effect: 'allow' }, denied] }).readMeansAll?.(ANNA)).toBe(false);
    expect(rulesPolicy(allow({ operations: ['read'] })).readMeansAll?.(ANNA)).toBe(false);
    expect(rulesPolicy(allow()).readMeansAll?.(ANNA)).toBe(true);
  });

  it.each<[AccessRule, RegExp]>([
    [{ effect: 'ask', operations: ['list'] }, /asked about read, call, prompt, not about list/],
    [{ effect: 'allow', rememberSeconds: 5 }, /only what is asked is remembered/],
    [{ effect: 'allow', tools: ['x'], operations: ['read'] }, /operation call; add it/],
    [{ effect: 'allow', prompts: ['x'], operations: ['read'] }, /operation prompt; add it/],
    [{ effect: 'hide', uris: ['docs+file:///**secret*'] }, /\*\* stands between slashes or at the end/],
    [{ effect: 'allow', except: ['docs+file:///a**b/c'] }, /\*\* stands between slashes or at the end/],
    [{ effect: 'deny', uris: ['x'], operations: ['call'] }, /name tools or prompts instead/],
  ])('are refused if they make no sense: %j', (rule, problem) => {
    expect(() => rulesPolicy({ rules: [rule] })).toThrow(problem);
  });

  it.each<[string, Omit<AccessRule, 'effect'>]>([
    ['operations', { operations: [] }],
    ['mounts', { mounts: [] }],
    ['uris', { uris: [] }],
    ['except', { uris: ['docs+**'], except: [] }],
    ['paths', { paths: [] }],
    ['mimeTypes', { mimeTypes: [] }],
    ['audience', { audience: [] }],
    ['tools', { tools: [] }],
    ['prompts', { prompts: [] }],
    ['arguments.path', { tools: ['cat'], arguments: { verbose: true, path: [] } }],
    ['who.subjects', { who: { subjects: [] } }],
    ['who.issuers', { who: { issuers: [] } }],
    ['who.groups', { who: { authenticated: true, groups: [] } }],
    ['who.clients', { who: { clients: [] } }],
    ['who.scopes', { who: { scopes: [] } }],
  ])('are refused with an empty list: %s', (list, rule) => {
    for (const effect of ['allow', 'deny', 'hide'] as const) {
      const problem = `Access rule "x": ${list} is an empty list; name at least one entry in it, or remove the list`;
      expect(() => rulesPolicy({ rules: [{ effect, name: 'x', ...rule }] })).toThrow(problem);
    }
  });
});
