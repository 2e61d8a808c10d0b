import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { memoryEngine, textOf, toolsOf } from '../../../test/tools/engine.ts';
import { defineTool } from '../../core/tool.ts';
import { TOOL_NAMES } from './names.ts';

const engine = (options = {}) => memoryEngine({ 'a.txt': { text: 'a' } }, options);

describe('the resource tools', () => {
  it('all exist, except the one for skills without skills, and are described for a model', async () => {
    await using own = engine();
    const described = await toolsOf(own.vitrine);
    expect(described.map(({ name }) => name).sort()).toEqual(TOOL_NAMES.filter((name) => name !== 'skill').sort());
    const ajv = new Ajv2020({ strict: false });
    for (const tool of described) {
      expect(tool.title).toMatch(/^[A-Z]/);
      expect(tool.description?.length).toBeGreaterThan(40);
      for (const schema of [tool.inputSchema, ...(tool.outputSchema === undefined ? [] : [tool.outputSchema])]) {
        expect(ajv.validateSchema(schema), JSON.stringify(ajv.errors)).toBe(true);
        expect(schema).toMatchObject({ type: 'object' });
      }
      expect(tool.inputSchema).toMatchObject({ additionalProperties: false });
      const properties = Object.values((tool.inputSchema.properties ?? {}) as Record<string, { description?: string }>);
      expect(properties.filter(({ description }) => description === undefined)).toEqual([]);
    }
  });

  it('have different icons of a few bytes [973-2]', async () => {
    await using own = engine();
    const icons = (await toolsOf(own.vitrine)).map((tool) => tool.icons ?? []);
    for (const [icon, ...others] of icons) {
      expect(others).toEqual([]);
      expect(icon).toMatchObject({ mimeType: 'image/svg+xml', sizes: ['any'] });
      const [head, data = ''] = icon?.src.split(',') ?? [];
      expect(head).toBe('data:image/svg+xml;base64');
      expect(Buffer.from(data, 'base64').toString('utf8')).toMatch(/^<svg xmlns="[^"]+" viewBox="0 0 16 16".*<\/svg>$/);
      expect(data.length).toBeLessThan(600);
    }
    expect(new Set(icons.map(([icon]) => icon?.src)).size).toBe(icons.length);
  });

  it('have annotations about their effects', async () => {
    await using own = engine();
    for (const { name, annotations } of await toolsOf(own.vitrine)) {
      const changes = /^(un)?subscribe/.test(name);
      expect(annotations).toMatchObject(
        changes
          ? { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false }
          : { readOnlyHint: true, openWorldHint: false },
      );
    }
  });

  it('take a prefix, in their texts, too', async () => {
    await using prefixed = engine({ resourceTools: { prefix: 'docs' } });
    const described = await toolsOf(prefixed.vitrine);
    expect(described.every(({ name }) => name.startsWith('docs_'))).toBe(true);
    expect(await prefixed.refusal('docs_read', { uri: 'm+memory:///nope' })).toContain('docs_list shows what there is');
    expect(textOf(await prefixed.call('docs_describe', { uri: 'm+memory:///a.txt' }))).toContain('Next: docs_read {');
    await expect(prefixed.call('read', { uri: 'm+memory:///a.txt' })).rejects.toThrow('no tool named "read"');
  });

  it('exist beside other tools, and a repeated name is refused', async () => {
    const own = (name: string) => defineTool({ name, inputSchema: { type: 'object' }, run: () => 'own' });
    await using both = engine({ tools: [own('greet')] });
    expect(textOf(await both.call('greet'))).toBe('own');
    expect(() => engine({ tools: [own('read')] })).toThrow('Two tools are named "read"');
    await using apart = engine({ tools: [own('read')], resourceTools: { prefix: 'x' } });
    expect(textOf(await apart.call('read'))).toBe('own');
    await using none = engine({ tools: [own('read')], resourceTools: false });
    expect(await toolsOf(none.vitrine)).toHaveLength(1);
  });

  it('refuse a prefix that makes invalid names, and a budget that is too small', () => {
    expect(() => engine({ resourceTools: { prefix: 'no spaces' } })).toThrow(/tool name/);
    expect(() => engine({ resourceTools: { outputBytes: 999 } })).toThrow('outputBytes is at least 1000');
    expect(() => engine({ resourceTools: { outputBytes: Number.NaN } })).toThrow('outputBytes');
  });

  it('never put more into a model’s context than the limit of one read', async () => {
    await using small = memoryEngine(
      { 'a.txt': { text: 'x'.repeat(6_000) } },
      { limits: { maxReadBytes: 5_000 }, resourceTools: { outputBytes: 100_000 } },
    );
    const result = await small.call('read', { uri: 'm+memory:///a.txt' });
    expect(result.structuredContent).toMatchObject({ parts: [{ bytes_returned: 2_500 }] });
  });
});
