import { afterEach, describe, expect, it } from 'vitest';
import { ANONYMOUS, type Log, SILENT } from 'vitrine/plug-in';
import { ANNA, BOTH, call, closePolicies, DEFAULT, decided, of, policyOf, URI } from '../../test/tools/cedar.ts';
import { cedarPolicy } from './index.ts';
import { MAX_ARGUMENT_DEPTH } from './values.ts';

afterEach(closePolicies);

describe('the caller and the target of a policy', () => {
  it.each([
    ['a group', 'permit(principal in Vitrine::Group::"staff", action, resource);', true],
    ['another group', 'permit(principal in Vitrine::Group::"board", action, resource);', false],
    ['the subject', 'permit(principal, action, resource) when { principal.subject == "anna" };', true],
    ['the id', 'permit(principal == Vitrine::Principal::"https://login.example#anna", action, resource);', true],
    [
      'issuer, client and scopes',
      `permit(principal is Vitrine::Principal, action, resource) when {
        principal.issuer == "https://login.example" && principal.clientId == "browser" &&
        principal.scopes.contains("docs:read") && principal.authenticated };`,
      true,
    ],
    ['the operation', 'permit(principal, action == Vitrine::Action::"read", resource);', true],
    ['another operation', 'permit(principal, action == Vitrine::Action::"list", resource);', false],
    ['the mount', 'permit(principal, action, resource in Vitrine::Mount::"docs");', true],
    ['another mount', 'permit(principal, action, resource in Vitrine::Mount::"wiki");', false],
    ['the URI', 'permit(principal, action, resource == Vitrine::Resource::"docs+file:///a.txt");', true],
    ['a part of the URI', 'permit(principal, action, resource) when { resource.uri like "docs+file:///a*" };', true],
    [
      'attributes',
      `permit(principal, action, resource) when {
        resource.name == "a.txt" && resource.mimeType == "text/plain" && resource.size < 100 &&
        resource.audience.contains("user") && !resource.template };`,
      true,
    ],
    ['a date', 'permit(principal, action, resource) when { resource.lastModified < datetime("2020-01-01") };', true],
    [
      'an age',
      'permit(principal, action, resource) when { resource.lastModified > context.now.offset(duration("-1d")) };',
      false,
    ],
  ])('%s', async (_what, policies, allowed) => {
    const resource = {
      mimeType: 'Text/Plain; charset=utf-8',
      size: 12,
      annotations: { audience: ['user'] as const, lastModified: '2019-05-01T00:00:00Z' },
    };
    const expected = allowed ? 'allow: policy of line 1' : DEFAULT;
    expect(await decided(policies, of(resource))).toBe(expected);
  });

  it.each([
    ['+012345-06-07T00:00:00Z', 'resource.lastModified > datetime("9999-01-01")'],
    ['-000044-03-15T00:00:00Z', 'resource.lastModified < datetime("0001-01-01")'],
  ])('a time that Cedar cannot express, such as %s, is before or after all others', async (lastModified, condition) => {
    const policies = `permit(principal, action, resource) when { ${condition} };`;
    expect(await decided(policies, of({ annotations: { lastModified } }))).toBe('allow: policy of line 1');
  });

  it('an anonymous caller is not authenticated', async () => {
    const policies = 'permit(principal, action, resource) when { principal.authenticated };';
    expect(await decided(policies, of({}, { principal: ANONYMOUS }))).toBe(DEFAULT);
  });

  it('whether the URI is a template', async () => {
    const policies = 'permit(principal, action, resource) when { resource.template };';
    const template = {
      operation: 'complete',
      uri: 'docs+file:///{+path}',
      template: true,
      resource: undefined,
    } as const;
    expect(await decided(policies, of({}, template))).toBe('allow: policy of line 1');
    expect(await decided(policies, of())).toBe(DEFAULT);
  });

  it('tools and prompts, by name and mount', async () => {
    const policies = `@id("tools") permit(principal, action == Vitrine::Action::"call", resource is Vitrine::Tool in Vitrine::Mount::"wiki")
      when { resource.name like "wiki_*" };
      @id("prompts") permit(principal, action == Vitrine::Action::"prompt", resource == Vitrine::Prompt::"greet");`;
    expect(await decided(policies, call({}))).toBe('allow: tools');
    expect(await decided(policies, call({}, { mount: 'docs' }))).toBe(DEFAULT);
    expect(await decided(policies, { principal: ANNA, operation: 'prompt', name: 'greet' })).toBe('allow: prompts');
    expect(await decided(policies, { principal: ANNA, operation: 'prompt', name: 'hush' })).toBe(DEFAULT);
  });
});

describe('the decision', () => {
  it('is the strictest of all that match [SEC-RES-2]', async () => {
    const hide = '@id("hidden") @effect("hide") forbid(principal, action, resource);';
    const deny = '@id("denied") forbid(principal, action, resource);';
    const ask = '@id("asked") @effect("ask") @remember("600") permit(principal, action, resource);';
    expect(await decided('', of())).toBe(DEFAULT);
    expect(await decided(BOTH, of())).toBe('allow: all');
    expect(await decided(`${BOTH}${ask}`, of())).toBe('ask: asked');
    expect(await decided(`${deny}${BOTH}${ask}`, of())).toBe('deny: denied');
    expect(await decided(`${deny}${BOTH}${ask}${hide}`, of())).toBe('hide: hidden');
  });

  it('has the time for which an answer is remembered, and asks only about operations that can be asked about', async () => {
    const policy = await policyOf('@id("asked") @effect("ask") @remember("600") permit(principal, action, resource);');
    expect(policy.decide(of())).toEqual({ effect: 'ask', rule: 'asked', rememberMs: 600_000 });
    expect(policy.decide(of({}, { operation: 'list' }))).toEqual({ effect: 'deny', rule: 'default', byDefault: true });
  });

  it('allows the resource tools, unless a policy forbids them [SEC-TOOL-2]', async () => {
    const tool = call({ uri: URI }, { name: 'search', mount: undefined, onlyResources: true });
    expect(await decided('', tool)).toBe('allow: default of resource tools');
    const policies = '@id("no search") forbid(principal, action, resource == Vitrine::Tool::"search");';
    expect(await decided(policies, tool)).toBe('deny: no search');
  });

  it('is the same for a repeated request, and can differ for another caller', async () => {
    const policy = await policyOf(
      'permit(principal, action, resource) when { principal.scopes.contains("docs:read") };',
    );
    const effects = [ANNA, { ...ANNA, scopes: [] }, ANNA, { ...ANNA, scopes: ['docs:read', 'more'] }].map(
      (principal) => policy.decide(of({}, { principal })).effect,
    );
    expect(effects).toEqual(['allow', 'deny', 'allow', 'allow']);
  });

  it('can be explained completely', async () => {
    const policy = await policyOf(`@id("a") forbid(principal, action, resource);
      @id("b") @effect("hide") forbid(principal, action, resource);`);
    expect(policy.matching(of()).map(({ rule }) => rule)).toEqual(['b', 'a']);
  });
});

describe('arguments [SEC-TOOL-2]', () => {
  const policies = `@id("edit") permit(principal, action == Vitrine::Action::"call", resource);
    @id("not much") forbid(principal, action == Vitrine::Action::"call", resource)
    when { context.arguments has count && context.arguments.count > 3 };
    @id("not there") @effect("hide") forbid(principal, action == Vitrine::Action::"call", resource)
    when { context.arguments has to && context.arguments.to has path && context.arguments.to.path like "/secret/*" };`;

  it.each([
    [{}, 'allow: edit'],
    [{ count: 3 }, 'allow: edit'],
    [{ count: 4 }, 'deny: not much'],
    [{ count: null, to: { path: '/open/a' }, list: [1, 'two', null] }, 'allow: edit'],
    [{ to: { path: '/secret/a' }, count: 4 }, 'hide: not there'],
    // A condition allows no value of another type than its own.
    [{ count: 3.5 }, 'deny: not much (failed)'],
    [{ count: 1e300 }, 'deny: not much (failed)'],
    [{ count: 'many' }, 'deny: not much (failed)'],
    [{ to: { path: ['/secret/a'] } }, 'hide: not there (failed)'],
  ])('%j', async (args, expected) => {
    expect(await decided(policies, call(args))).toBe(expected);
  });

  it('that are unknown count as allowed if some arguments are allowed', async () => {
    expect(await decided(policies, call(undefined))).toBe('allow: edit');
    const only = `@id("few") permit(principal, action, resource) when { context.arguments.count < 3 };`;
    expect(await decided(only, call(undefined))).toBe('allow: few');
    const never = `${only} @id("never") forbid(principal, action, resource) when { !principal.scopes.isEmpty() };`;
    expect(await decided(never, call(undefined))).toBe('deny: never');
    const failing = `${only} @id("typo") forbid(principal, action, resource) when { resource.nam == "x" };`;
    expect(await decided(failing, call(undefined))).toBe('deny: typo (failed)');
  });

  it('are only data, whatever they claim', async () => {
    const gate = `@id("staff") permit(principal, action, resource) when { context.arguments.as in Vitrine::Group::"staff" };`;
    const anna = { type: 'Vitrine::Principal', id: ANNA.id };
    for (const key of ['__entity', '__extn', '__expr']) {
      expect(await decided(gate, call({ as: { [key]: anna } }))).toBe('deny: arguments that Cedar cannot hold');
      expect(await decided(`${BOTH}${gate}`, call({ as: [{ deep: { [key]: anna } }] }))).toBe(
        'deny: arguments that Cedar cannot hold',
      );
    }
    expect(await decided(gate, call({ as: anna }))).toBe('deny: staff (failed)');
  });

  it('do not matter if no policy looks at them', async () => {
    expect(await decided(BOTH, call({ as: { __entity: {} } }))).toBe('allow: all');
    expect(await decided(BOTH, call(undefined))).toBe('allow: all');
  });

  it('that Cedar cannot express are denied, and hidden if they might be', async () => {
    const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
    expect(await decided(policies, call({ x: nested(MAX_ARGUMENT_DEPTH - 1) }))).toBe('allow: edit');
    const text = `${BOTH} @id("few") forbid(principal, action, resource) when { context.arguments has b };`;
    const deep = call({ x: nested(5_000) });
    expect(await decided(text, deep)).toBe('deny: arguments that Cedar cannot hold');
    expect(await decided(policies, deep)).toBe('hide: not there');
  });
});

describe('a policy that fails [SEC-RES-2]', () => {
  const failing = 'when { resource.mimeType == "image/png" };';

  it.each([
    [`@id("x") forbid(principal, action, resource) ${failing}`, 'deny: x (failed)'],
    [`@id("x") @effect("hide") forbid(principal, action, resource) ${failing}`, 'hide: x (failed)'],
    [`@id("x") @effect("ask") permit(principal, action, resource) ${failing}`, 'deny: x (failed)'],
    [`@id("x") permit(principal, action, resource) ${failing}`, 'deny: x (failed)'],
  ])('counts against the caller: %s', async (policy, expected) => {
    const errors: unknown[] = [];
    const log: Log = { ...SILENT, error: (message, facts) => void errors.push({ message, ...facts }) };
    expect(await decided(`${policy}${BOTH}`, of(), { log })).toBe(expected);
    expect(errors).toEqual([
      {
        message: 'a Cedar policy failed, so it counts as a forbid',
        policy: 'x',
        error: expect.stringContaining('does not have the attribute `mimeType`'),
      },
    ]);
    expect(await decided(`${policy}${BOTH}`, of({ mimeType: 'text/plain' }))).toBe('allow: all');
  });

  it('is logged once in a while, not once for each request', async () => {
    let errors = 0;
    const log: Log = { ...SILENT, error: () => void errors++ };
    const policy = await policyOf(`forbid(principal, action, resource) ${failing}`, { log });
    for (let i = 0; i < 5; i++) policy.decide(of({}, { uri: `${URI}${i}` }));
    expect(errors).toBe(1);
  });
});

describe('known in advance', () => {
  it('is whether decisions depend on attributes of a resource', async () => {
    const byUri = 'permit(principal, action, resource) when { resource.uri like "docs*" };';
    expect((await policyOf(byUri)).attributes).toBe(false);
    for (const name of ['name', 'mimeType', 'size', 'lastModified', 'audience']) {
      const policies = `${byUri} forbid(principal, action, resource) when { resource has ${name} };`;
      expect((await policyOf(policies)).attributes).toBe(true);
      const quoted = `${byUri} forbid(principal, action, resource) when { resource["${name}"] == 1 };`;
      expect((await policyOf(quoted)).attributes).toBe(true);
    }
  });

  it('whether it hides anything', async () => {
    expect((await policyOf(BOTH)).hides).toBe(false);
    expect((await policyOf('@effect("hide") forbid(principal, action, resource);')).hides).toBe(true);
  });

  it('in which areas it could permit something', async () => {
    const entities = [
      { uid: { type: 'Vitrine::Group', id: 'staff' }, attrs: {}, parents: [{ type: 'Vitrine::Group', id: 'people' }] },
    ];
    const policy = await policyOf(
      `permit(principal in Vitrine::Group::"people", action in [Vitrine::Action::"read", Vitrine::Action::"list"], resource in Vitrine::Mount::"docs");
       @effect("ask") permit(principal, action, resource is Vitrine::Prompt);
       forbid(principal, action, resource);`,
      { entities },
    );
    const could = (area: object, principal = ANNA): boolean | undefined => policy.could?.(principal, area);
    expect(could({})).toBe(true);
    expect(could({ operation: 'read', mount: 'docs' })).toBe(true);
    expect(could({ operation: 'read', mount: 'wiki' })).toBe(false);
    expect(could({ operation: 'subscribe' })).toBe(false);
    expect(could({ operation: 'call' })).toBe(false);
    expect(could({ operation: 'prompt' })).toBe(true);
    expect(could({ operation: 'read' }, ANONYMOUS)).toBe(false);
    expect(could({ operation: 'prompt' }, ANONYMOUS)).toBe(true);
  });
});

describe('configured entities', () => {
  const uid = (type: string, id: string): object => ({ type: `Vitrine::${type}`, id });
  const entities = [
    {
      uid: uid('Group', 'staff'),
      attrs: { floor: 3, lead: { __entity: uid('Principal', 'x') } },
      parents: [uid('Group', 'people')],
    },
    { uid: uid('Group', 'people'), attrs: {}, parents: [] },
    {
      uid: { __entity: uid('Principal', ANNA.id) },
      attrs: { level: 4, scopes: ['all'] },
      parents: [uid('Group', 'board')],
    },
    { uid: uid('Resource', URI), attrs: { label: 'blue' }, parents: [{ type: 'Shelf', id: 'one' }] },
    { uid: { type: 'Shelf', id: 'one' }, attrs: {}, parents: [{ type: 'Shelf', id: 'all' }] },
    { uid: { type: 'Setting', id: 'open' }, attrs: { yes: true }, parents: [] },
  ];

  it.each([
    ['groups are in groups', 'permit(principal in Vitrine::Group::"people", action, resource);', true],
    ['a principal is in one more group', 'permit(principal in Vitrine::Group::"board", action, resource);', true],
    ['the groups of the token stay', 'permit(principal in Vitrine::Group::"staff", action, resource);', true],
    ['a principal has more attributes', 'permit(principal, action, resource) when { principal.level == 4 };', true],
    ['claims of a token stay', 'permit(principal, action, resource) when { principal.scopes.contains("all") };', false],
    ['resources are on shelves', 'permit(principal, action, resource in Shelf::"all");', true],
    ['resources have more attributes', 'permit(principal, action, resource) when { resource.label == "blue" };', true],
    ['a policy names an entity', 'permit(principal, action, resource) when { Setting::"open".yes };', true],
    [
      'an entity names another',
      'permit(principal, action, resource) when { Vitrine::Group::"staff".lead == principal };',
      false,
    ],
  ])('%s', async (_what, policies, allowed) => {
    expect(await decided(policies, of(), { entities })).toBe(allowed ? 'allow: policy of line 1' : DEFAULT);
  });
});

it('decides nothing after it was closed', async () => {
  const policy = await cedarPolicy({ policies: BOTH });
  expect(policy.decide(of()).effect).toBe('allow');
  await policy.close();
  expect(policy.decide(of()).effect).toBe('deny');
});
