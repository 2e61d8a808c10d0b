/** Lists that never end: the library and the commands end by themselves, and say so. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResourceClient, type ResourceClient } from '../../src/client/index.ts';
import { run } from '../cli/client/run.ts';
import { ERAS, type Era } from '../e2e/harness.ts';
import { type Answers, all, eraOf, type Params, type Scripted, scripted } from './scripted.ts';

const SEP_2093 = { resources: {}, extensions: { 'vitrine/resource-metadata': {} } };
const EVERYTHING = { ...SEP_2093, tools: {}, prompts: {} };

/** The most requests for the pages of one list: a hundred pages without anything new, and a few before and ahead of them. */
const MOST_OF_LIST = 110;

/** The most requests of a walk: a thousand empty pages, those requested ahead, and the pages of its containers. */
const MOST_OF_WALK = 1_400;

const folder = (uri: string): object => ({
  uri,
  name: uri.slice(uri.lastIndexOf('/') + 1) || uri,
  mimeType: 'inode/directory',
  capabilities: { list: true, subscribe: false },
});

let count = 0;
const fresh = (): string => `cursor-${++count}`;

/** Kinds of endless lists. Each gives the entries of a page, and the cursor of the next page. */
const ENDLESS: Readonly<
  Record<string, (params: Params) => { readonly ids: readonly string[]; readonly cursor: string }>
> = {
  'empty pages': () => ({ ids: [], cursor: fresh() }),
  'the same page': () => ({ ids: ['a', 'b'], cursor: fresh() }),
  'pages of duplicates in other orders': ({ cursor }) => ({
    ids: cursor === undefined ? ['a', 'b'] : ['b', 'a'],
    cursor: fresh(),
  }),
  'growing pages of the same': () => ({ ids: Array.from({ length: ++count % 200 }, () => 'a'), cursor: fresh() }),
  'growing cursors': () => ({ ids: ['a'], cursor: fresh().padEnd(100 + (++count % 5_000), 'x') }),
};

const listing =
  (
    page: (params: Params) => { ids: readonly string[]; cursor: string },
    field: string,
    entry: (id: string) => object,
  ) =>
  (params: Params) => {
    const { ids, cursor } = page(params);
    return { [field]: ids.map(entry), nextCursor: cursor };
  };

type Against = (
  answers: Answers,
  work: (resources: ResourceClient, server: Scripted) => Promise<void>,
  capabilities?: Readonly<Record<string, unknown>>,
) => Promise<void>;

const againstIn =
  (era: Era): Against =>
  async (answers, work, capabilities = SEP_2093) => {
    await using server = await scripted(answers, capabilities);
    await using resources = createResourceClient({ url: server.url, fetch: server.fetch, ...eraOf[era] });
    await work(resources, server);
  };

describe.each(ERAS)('in the %s era', (era) => {
  const against = againstIn(era);

  describe.each(Object.entries(ENDLESS))('a list with %s', (_, page) => {
    const entry = (id: string): object => ({ uri: `x:///${id}`, name: id });

    it('ends with a reason [2093-10]', async () => {
      await against({ 'resources/list': listing(page, 'resources', entry) }, async (resources, server) => {
        for (const uri of [undefined, 'x:///']) {
          const before = server.count('resources/list');
          const list = resources.list(uri);
          await all(list);
          expect(list.report.stopped).toBe('no-progress');
          expect(server.count('resources/list') - before).toBeLessThan(MOST_OF_LIST);
        }
      });
    });

    it('ends when children are searched in the whole list', async () => {
      const flat = listing(page, 'resources', (id) => ({ uri: `x:///in/${id}`, name: id }));
      await against(
        { 'resources/list': flat },
        async (resources, server) => {
          const list = resources.list('x:///in');
          const failed = await all(list).then(
            () => undefined,
            (error: unknown) => error,
          );
          if (failed === undefined) expect(list.report.stopped).toBe('no-progress');
          else expect(failed).toMatchObject({ code: 'not-found' });
          expect(server.count('resources/list')).toBeLessThan(2 * MOST_OF_LIST);
        },
        { resources: {} },
      );
    });

    it('ends when it is searched for one resource', async () => {
      await against(
        { 'resources/list': listing(page, 'resources', entry) },
        async (resources, server) => {
          await expect(resources.metadata('x:///z')).rejects.toMatchObject({ name: 'ResourceClientError' });
          expect(server.count('resources/list')).toBeLessThan(MOST_OF_LIST);
        },
        { resources: {} },
      );
    });

    it('of templates ends with a reason', async () => {
      const templates = listing(page, 'resourceTemplates', (id) => ({ uriTemplate: `x:///${id}/{y}`, name: id }));
      await against({ 'resources/templates/list': templates }, async (resources, server) => {
        const list = resources.templates();
        await all(list);
        expect(list.report).toMatchObject({ stopped: 'no-progress' });
        expect(server.count('resources/templates/list')).toBeLessThan(MOST_OF_LIST);
      });
    });
  });

  it('a repeated cursor ends a list of templates, and too long a cursor is an error', async () => {
    const circle = ({ cursor }: Params) => ({
      resourceTemplates: [{ uriTemplate: `x:///${String(cursor)}`, name: 'x' }],
      nextCursor: cursor === 'a' ? 'b' : 'a',
    });
    await against({ 'resources/templates/list': circle }, async (resources) => {
      const list = resources.templates();
      expect(await all(list)).toHaveLength(3);
      expect(list.report).toMatchObject({ stopped: 'repeated-cursor', pages: 3 });
    });
    const long = () => ({ resourceTemplates: [], nextCursor: 'x'.repeat(70_000) });
    await against({ 'resources/templates/list': long }, async (resources) => {
      await expect(all(resources.templates())).rejects.toMatchObject({ code: 'invalid-answer' });
    });
  });

  it('pages with new entries are all taken, even between many empty ones', async () => {
    const sparse = ({ cursor = '0' }: Params) => {
      const at = Number(cursor);
      const resources = at % 90 === 0 ? [{ uri: `x:///${at}`, name: 'x' }] : [];
      return at === 900 ? { resources } : { resources, nextCursor: String(at + 1) };
    };
    await against({ 'resources/list': sparse }, async (resources) => {
      const list = resources.list();
      expect(await all(list)).toHaveLength(11);
      expect(list.report).toMatchObject({ stopped: 'end', pages: 901, fruitless: 890 });
    });
  });
});

/**
 * A walk uses the pages of lists, which the tests above cover in both eras. So each kind of endless list is tested with a walk in
 * only one of the eras.
 */
describe.each(
  Object.entries(ENDLESS).map(([kind, page], index) => ({ kind, page, era: ERAS[index % ERAS.length] ?? 'modern' })),
)('a list with $kind in every container of a tree, in the $era era', ({ page, era }) => {
  it('ends the walk [2093-10]', async () => {
    // Each container has two folders of its own, beside the entries of the endless list.
    const tree = (params: Params) => {
      const { ids, cursor } = page(params);
      const uri = String(params.uri ?? 'x:///').replace(/\/+$/, '');
      const own = params.cursor === undefined ? [`${uri}/deep`, `${uri}/wide`] : [];
      return { resources: [...own, ...ids.map((id) => `${uri}/${id}`)].map(folder), nextCursor: cursor };
    };
    await againstIn(era)({ 'resources/list': tree }, async (resources, server) => {
      const walk = resources.walk('x:///');
      await all(walk);
      expect(walk.report).toMatchObject({ complete: false, stopped: { 'no-progress': expect.any(Number) } });
      expect(server.count('resources/list')).toBeLessThan(MOST_OF_WALK);
    });
  });
});

describe('commands with a server whose lists never end', () => {
  let server: Scripted;
  let place: string;
  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'vitrine-endless-'));
    const empty = (field: string) => () => ({ [field]: [], nextCursor: fresh() });
    server = await scripted(
      {
        'resources/list': ({ uri = 'x:///', cursor }) => ({
          resources: cursor === undefined ? [folder(`${String(uri).replace(/\/+$/, '')}/deep`)] : [],
          nextCursor: fresh(),
        }),
        'resources/templates/list': empty('resourceTemplates'),
        'tools/list': empty('tools'),
        'prompts/list': empty('prompts'),
      },
      EVERYTHING,
    );
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await rm(place, { recursive: true, force: true });
  });

  it.each<[string, readonly string[]]>([
    ['ls', []],
    ['ls', ['x:///a']],
    ['ls', ['--all']],
    ['ls', ['-R']],
    ['ls', ['-R', '--max-resources', '100000']],
    ['tree', []],
    ['tree', ['--json']],
    ['get', ['--to', 'target']],
    ['templates', []],
    ['tools', []],
    ['tools', ['--json']],
    ['tools', ['a-tool']],
    ['call', ['a-tool']],
    ['prompts', []],
    ['prompts', ['a-prompt']],
  ])('%s %j ends with the status for incomplete results', async (command, args) => {
    const given = args.map((each) => (each === 'target' ? join(place, each) : each));
    const { status, stderr } = await run([command, server.url, ...given]);
    expect(stderr).toContain('the server sends page after page with nothing new');
    expect(status).toBe(7);
  });

  it('grep ends, and says that it has not searched everything', async () => {
    const { status, stderr } = await run(['grep', server.url, 'x', '--read']);
    expect(stderr).toContain('the server sends page after page with nothing new');
    expect(status).toBe(7);
  });
});
