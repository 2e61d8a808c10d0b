import { describe, expect, it } from 'vitest';
import { type Context, createContext, type Log, SILENT } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import { pageAcross } from '../core/lists/across.ts';
import type { ServerFeatures } from '../core/mounts/mounted-server.ts';
import type { PublishedServer } from '../core/mounts/published-server.ts';
import { createNotes } from '../core/notes.ts';
import { createServerRoutes } from './server-routes.ts';

const ctx = createContext();
const OWN = { ttlMs: 0, cacheScope: 'private' } as const;
const ALL: ServerFeatures = { tools: true, prompts: true, completion: true };

const unused = (): never => {
  throw new Error('Not asked for here');
};

/** A published server of a mount; without a prefix if that is empty. */
const serverOf = (mount: string, prefix = `${mount}_`, parts: Partial<PublishedServer> = {}): PublishedServer => ({
  mount,
  prefix,
  features: ALL,
  listTools: unused,
  callTool: unused,
  listPrompts: unused,
  getPrompt: unused,
  completePrompt: unused,
  watch: unused,
  ...parts,
});

const a = serverOf('a');
const dotted = serverOf('a.b-c');
const bare = serverOf('bare', '');

describe('the server of a name [CB-1]', () => {
  it('is found by the part before the first underscore', () => {
    const routes = createServerRoutes('tools', [a, dotted], ['read']);
    expect(routes.find('a_x')).toBe(a);
    expect(routes.find('a_b_c')).toBe(a);
    expect(routes.find('a_')).toBe(a);
    expect(routes.find('a.b-c_x')).toBe(dotted);
    for (const name of ['read', 'a', 'b_x', 'A_x', '_a_x', '', 'a.b_x']) expect(routes.find(name)).toBeUndefined();
  });

  it('is the one without a prefix if no other one has the name', () => {
    const routes = createServerRoutes('tools', [a, bare], ['read', 'list_templates']);
    expect(routes.find('a_x')).toBe(a);
    for (const name of ['x', 'b_x', 'list', '_', '']) expect(routes.find(name)).toBe(bare);
    for (const name of ['read', 'list_templates']) expect(routes.find(name)).toBeUndefined();
  });
});

describe('ambiguous names are refused in a configuration', () => {
  it('of two servers without a prefix', () => {
    for (const kind of ['tools', 'prompts'] as const) {
      expect(() => createServerRoutes(kind, [bare, a, serverOf('other', '')], [])).toThrow(
        expect.objectContaining({
          code: 'invalid',
          message: expect.stringMatching(/"bare" and "other".*prefix: none/),
        }),
      );
    }
  });

  it('of a server, and own names that begin with its prefix', () => {
    expect(() => createServerRoutes('tools', [a], ['read', 'a_read'])).toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: expect.stringMatching(/mount "a".*"a_read".*resource tools/),
      }),
    );
    expect(() => createServerRoutes('prompts', [a], ['a_greet'])).toThrow(
      /prompts of mount "a".*"a_greet"; rename one$/,
    );
    expect(() => createServerRoutes('tools', [a, bare], ['a', 'ab_x', 'b_a_'])).not.toThrow();
  });
});

describe('the lists of all servers', () => {
  const named = (...names: string[]) => names.map((name) => ({ name }));
  const listed: Record<string, { name: string }[]> = {
    a: named('a_1', 'a_2'),
    'a.b-c': named('a.b-c_1'),
    bare: named('x', 'a_1', 'read', 'b_x', 'now'),
  };
  const pageOf = async (server: PublishedServer) => ({ items: listed[server.mount] ?? [] });

  it('leave out names that belong to another server, and report them in the answer and the log', async () => {
    const warned: unknown[] = [];
    const log: Log = { ...SILENT, warn: (_message, fields) => void warned.push(fields) };
    const notes = createNotes();
    const routes = createServerRoutes('tools', [a, dotted, bare], ['read'], async () => ['now']);
    const page = await pageAcross(routes.sources(pageOf), { limit: 100 }, { ...ctx, log, notes });
    expect(page.items.map(({ described }) => described.name)).toEqual(['a_1', 'a_2', 'a.b-c_1', 'x', 'b_x']);
    const left = ['a_1', 'read', 'now'];
    expect(warned).toEqual(left.map((name) => ({ mount: 'bare', name })));
    expect(notes.finish({}, OWN)).toMatchObject({
      _meta: {
        'vitrine/missing': left.map((name) => ({ mount: 'bare', entry: name })),
      },
    });
    // A call reaches the tool that the list shows.
    for (const { described, owner } of page.items) {
      expect(owner).toEqual({ mount: routes.find(described.name)?.mount, foreign: true });
      expect(listed[owner.mount ?? '']).toContainEqual(described);
    }
  });

  it('ask no server that has none of the kind', async () => {
    const features = { ...ALL, tools: false };
    const none = serverOf('none', 'none_', { features });
    const routes = createServerRoutes('tools', [none], []);
    expect(routes.some).toBe(false);
    expect(await pageAcross(routes.sources(unused), { limit: 1 }, ctx)).toMatchObject({ items: [] });
    expect(createServerRoutes('prompts', [none], []).some).toBe(true);
    expect(createServerRoutes('tools', [none, a], []).some).toBe(true);
    expect(createServerRoutes('tools', [], []).some).toBe(false);
  });

  it('are complete except for a server that fails', async () => {
    const routes = createServerRoutes('tools', [a, dotted], []);
    const sources = routes.sources(async (server) => {
      if (server === a) throw new ResourceError('unavailable', 'Not now');
      return pageOf(server);
    });
    const notes = createNotes();
    const first = await pageAcross(sources, { limit: 9 }, { ...ctx, notes });
    const rest = await pageAcross(sources, { limit: 9, cursor: first.nextCursor }, ctx);
    expect([...first.items, ...rest.items].map(({ described }) => described)).toEqual(listed['a.b-c']);
    expect(notes.finish({}, OWN)).toMatchObject({ _meta: { 'vitrine/missing': [{ mount: 'a', reason: 'Not now' }] } });
  });
});

describe('changes of the lists', () => {
  it('are reported by all servers that can, and by none afterwards; the log names the others', async () => {
    const watched: unknown[] = [];
    const ended: string[] = [];
    const warned: unknown[] = [];
    const log: Log = { ...SILENT, warn: (_message, fields) => void warned.push(fields) };
    const watching = (mount: string): PublishedServer =>
      serverOf(mount, `${mount}_`, {
        async watch(list, onChange, context: Context) {
          watched.push(list, context.requestId);
          onChange();
          return { [Symbol.asyncDispose]: async () => void ended.push(mount) };
        },
      });
    const broken = new Error('cannot');
    const failing = serverOf('c', 'c_', { watch: () => Promise.reject(broken) });
    const routes = createServerRoutes('prompts', [watching('a'), failing, watching('b')], []);
    let told = 0;
    const handle = await routes.watch(() => told++, { ...ctx, log });
    expect(told).toBe(2);
    expect(watched).toEqual(['prompts', ctx.requestId, 'prompts', ctx.requestId]);
    expect(warned).toEqual([{ error: broken }]);
    await handle[Symbol.asyncDispose]();
    expect(ended).toEqual(['a', 'b']);
  });
});
