/**
 * Everybody asks for everything in every way, and what comes of it is what the decision function says of each by itself:
 * allowed is answered as without rules, denied is denied, hidden is missing, and lists are the full ones without the rest.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccessDecision, AccessRequest } from '../../src/core/access.ts';
import { createContext } from '../../src/core/context.ts';
import type { AccessOperation } from '../../src/core/decided.ts';
import { type RulesPolicy, rulesPolicy } from '../../src/layers/access/index.ts';
import type { Resource } from '../../src/protocol/resources.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import type { Vitrine } from '../../src/vitrine.ts';
import { ERAS, type Era } from '../e2e/harness.ts';
import { type Ask, askerOf, honoured, type Reply } from './access/asking.ts';
import { expectedOf, type Outcome, outcomeOf } from './access/outcomes.ts';
import { makePlace, PAGE_SIZE, type Place } from './access/place.ts';
import { PEOPLE, type Person, principalOf, rulesFor, STATIC_TOKENS, tokenOf } from './access/rules.ts';
import { type Issuer, RESOURCE, startIssuer } from './authorization-servers.ts';

type Data = Readonly<Record<string, unknown>>;

/** One of every kind, as clients write it. */
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
  /** Asked about beforehand, for a challenge. */
  readonly challenges?: true;
  /** The tool that it goes through. */
  readonly tool?: string;
  /** For its title. */
  readonly more?: Data;
}

const byTool = (name: string, operation: AccessOperation, more: Data = {}): Way => ({
  method: 'tools/call',
  operation,
  tool: name,
  more,
  params: (uri) => ({ name, arguments: { uri, ...more } }),
});

/** Every way to a resource. */
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

const CALLS: readonly { readonly name: string; readonly arguments: Data }[] = [
  ...['roll', 'sum', 'wipe', 'wiki_echo', 'wiki_edit', 'wiki_wipe', 'nothing', 'wiki_nothing'].flatMap((name) =>
    [{}, { text: 'open', count: 13, loud: true }, { text: 'password', count: 17, loud: true }, { count: 2 }].map(
      (args) => ({
        name,
        arguments: args,
      }),
    ),
  ),
  ...['list', 'list_templates', 'list_subscriptions', 'subscribe_list_changes', 'unsubscribe_list_changes'].map(
    (name) => ({
      name,
      arguments: {},
    }),
  ),
  { name: 'unsubscribe', arguments: { uri: 'docs+file:///a.txt' } },
  { name: 'search', arguments: { pattern: 'text' } },
  { name: 'summarize', arguments: { uri: 'docs+file:///a.txt' } },
];

const PROMPTS = ['greet', 'hush', 'wiki_ask', 'wiki_tell', 'nothing', 'wiki_nothing'];

let place: Place;
let issuer: Issuer;
let policy: RulesPolicy;
let bare: Vitrine;
let ruled: Vitrine;
let open: HttpServing;
let guarded: HttpServing;

beforeAll(async () => {
  place = await makePlace();
  issuer = await startIssuer();
  policy = rulesPolicy(rulesFor(issuer.origin));
  bare = place.engine();
  ruled = place.engine(rulesFor(issuer.origin));
  open = await serveHttp(bare, { port: 0 });
  guarded = await serveHttp(ruled, {
    port: 0,
    auth: { resource: RESOURCE, anonymous: true, tokens: STATIC_TOKENS, issuers: [{ issuer: issuer.origin }] },
  });
});

afterAll(async () => {
  await Promise.all([open.close(), guarded.close()]);
  await Promise.all([bare.close(), ruled.close()]);
  await place[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const ctx = createContext();
const lookedAt = (uri: string): Promise<Resource | undefined> =>
  bare.provider.metadata(uri, ctx).catch(() => undefined);

interface Somebody {
  readonly person: Person;
  readonly token: string | undefined;
  readonly ask: Ask;
  /** What the policy says of a request, asked by itself. */
  decide(request: Omit<AccessRequest, 'principal'>): AccessDecision;
  about(operation: AccessOperation, resource: Resource): AccessDecision;
  /** Whether a list shows it. */
  sees(resource: Resource): boolean;
}

async function everybody(era: Era): Promise<readonly Somebody[]> {
  return Promise.all(
    PEOPLE.map(async (person): Promise<Somebody> => {
      const token = await tokenOf(person, issuer.forge);
      const principal = principalOf(person, issuer.origin);
      const decide: Somebody['decide'] = (request) => policy.decide({ ...request, principal });
      const about: Somebody['about'] = (operation, resource) =>
        decide({ operation, uri: resource.uri, mount: bare.mountOf(resource.uri), resource });
      return {
        person,
        token,
        ask: await askerOf(guarded.url, era, token),
        decide,
        about,
        sees: (resource) => about('list', resource).effect === 'allow',
      };
    }),
  );
}

const ALLOWED: AccessDecision = { effect: 'allow', rule: '' };

/** Runs all of them, a few at a time. */
async function inParallel<T>(all: readonly T[], run: (each: T) => Promise<void>): Promise<void> {
  const left = [...all].reverse();
  const worker = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await run(next);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** What came of each cell, and where it is not what it has to be. */
interface Tally {
  readonly wrong: string[];
  readonly outcomes: Map<string, number>;
  add(cell: string, expected: Outcome, got: Outcome): void;
}

function tally(): Tally {
  const wrong: string[] = [];
  const outcomes = new Map<string, number>();
  return {
    wrong,
    outcomes,
    add(cell, expected, got) {
      outcomes.set(expected, (outcomes.get(expected) ?? 0) + 1);
      if (expected !== got) wrong.push(`${cell}: ${got} instead of ${expected}`);
    },
  };
}

const total = ({ outcomes }: Tally): number => [...outcomes.values()].reduce((sum, each) => sum + each, 0);
const urisOf = (entries: unknown): string[] => (entries as readonly Resource[]).map(({ uri }) => uri);

describe.each(ERAS)('in the %s era', (era) => {
  let people: readonly Somebody[];
  let anybody: Ask;
  beforeAll(async () => {
    people = await everybody(era);
    anybody = await askerOf(open.url, era, undefined);
  });

  const all = tally();

  it.each(WAYS)('every resource is as it is decided: $method $tool $more [SEC-RES-2, SEC-TOOL-2]', async (way) => {
    const told = tally();
    await inParallel([...URIS], async (uri) => {
      const params = way.params(uri);
      const without = await anybody(way.method, params);
      const resource = await lookedAt(uri);
      const mount = bare.mountOf(uri);
      for (const somebody of people) {
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
  });

  it('no cell was left out, and every outcome is among them', () => {
    expect(total(all)).toBe(1_512);
    for (const outcome of ['answered', 'asked', 'challenged', 'denied', 'missing'])
      expect([outcome, all.outcomes.has(outcome)]).toEqual([outcome, true]);
  });

  /** Where an answer is more or less than the full one without what is not for this person. */
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
      const resource = await lookedAt(each.uri);
      if (resource !== undefined && about('read', resource).effect === 'allow') kept.push(each);
    }
    return kept;
  }

  /** As this person can use it. */
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

  it('every subscription is as it is decided [SEC-RES-2, RES-4]', async () => {
    const told = tally();
    const subscribed = async (url: string, ask: Ask, token: string | undefined, uri: string): Promise<Outcome> => {
      if (era === 'legacy') return outcomeOf(await ask('resources/subscribe', { uri }));
      return (await honoured(url, token, [uri])).includes(uri) ? 'answered' : 'denied';
    };
    await inParallel([...URIS], async (uri) => {
      const without = await subscribed(open.url, anybody, undefined, uri);
      const missing = outcomeOf(await anybody('resources/metadata', { uri }));
      const resource = await lookedAt(uri);
      const mount = bare.mountOf(uri);
      for (const { person, decide, ask, token } of people) {
        const decision = decide({ operation: 'subscribe', uri: resource?.uri ?? uri, mount, resource });
        const beforehand = decide({ operation: 'subscribe', uri, mount });
        const expected = resource === undefined ? missing : expectedOf(without, decision);
        const challenged = era === 'legacy' && beforehand.scopes !== undefined;
        const seen = challenged ? 'challenged' : era === 'modern' && expected !== 'answered' ? 'denied' : expected;
        told.add(`${person.name} subscribes to ${uri}`, seen, await subscribed(guarded.url, ask, token, uri));
      }
    });
    expect(told.wrong).toEqual([]);
    expect(total(told)).toBe(URIS.length * PEOPLE.length);
  });

  it('every call with every kind of argument is as it is decided [SEC-TOOL-2]', async () => {
    const told = tally();
    await inParallel(CALLS, async (call) => {
      const without = outcomeOf(await anybody('tools/call', call));
      for (const { person, decide, ask } of people) {
        const { mount, onlyResources } = bare.tools.ownerOf(call.name);
        const decision = decide({ operation: 'call', ...call, mount, onlyResources });
        const expected =
          call.name.endsWith('nothing') && decision.effect === 'allow'
            ? without
            : expectedOf('answered', decision, decision);
        const own = expected === 'answered' ? without : expected;
        told.add(`${person.name} calls ${JSON.stringify(call)}`, own, outcomeOf(await ask('tools/call', call)));
      }
    });
    expect(told.wrong).toEqual([]);
    expect(total(told)).toBe(CALLS.length * PEOPLE.length);
  });

  it('every prompt is got and completed as it is decided [SEC-PROMPT-2, SEC-UTIL-5]', async () => {
    const told = tally();
    await inParallel(PROMPTS, async (name) => {
      const get = { name, arguments: { who: 'you' } };
      const complete = { ref: { type: 'ref/prompt', name }, argument: { name: 'who', value: '' } };
      const got = outcomeOf(await anybody('prompts/get', get));
      const completed = outcomeOf(await anybody('completion/complete', complete));
      for (const { person, decide, ask } of people) {
        const { mount } = await bare.prompts.ownerOf(name, ctx);
        const decision = decide({ operation: 'prompt', name, mount });
        const outcome = (without: Outcome, beforehand?: AccessDecision): Outcome =>
          decision.effect === 'allow' ? without : expectedOf('answered', decision, beforehand);
        told.add(`${person.name} gets ${name}`, outcome(got, decision), outcomeOf(await ask('prompts/get', get)));
        told.add(
          `${person.name} completes ${name}`,
          outcome(completed),
          outcomeOf(await ask('completion/complete', complete)),
        );
      }
    });
    expect(told.wrong).toEqual([]);
    expect(total(told)).toBe(2 * PROMPTS.length * PEOPLE.length);
  });

  it('every template is completed as it is decided, with values that lead to what is seen [SEC-UTIL-5]', async () => {
    const told = tally();
    for (const { uri: template, variable, values } of [
      { uri: 'items+item:{id}', variable: 'id', values: ['', '7', '9'] },
      { uri: 'docs+file:///{+path}', variable: 'path', values: ['', 'dr', 'drafts/', 'guide/'] },
    ]) {
      for (const value of values) {
        const params = { ref: { type: 'ref/resource', uri: template }, argument: { name: variable, value } };
        const without = await anybody('completion/complete', params);
        for (const { person, decide, ask, sees } of people) {
          const cell = `${person.name} completes ${template} ${value}`;
          const decision = decide({
            operation: 'complete',
            uri: template,
            template: true,
            mount: bare.mountOf(template),
          });
          const reply = await ask('completion/complete', params);
          told.add(cell, expectedOf(outcomeOf(without), decision), outcomeOf(reply));
          if (decision.effect !== 'allow') continue;
          const all = ((without.result?.completion ?? {}) as { readonly values?: readonly string[] }).values ?? [];
          const kept: string[] = [];
          for (const each of all) {
            const resource = await lookedAt(
              template.replace(/\{.*\}/, each.split('/').map(encodeURIComponent).join('/')),
            );
            if (resource !== undefined && sees(resource)) kept.push(each);
          }
          const { values: given, total: count } = (reply.result?.completion ?? {}) as {
            values?: string[];
            total?: number;
          };
          if (JSON.stringify(given) !== JSON.stringify(kept) || (count !== undefined && count !== kept.length))
            told.wrong.push(`${cell}: ${given} of ${count} instead of ${kept}`);
        }
      }
    }
    expect(told.wrong).toEqual([]);
    expect(total(told)).toBe(7 * PEOPLE.length);
  });

  /** All pages; fails where one is not full, or the last one is empty or announces another one. */
  async function drained(ask: Ask, method: string, field: string, params: Data = {}): Promise<readonly Resource[]> {
    const pages: (readonly Resource[])[] = [];
    let cursor: unknown;
    do {
      const { result, text } = await ask(method, { ...params, ...(cursor !== undefined && { cursor }) });
      if (result === undefined) throw new Error(text);
      pages.push(result[field] as readonly Resource[]);
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    const sizes = pages.map((page) => page.length);
    const entries = pages.flat();
    const full = Math.max(1, Math.ceil(entries.length / PAGE_SIZE));
    // The list that goes down the tree ends with an empty page where the last folder has nothing to show.
    const walks = method === 'resources/list' && params.uri === undefined && sizes.at(-1) === 0;
    if (sizes.length !== full && !(walks && sizes.length === full + 1))
      throw new Error(`${method} ${JSON.stringify(params)}: pages of ${sizes.join()}`);
    return entries;
  }

  it('every list is the full one without what is not seen, in full pages [SEC-RES-2, SEC-TOOL-2, SEC-PROMPT-2]', async () => {
    const lists = [
      ...['docs+file:///', 'docs+file:///guide', 'notes+memory:///', 'notes+memory:///deep'].map((uri) => ({
        method: 'resources/list',
        field: 'resources',
        params: { uri },
      })),
      { method: 'resources/list', field: 'resources', params: {} },
      { method: 'resources/templates/list', field: 'resourceTemplates', params: {} },
      { method: 'tools/list', field: 'tools', params: {} },
      { method: 'prompts/list', field: 'prompts', params: {} },
    ];
    let compared = 0;
    for (const { method, field, params } of lists) {
      const all = await drained(anybody, method, field, params);
      for (const { person, ask, decide, sees, about } of people) {
        const { uri } = params as { readonly uri?: string };
        const top = uri === undefined ? undefined : await lookedAt(uri);
        compared++;
        if (top !== undefined && about('list', top).effect !== 'allow') continue;
        const known = new Map(all.map((each) => [each.uri, each]));
        const reachable = (each: Resource): boolean =>
          sees(each) && above(each.uri).every((folder) => sees(known.get(folder) ?? each));
        const may = (operation: 'call' | 'prompt', name: string, mount: string | undefined): boolean =>
          ['allow', 'ask'].includes(
            decide({
              operation,
              name,
              mount,
              ...(operation === 'call' && { onlyResources: bare.tools.ownerOf(name).onlyResources }),
            }).effect,
          );
        const kept: unknown[] = [];
        for (const each of all) {
          const { name, uriTemplate } = each as Resource & { readonly uriTemplate?: string };
          const shown =
            field === 'tools'
              ? may('call', name, bare.tools.ownerOf(name).mount)
              : field === 'prompts'
                ? may('prompt', name, (await bare.prompts.ownerOf(name, ctx)).mount)
                : uriTemplate !== undefined
                  ? decide({ operation: 'list', uri: uriTemplate, template: true, mount: bare.mountOf(uriTemplate) })
                      .effect === 'allow'
                  : reachable(each);
          if (shown) kept.push(uriTemplate ?? each.uri ?? name);
        }
        const got = await drained(ask, method, field, params);
        const keys = got.map((each) => (each as { uriTemplate?: string }).uriTemplate ?? each.uri ?? each.name);
        expect({ who: person.name, method, params, list: keys }).toEqual({
          who: person.name,
          method,
          params,
          list: kept,
        });
      }
    }
    expect(compared).toBe(lists.length * PEOPLE.length);
  });

  /** The folders that one goes through to get there by browsing. */
  function above(uri: string): readonly string[] {
    const [, root, path = ''] = /^((?:docs\+file|notes\+memory):\/\/\/)(.*)$/.exec(uri) ?? [];
    if (root === undefined || path === '') return [];
    const names = path.split('/').slice(0, -1);
    return [root, ...names.map((_, index) => root + names.slice(0, index + 1).join('/'))];
  }

  it('every search finds what may be read, and no list tool shows more than the lists [SEC-RES-2]', async () => {
    const call = async (ask: Ask, name: string, args: Data): Promise<Data | undefined> =>
      (await ask('tools/call', { name, arguments: args })).result?.structuredContent as Data | undefined;
    const found = (answer: Data | undefined): string[] => [
      ...new Set(
        JSON.stringify(answer ?? {}).match(/(?:docs\+file|notes\+memory|wiki\+memory|items\+item):[^"\\]*/g) ?? [],
      ),
    ];
    const everything = found(await call(anybody, 'search', { pattern: 'text' }));
    expect(everything.length).toBeGreaterThan(10);
    for (const { person, ask, decide, about } of people) {
      if (decide({ operation: 'call', name: 'search', arguments: {}, onlyResources: true }).effect !== 'allow')
        continue;
      const readable: string[] = [];
      for (const uri of everything) {
        const resource = await lookedAt(uri);
        if (resource !== undefined && about('read', resource).effect === 'allow') readable.push(uri);
      }
      expect({ who: person.name, found: found(await call(ask, 'search', { pattern: 'text' })).sort() }).toEqual({
        who: person.name,
        found: readable.sort(),
      });
      const listed = urisOf(await drained(ask, 'resources/list', 'resources'));
      const shown: string[] = [];
      let cursor: unknown;
      do {
        const page = await call(ask, 'list', cursor === undefined ? {} : { cursor });
        shown.push(...urisOf(page?.resources));
        cursor = page?.nextCursor;
      } while (cursor !== undefined);
      expect({ who: person.name, shown }).toEqual({ who: person.name, shown: listed });
    }
  });
});
