/**
 * Every caller requests every resource in every way. The outcome is what the decision function says: an allowed request is answered as
 * without rules, a denied one is denied, a hidden resource is missing, and lists are the full lists without hidden entries.
 */
import { expect, it } from 'vitest';
import type { AccessDecision } from '../../src/core/access.ts';
import type { AccessOperation } from '../../src/core/decided.ts';
import type { Resource } from '../../src/protocol/resources.ts';
import { type Ask, honoured, type Reply } from './access/asking.ts';
import { type Data, inEachEra, inParallel, type Somebody, tally, total, urisOf } from './access/matrix.ts';
import { expectedOf, type Outcome, outcomeOf } from './access/outcomes.ts';
import { PEOPLE } from './access/rules.ts';

/** A client identity of each kind, as clients send it. */
const URIS = [
  'docs+file:///',
  'docs+file:///a.txt',
  'docs+file:///old.md',
  'docs+file:///pic.png',
  'docs+file:///guide',
  'docs+file:///guide/one.md',
  'docs+file:///guide/../a.txt',
  'docs+file:///drafts',
  'docs+file:///drafts/new.md',
  'docs+file:///drafts/shared.md',
  'docs+file:///my%20notes/%C3%A9t%C3%A9%20%231%25.md',
  'docs+file:///nothing.txt',
  'notes+memory:///all.txt',
  'notes+memory:///assistant.txt',
  'notes+memory:///user.txt',
  'wiki+memory:///public/page.md',
  'wiki+memory:///staff/secret.md',
  'wiki+memory:///nothing.md',
  'items+item:7',
  'items+item:8',
  'vitrine+state:///upstreams',
] as const;

interface Way {
  readonly method: string;
  readonly operation: AccessOperation;
  readonly params: (uri: string) => Data;
  /** Whether access is also decided before the request runs, for a challenge. */
  readonly challenges?: true;
  /** The tool that the request calls. */
  readonly tool?: string;
  /** Used in the title of the test. */
  readonly more?: Data;
}

const byTool = (name: string, operation: AccessOperation, more: Data = {}): Way => ({
  method: 'tools/call',
  operation,
  tool: name,
  more,
  params: (uri) => ({ name, arguments: { uri, ...more } }),
});

/** All ways to request a resource. */
const WAYS: readonly Way[] = [
  { method: 'resources/list', operation: 'list', challenges: true, params: (uri) => ({ uri }) },
  { method: 'resources/directory/read', operation: 'list', challenges: true, params: (uri) => ({ uri }) },
  { method: 'resources/read', operation: 'read', challenges: true, params: (uri) => ({ uri }) },
  {
    method: 'resources/read',
    operation: 'read',
    challenges: true,
    more: { range: true },
    params: (uri) => ({ uri, _meta: { 'vitrine/range': { offset: 1, length: 2 } } }),
  },
  { method: 'resources/metadata', operation: 'metadata', challenges: true, params: (uri) => ({ uri }) },
  byTool('list', 'list'),
  byTool('describe', 'metadata'),
  byTool('read', 'read'),
  byTool('read', 'read', { as: 'window', max_bytes: 10 }),
  byTool('read_embedded', 'read'),
  byTool('search', 'metadata', { pattern: 'text' }),
  byTool('subscribe', 'subscribe'),
];

const ALLOWED: AccessDecision = { effect: 'allow', rule: '' };

inEachEra((scene) => {
  const all = tally();

  it.each(WAYS)(
    'every resource is answered as the decision function says: $method $tool $more [SEC-RES-2, SEC-TOOL-2]',
    async (way) => {
      const told = tally();
      await inParallel([...URIS], async (uri) => {
        const params = way.params(uri);
        const without = await scene.anybody(way.method, params);
        const resource = await scene.matrix.lookedAt(uri);
        const mount = scene.matrix.bare.mountOf(uri);
        for (const somebody of scene.people) {
          const { person, decide, ask } = somebody;
          const cell = `${person.name} ${way.method} ${way.tool ?? ''} ${uri}`;
          const asked = { operation: way.operation, uri: resource?.uri ?? uri, mount, resource };
          const decision = decide(asked);
          const called =
            way.tool === undefined
              ? undefined
              : decide({ operation: 'call', name: way.tool, arguments: params.arguments as Data, onlyResources: true });
          const beforehand = way.challenges && decide({ operation: way.operation, uri, mount });
          const expected =
            called === undefined || called.effect === 'allow'
              ? expectedOf(outcomeOf(without), resource === undefined ? ALLOWED : decision, beforehand)
              : expectedOf('answered', called);
          const reply = await ask(way.method, params);
          told.add(cell, expected, outcomeOf(reply));
          if (expected === 'answered' && outcomeOf(reply) === 'answered')
            told.wrong.push(...(await differences(somebody, way, without, reply)).map((each) => `${cell}: ${each}`));
        }
      });
      expect(told.wrong).toEqual([]);
      expect(total(told)).toBe(URIS.length * PEOPLE.length);
      for (const [outcome, count] of told.outcomes) all.outcomes.set(outcome, (all.outcomes.get(outcome) ?? 0) + count);
    },
  );

  it('every cell was tried, and every outcome occurred', () => {
    expect(total(all)).toBe(1_512);
    for (const outcome of ['answered', 'asked', 'challenged', 'denied', 'missing'])
      expect([outcome, all.outcomes.has(outcome)]).toEqual([outcome, true]);
  });

  /** Names the fields of an answer that differ from the full answer without the entries that are hidden from the caller. */
  async function differences(
    somebody: Somebody,
    { method, tool }: Way,
    without: Reply,
    reply: Reply,
  ): Promise<string[]> {
    const full = without.result ?? {};
    const got = reply.result ?? {};
    const unequal = (what: string, one: unknown, other: unknown): string[] =>
      JSON.stringify(one) === JSON.stringify(other)
        ? []
        : [`${what} ${JSON.stringify(one)} instead of ${JSON.stringify(other)}`];
    const able = (entry: Resource): Resource => abilitiesOf(somebody, entry);
    if (method === 'resources/read') {
      const whole = full.contents as readonly Resource[];
      const kept = await filtered(whole, somebody);
      return unequal('contents', urisOf(got.contents), urisOf(whole.length === 1 ? whole : kept));
    }
    if (method === 'resources/metadata') return unequal('the resource', got.resource, able(full.resource as Resource));
    if (tool === undefined) {
      const page = (full.resources as readonly Resource[]).filter(somebody.sees).map(able);
      return full.nextCursor === undefined ? unequal('the list', got.resources, page) : [];
    }
    return [];
  }

  async function filtered(all: readonly Resource[], { about }: Somebody): Promise<readonly Resource[]> {
    const kept: Resource[] = [];
    for (const each of all) {
      const resource = await scene.matrix.lookedAt(each.uri);
      if (resource !== undefined && about('read', resource).effect === 'allow') kept.push(each);
    }
    return kept;
  }

  /** The resource with the capabilities that this caller may use. */
  function abilitiesOf(somebody: Somebody, entry: Resource): Resource {
    const { capabilities } = entry;
    if (capabilities === undefined) return entry;
    const may = (operation: AccessOperation): boolean => somebody.about(operation, entry).effect === 'allow';
    return {
      ...entry,
      capabilities: {
        ...capabilities,
        list: capabilities.list && may('list'),
        subscribe: capabilities.subscribe && may('subscribe'),
      },
    };
  }

  it('every subscription is answered as the decision function says [SEC-RES-2, RES-4]', async () => {
    const told = tally();
    const subscribed = async (url: string, ask: Ask, token: string | undefined, uri: string): Promise<Outcome> => {
      if (scene.era === 'legacy') return outcomeOf(await ask('resources/subscribe', { uri }));
      return (await honoured(url, token, [uri])).includes(uri) ? 'answered' : 'denied';
    };
    await inParallel([...URIS], async (uri) => {
      const without = await subscribed(scene.matrix.open.url, scene.anybody, undefined, uri);
      const missing = outcomeOf(await scene.anybody('resources/metadata', { uri }));
      const resource = await scene.matrix.lookedAt(uri);
      const mount = scene.matrix.bare.mountOf(uri);
      for (const { person, decide, ask, token } of scene.people) {
        const decision = decide({ operation: 'subscribe', uri: resource?.uri ?? uri, mount, resource });
        const beforehand = decide({ operation: 'subscribe', uri, mount });
        const expected = resource === undefined ? missing : expectedOf(without, decision);
        const challenged = scene.era === 'legacy' && beforehand.scopes !== undefined;
        const seen = challenged
          ? 'challenged'
          : scene.era === 'modern' && expected !== 'answered'
            ? 'denied'
            : expected;
        told.add(
          `${person.name} subscribes to ${uri}`,
          seen,
          await subscribed(scene.matrix.guarded.url, ask, token, uri),
        );
      }
    });
    expect(told.wrong).toEqual([]);
    expect(total(told)).toBe(URIS.length * PEOPLE.length);
  });
});
