/** Laws of resource templates and of the completion of their variables (RES-3, SEC-UTIL-5). */
import assert from 'node:assert/strict';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { CompletionRequest, CompletionValues, ResourceProvider } from '../../core/provider.ts';
import { parseUriTemplate, type UriTemplate } from '../../core/uri-template.ts';
import type { Resource, ResourceTemplate } from '../../protocol/resources.ts';
import type { ProviderFixture } from '../fixture.ts';
import type { ProviderLaw } from '../law.ts';
import { drain, PAGE_SIZES, refusal, thrownBy } from '../observe.ts';

/** How many levels of completions are followed, as by a user who goes down a tree. */
const DEPTH = 3;

/** The most completions that are followed on each level. */
const WIDTH = 40;

const LIMIT = 100;

export const templateLaws: readonly ProviderLaw[] = [
  {
    name: 'templates are the same in pages of any size, have names, and parse [RES-3]',
    feature: 'templates',
    async check(fixture) {
      const templates = await listTemplates(fixture.provider, 100);
      assert.ok(templates.length > 0, 'The provider declares templates, but lists none');
      for (const { uriTemplate, name } of templates) {
        assert.ok(name.length > 0, `${uriTemplate} has no name`);
        assert.ok(parseUriTemplate(uriTemplate).variables.length > 0, `${uriTemplate} has no variable`);
      }
      for (const size of PAGE_SIZES) assert.deepEqual(await listTemplates(fixture.provider, size), templates);
    },
  },
  {
    name: 'each completed value expands to a URI that can be described, and read or listed [RES-3]',
    feature: 'completion',
    async check(fixture) {
      let reached = 0;
      for (const { uriTemplate } of await listTemplates(fixture.provider, 100)) {
        reached += await followCompletions(fixture, parseUriTemplate(uriTemplate));
      }
      assert.ok(reached > 0, 'No completion of any template led to a resource');
    },
  },
  {
    name: 'completion stays within its limit, says when there is more, and goes on with what was typed [SEC-UTIL-5]',
    feature: 'completion',
    async check(fixture) {
      for (const { uriTemplate } of await listTemplates(fixture.provider, 100)) {
        const [variable = ''] = parseUriTemplate(uriTemplate).variables;
        const all = await complete(fixture.provider, { uriTemplate, variable });
        assert.equal(new Set(all.values).size, all.values.length, 'A completion is offered twice');
        if (all.values.length < 2) continue;
        const one = await complete(fixture.provider, { uriTemplate, variable, limit: 1 });
        assert.deepEqual(one.values, all.values.slice(0, 1), 'With limit 1');
        assert.equal(one.hasMore, true, 'With limit 1, `hasMore` is not true');
        for (const value of all.values.slice(0, WIDTH)) {
          const typed = value.slice(0, Math.ceil(value.length / 2));
          if (/%[0-9A-F]?$/i.test(typed)) continue;
          const narrowed = await complete(fixture.provider, { uriTemplate, variable, value: typed });
          assert.ok(narrowed.hasMore || narrowed.values.includes(value), `${value} does not complete ${typed}`);
        }
      }
    },
  },
  {
    name: 'a completion of something that does not exist is refused with a ResourceError, or gives nothing',
    feature: 'completion',
    async check({ provider }) {
      const [template] = await listTemplates(provider, 100);
      assert.ok(template !== undefined, 'The provider declares completion, but has no templates');
      const { uriTemplate } = template;
      const [variable = ''] = parseUriTemplate(uriTemplate).variables;
      for (const request of [
        { uriTemplate: `${uriTemplate}x`, variable },
        { uriTemplate: 'nowhere:///{+path}', variable: 'path' },
        { uriTemplate: '{', variable: '' },
        { uriTemplate, variable: 'no-such-variable' },
        { uriTemplate, variable, value: '\u0000' },
        { uriTemplate, variable, value: '../../' },
        { uriTemplate, variable, value: '%' },
        { uriTemplate, variable, value: '\ud800' },
      ]) {
        const error = await thrownBy(() => complete(provider, request));
        assert.ok(error === undefined || error instanceof ResourceError, `${JSON.stringify(request)} threw ${error}`);
      }
      const nothing = await complete(provider, { uriTemplate, variable, value: 'nothing-has-this-name' });
      assert.deepEqual({ ...nothing, total: 0 }, { values: [], hasMore: false, total: 0 });
    },
  },
];

/** All templates that a provider lists. */
export async function listTemplates(provider: ResourceProvider, limit: number): Promise<ResourceTemplate[]> {
  return await drain(async (page) => {
    const templates = await provider.listTemplates?.(page, createContext());
    return { items: templates?.resourceTemplates ?? [], nextCursor: templates?.nextCursor };
  }, limit);
}

function complete(
  provider: ResourceProvider,
  request: Pick<CompletionRequest, 'uriTemplate' | 'variable'> & Partial<CompletionRequest>,
): Promise<CompletionValues> {
  assert.ok(provider.complete !== undefined, 'The provider declares completion, but has no `complete`');
  return provider.complete({ value: '', known: {}, limit: LIMIT, ...request }, createContext());
}

/** Completes all variables but the last with their first value. Follows the values of the last one, level by level. */
async function followCompletions({ provider }: ProviderFixture, template: UriTemplate): Promise<number> {
  const uriTemplate = template.text;
  const known: Record<string, string> = {};
  for (const variable of template.variables.slice(0, -1)) {
    const { values } = await complete(provider, { uriTemplate, variable, known });
    const [first] = values;
    if (first === undefined) return 0;
    known[variable] = first;
  }
  const last = template.variables.at(-1);
  if (last === undefined) return 0;
  let typed: readonly string[] = [''];
  let reached = 0;
  for (let depth = 0; depth < DEPTH; depth++) {
    const found = new Set<string>();
    for (const value of typed) {
      const { values } = await complete(provider, { uriTemplate, variable: last, value, known });
      for (const each of values) if (each !== value) found.add(each);
    }
    for (const value of found) {
      await reach(provider, template, { ...known, [last]: value });
      reached++;
    }
    typed = [...found].slice(0, WIDTH);
  }
  return reached;
}

/** Checks one expansion: the URI matches its template, has metadata, and can be listed or read. */
async function reach(
  provider: ResourceProvider,
  template: UriTemplate,
  variables: Readonly<Record<string, string>>,
): Promise<Resource> {
  const ctx = createContext();
  const uri = template.expand(variables);
  assert.ok(template.match(uri) !== undefined, `${uri} does not match ${template.text}, of which it is an expansion`);
  const resource = await provider.metadata(uri, ctx);
  if (resource.capabilities?.list) {
    await provider.list(uri, { limit: 1 }, ctx);
  } else {
    await refusal(() => provider.list(uri, { limit: 1 }, ctx), ['not-listable'], `Listing the leaf ${uri}`);
    const bodies = await provider.read(uri, { maxBytes: 64 * 1024 * 1024, maxChildren: 1 }, ctx);
    for (const body of bodies) await body.close?.();
  }
  return resource;
}
