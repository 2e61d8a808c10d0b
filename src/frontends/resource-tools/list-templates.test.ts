import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { engineOf, structured, textOf } from '../../../test/tools/engine.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { Page, ResourceProvider, TemplatePage } from '../../core/provider.ts';
import type { ResourceTemplate } from '../../protocol/resources.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { templateInput } from './template-input.ts';

interface Answer {
  readonly resourceTemplates: readonly (ResourceTemplate & { readonly inputSchema?: object })[];
  readonly nextCursor?: string;
}

/** A provider with these templates, one page at a time. */
function withTemplates(templates: readonly string[]): ResourceProvider {
  return wrapProvider(memoryProvider(), {
    async listTemplates({ cursor, limit }: Page): Promise<TemplatePage> {
      const start = cursor === undefined ? 0 : Number(cursor);
      const shown = templates.slice(start, start + limit);
      const end = start + shown.length;
      return {
        resourceTemplates: shown.map((uriTemplate) => ({ uriTemplate, name: `T ${uriTemplate}` })),
        nextCursor: end < templates.length ? String(end) : undefined,
      };
    },
  });
}

describe('the input schema of a template [CB-2]', () => {
  it.each([
    ['file:///{+path}', ['path'], ['path']],
    ['db:///{table}/{id}', ['table', 'id'], ['table', 'id']],
    ['web:///search{?q,page}', ['q', 'page'], []],
    ['x:{a}{/b}{;c}{.d}{#e}{&f}', ['a', 'b', 'c', 'd', 'e', 'f'], ['a']],
    ['x:{a}{?a}', ['a'], ['a']],
    ['x:plain', [], []],
  ])('%s has the variables %j and needs %j', (template, variables, required) => {
    const schema = templateInput(template);
    expect(Object.keys(schema?.properties ?? {})).toEqual(variables);
    expect(schema).toMatchObject({ type: 'object', required, additionalProperties: false });
  });

  it('says that exploded variables may be lists, and gives the length of prefixes', () => {
    expect(templateInput('x:{a*}{b:3}{c}')?.properties).toEqual({
      a: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      b: { type: 'string', maxLength: 3 },
      c: { type: 'string' },
    });
    // The variable is also written without a prefix, so it has no limit.
    expect(templateInput('x:{b:3}/{b}')?.properties).toEqual({ b: { type: 'string' } });
  });

  it('is valid JSON Schema 2020-12', () => {
    const ajv = new Ajv2020();
    const validate = ajv.compile(templateInput('x:{a*}{b:3}{?c}') ?? {});
    expect(validate({ a: ['x'], b: 'abc' })).toBe(true);
    expect(validate({ a: 'x' })).toBe(false);
    expect(validate({ a: 'x', b: 'abcd' })).toBe(false);
    expect(validate({ a: 'x', b: 'abc', other: 'x' })).toBe(false);
  });

  it('does not exist for an invalid template', () => {
    expect(templateInput('x:{unclosed')).toBeUndefined();
  });
});

describe('the list_templates tool [CB-2]', () => {
  it('shows the templates of all mounts, or of one, with their variables', async () => {
    await using engine = engineOf({
      docs: memoryProvider({ name: 'docs' }),
      db: withTemplates(['row:///{table}/{id}', 'row:///{broken']),
    });
    const all = await engine.call('list_templates');
    expect(structured<Answer>(all).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      ...['docs+memory:///{+path}', 'db+row:///{table}/{id}', 'db+row:///{broken'],
    ]);
    expect(textOf(all)).toBe(
      'docs+memory:///{+path}  docs by path  variables: path\n' +
        'db+row:///{table}/{id}  T row:///{table}/{id}  variables: table, id\n' +
        'db+row:///{broken  T row:///{broken  variables: none\n3 templates. That is all.',
    );
    const one = structured<Answer>(await engine.call('list_templates', { mount: 'db' }));
    expect(one.resourceTemplates).toHaveLength(2);
    expect(one.resourceTemplates[0]?.inputSchema).toMatchObject({ required: ['table', 'id'] });
    expect(one.resourceTemplates[1]).not.toHaveProperty('inputSchema');
    expect(await engine.refusal('list_templates', { mount: 'nope' })).toContain('there are: docs, db');
  });

  it.each([{}, { mount: 'b' }])('gives all pages without loss, within the budget: %j [SEC-TOOL-3]', async (args) => {
    const templates = Array.from({ length: 230 }, (_, index) => `x:///${'long/'.repeat(5)}${index}/{id}`);
    await using engine = engineOf(
      { a: memoryProvider(), b: withTemplates(templates) },
      { resourceTools: { outputBytes: 5_000 } },
    );
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | undefined; ; ) {
      const result = await engine.call('list_templates', { ...args, ...(cursor !== undefined && { cursor }) });
      expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(5_000);
      expect(Buffer.byteLength(JSON.stringify(result.structuredContent))).toBeLessThanOrEqual(5_000);
      const page = structured<Answer>(result);
      found.push(...page.resourceTemplates.map(({ uriTemplate }) => uriTemplate));
      pages++;
      cursor = page.nextCursor;
      if (cursor === undefined) break;
      expect(textOf(result)).toContain('More: list_templates {');
    }
    expect(found.filter((uri) => uri.startsWith('b+'))).toEqual(templates.map((template) => `b+${template}`));
    expect(pages).toBeGreaterThan(3);
  });
});
