/** Rules and policies in Cedar with the same meaning decide alike, for every request. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ACCESS_OPERATIONS, type AccessRequest, ANONYMOUS, type Principal } from 'vitrine/plug-in';
import { rulesPolicy } from '../../src/index.ts';
import { cedarPolicy } from './index.ts';

const RULES = rulesPolicy({
  rules: [
    { name: 'staff', effect: 'allow', who: { groups: ['staff'] }, mounts: ['docs'] },
    { name: 'guide', effect: 'allow', operations: ['list', 'read', 'metadata'], uris: ['docs+file:///guide/**'] },
    {
      name: 'scope',
      effect: 'allow',
      who: { scopes: ['a', 'b'] },
      operations: ['subscribe', 'complete'],
      mounts: ['wiki'],
    },
    { name: 'browser', effect: 'allow', who: { clients: ['browser'], authenticated: true }, prompts: ['greet'] },
    { name: 'drafts', effect: 'hide', who: { groups: ['staff'] }, uris: ['docs+file:///drafts/**'] },
    { name: 'pictures', effect: 'deny', who: { clients: ['robot'] }, mimeTypes: ['image/*'], operations: ['read'] },
    { name: 'small', effect: 'allow', who: 'anonymous', maxBytes: 9, operations: ['read', 'metadata'] },
    { name: 'people', effect: 'deny', audience: ['user'], operations: ['subscribe'] },
    { name: 'contracts', effect: 'ask', uris: ['docs+file:///contracts/**'], rememberSeconds: 600 },
    { name: 'roll', effect: 'allow', tools: ['roll', 'wiki_*'] },
    { name: 'loud', effect: 'deny', tools: ['roll'], arguments: { loud: true, count: [13, 17] } },
    { name: 'few', effect: 'ask', who: 'authenticated', tools: ['sum'], arguments: { count: [1, 2] } },
    { name: 'no search', effect: 'hide', who: { clients: ['robot'] }, tools: ['search'] },
  ],
});

const CALL = 'action == Vitrine::Action::"call", resource is Vitrine::Tool';
const CEDAR = `
@id("staff") permit(principal in Vitrine::Group::"staff", action, resource in Vitrine::Mount::"docs");
@id("guide") permit(principal, action in [Vitrine::Action::"list", Vitrine::Action::"read", Vitrine::Action::"metadata"], resource)
when { resource.uri == "docs+file:///guide" || resource.uri like "docs+file:///guide/*" };
@id("scope") permit(principal, action in [Vitrine::Action::"subscribe", Vitrine::Action::"complete"], resource in Vitrine::Mount::"wiki")
when { principal.scopes.containsAll(["a", "b"]) };
@id("browser") permit(principal, action == Vitrine::Action::"prompt", resource == Vitrine::Prompt::"greet")
when { principal.authenticated && principal has clientId && principal.clientId == "browser" };
@id("drafts") @effect("hide") forbid(principal in Vitrine::Group::"staff", action, resource is Vitrine::Resource)
when { resource.uri == "docs+file:///drafts" || resource.uri like "docs+file:///drafts/*" };
@id("pictures") forbid(principal, action == Vitrine::Action::"read", resource)
when { principal has clientId && principal.clientId == "robot" && !resource.template }
when { !(resource has mimeType) || resource.mimeType like "image/*" };
@id("small") permit(principal, action in [Vitrine::Action::"read", Vitrine::Action::"metadata"], resource)
when { !principal.authenticated && resource has size && resource.size <= 9 };
@id("people") forbid(principal, action == Vitrine::Action::"subscribe", resource)
when { !(resource has audience) || resource.audience.contains("user") };
@id("contracts") @effect("ask") @remember("600") permit(principal, action, resource is Vitrine::Resource)
when { resource.uri == "docs+file:///contracts" || resource.uri like "docs+file:///contracts/*" };
@id("roll") permit(principal, ${CALL}) when { resource.name == "roll" || resource.name like "wiki_*" };
@id("loud") forbid(principal, ${CALL}) when { resource.name == "roll" && context.arguments has loud && context.arguments.loud == true &&
  context.arguments has count && [13, 17].contains(context.arguments.count) };
@id("few") @effect("ask") permit(principal, ${CALL}) when { principal.authenticated && resource.name == "sum" &&
  context.arguments has count && [1, 2].contains(context.arguments.count) };
@id("no search") @effect("hide") forbid(principal, ${CALL}) when { principal has clientId && principal.clientId == "robot" && resource.name == "search" };
`;

const some = (values: readonly string[]): fc.Arbitrary<string[]> => fc.subarray([...values]);

const principals: fc.Arbitrary<Principal> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(ANONYMOUS) },
  {
    weight: 5,
    arbitrary: fc.record(
      {
        id: fc.constantFrom('x#anna', 'x#bert'),
        groups: some(['staff', 'press']),
        scopes: some(['a', 'b', 'c']),
        clientId: fc.constantFrom('browser', 'robot'),
      },
      { requiredKeys: ['id'] },
    ),
  },
);

const uris = fc.constantFrom(
  'docs+file:///a.txt',
  'docs+file:///guide',
  'docs+file:///guide/one.md',
  'docs+file:///guidelines.md',
  'docs+file:///drafts/new.md',
  'docs+file:///contracts/x/y.pdf',
  'wiki+memory:///page',
);

const resourceRequests: fc.Arbitrary<AccessRequest> = fc
  .record({
    principal: principals,
    operation: fc.constantFrom(...ACCESS_OPERATIONS.filter((each) => each !== 'call' && each !== 'prompt')),
    uri: uris,
    facts: fc.record(
      {
        mimeType: fc.constantFrom('image/png', 'text/plain; charset=utf-8', 'IMAGE/PNG'),
        size: fc.integer({ min: 0, max: 20 }),
        annotations: fc.record({ audience: some(['user', 'assistant']) as fc.Arbitrary<('user' | 'assistant')[]> }),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ principal, operation, uri, facts }) => ({
    principal,
    operation,
    uri,
    mount: uri.slice(0, 4),
    resource: { uri, name: 'x', ...facts },
  }));

const argumentSets = fc.record(
  {
    loud: fc.boolean(),
    // A rule also forbids arguments that could match, such as a list with the value in it. A policy has to say that itself.
    count: fc.constantFrom<unknown>(1, 2, 13, 17, 2.5, '14', null, [14]),
    text: fc.string(),
  },
  { requiredKeys: [] },
);

const callRequests: fc.Arbitrary<AccessRequest> = fc
  .record({
    principal: principals,
    name: fc.constantFrom('roll', 'sum', 'search', 'wiki_edit', 'nothing'),
    arguments: fc.option(argumentSets, { nil: undefined }),
  })
  .map((request) => ({
    ...request,
    operation: 'call',
    mount: request.name.startsWith('wiki_') ? 'wiki' : undefined,
    onlyResources: request.name === 'search',
  }));

const promptRequests: fc.Arbitrary<AccessRequest> = fc
  .record({ principal: principals, name: fc.constantFrom('greet', 'hush') })
  .map((request) => ({ ...request, operation: 'prompt' }));

it('rules and Cedar policies with the same meaning decide alike [SEC-RES-2]', async () => {
  const policy = await cedarPolicy({ policies: CEDAR });
  const seen = new Set<string>();
  try {
    fc.assert(
      fc.property(fc.oneof(resourceRequests, callRequests, promptRequests), (request) => {
        const { scopes: _beyondCedar, ...expected } = RULES.decide(request);
        seen.add(expected.rule);
        expect(policy.decide(request)).toEqual(expected);
        // If a request is allowed, `could` says yes.
        const { operation, mount } = request;
        if (expected.effect === 'allow' && request.onlyResources !== true)
          expect(policy.could?.(request.principal, { operation, mount })).toBe(true);
      }),
      { numRuns: 800, seed: 24 },
    );
  } finally {
    await policy.close();
  }
  // Each rule decides at least once, or the agreement would prove nothing about it.
  expect([...seen].sort()).toEqual(
    [
      ...[
        'staff',
        'guide',
        'scope',
        'browser',
        'drafts',
        'pictures',
        'small',
        'people',
        'contracts',
        'roll',
        'loud',
        'few',
      ],
      ...['no search', 'default', 'default of resource tools'],
    ].sort(),
  );
});
