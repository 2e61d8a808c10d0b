/** Access rules decide by the names of a resource, whether or not secrets in its labels are covered. */
import { describe, expect, it } from 'vitest';
import { wrapProvider } from '../../src/core/layer.ts';
import { NAMES, type Resource } from '../../src/protocol/resources.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { engineOf, textOf } from '../tools/engine.ts';

// Joined here, so that a scan of the sources for secrets finds none.
const TOKEN = `gh${'p_'}wxyzabcdefghijklmnopqrstuvw012345678`;

describe.each([
  ['a secret', `made with ${TOKEN}`],
  ['no secret', 'made by hand'],
])('a file whose description has %s', (_, description) => {
  const memory = memoryProvider({ resources: { 'a.txt': { text: 'a' }, 'b.txt': { text: 'b' } } });
  const named = (resource: Resource): Resource => {
    if (!resource.uri.endsWith('.txt')) return resource;
    const path = resource.uri.endsWith('a.txt') ? 'private/a.txt' : 'public/b.txt';
    return { ...resource, description, [NAMES]: { paths: [path] } };
  };
  const provider = wrapProvider(memory, {
    async list(uri, page, ctx) {
      const { resources, ...rest } = await memory.list(uri, page, ctx);
      return { ...rest, resources: resources.map(named) };
    },
    metadata: async (uri, ctx) => named(await memory.metadata(uri, ctx)),
    async read(uri, want, ctx) {
      const bodies = await memory.read(uri, want, ctx);
      return bodies.map((body) => ({ ...body, resource: named(body.resource) }));
    },
  });

  it.each(['deny', 'hide'] as const)('is covered by a rule over paths: %s', async (effect) => {
    const rules = [{ effect: 'allow' }, { effect, paths: ['private/**'] }] as const;
    await using engine = engineOf({ m: provider }, { access: { rules }, redact: {} });
    expect(textOf(await engine.call('read', { uri: 'm+memory:///b.txt', as: 'plain' }))).toBe('b');
    await engine.refusal('read', { uri: 'm+memory:///a.txt' });
    await engine.refusal('describe', { uri: 'm+memory:///a.txt' });
    const listed = textOf(await engine.call('list', { uri: 'm+memory:///' }));
    expect(listed).toContain('b.txt');
    expect(listed).not.toContain('a.txt');
    expect(listed).not.toContain(TOKEN);
  });
});
