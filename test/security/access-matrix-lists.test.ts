/** Every caller lists and searches. Each list is the full list without the entries that the decision function denies the caller. */
import { expect, it } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import type { Resource } from '../../src/protocol/resources.ts';
import type { Ask } from './access/asking.ts';
import { type Data, inEachEra, urisOf } from './access/matrix.ts';
import { PAGE_SIZE } from './access/place.ts';
import { PEOPLE } from './access/rules.ts';

const ctx = createContext();

/** Gives all pages. Fails if a page is not full, or if the last one is empty or has a cursor. */
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
  // The list that walks down the tree ends with an empty page if the last folder has nothing to show.
  const walks = method === 'resources/list' && params.uri === undefined && sizes.at(-1) === 0;
  if (sizes.length !== full && !(walks && sizes.length === full + 1))
    throw new Error(`${method} ${JSON.stringify(params)}: pages of ${sizes.join()}`);
  return entries;
}

/** The folders on the way to a resource, which the caller has to browse through. */
function above(uri: string): readonly string[] {
  const [, root, path = ''] = /^((?:docs\+file|notes\+memory):\/\/\/)(.*)$/.exec(uri) ?? [];
  if (root === undefined || path === '') return [];
  const names = path.split('/').slice(0, -1);
  return [root, ...names.map((_, index) => root + names.slice(0, index + 1).join('/'))];
}

inEachEra((scene) => {
  it('every list is the full list without hidden entries, in full pages [SEC-RES-2, SEC-TOOL-2, SEC-PROMPT-2]', async () => {
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
      const all = await drained(scene.anybody, method, field, params);
      for (const { person, ask, decide, sees, about } of scene.people) {
        const { uri } = params as { readonly uri?: string };
        const top = uri === undefined ? undefined : await scene.matrix.lookedAt(uri);
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
              ...(operation === 'call' && { onlyResources: scene.matrix.bare.tools.ownerOf(name).onlyResources }),
            }).effect,
          );
        const kept: unknown[] = [];
        for (const each of all) {
          const { name, uriTemplate } = each as Resource & { readonly uriTemplate?: string };
          const shown =
            field === 'tools'
              ? may('call', name, scene.matrix.bare.tools.ownerOf(name).mount)
              : field === 'prompts'
                ? may('prompt', name, (await scene.matrix.bare.prompts.ownerOf(name, ctx)).mount)
                : uriTemplate !== undefined
                  ? decide({
                      operation: 'list',
                      uri: uriTemplate,
                      template: true,
                      mount: scene.matrix.bare.mountOf(uriTemplate),
                    }).effect === 'allow'
                  : reachable(each);
          if (shown) kept.push(uriTemplate ?? each.uri ?? name);
        }
        const got = await drained(ask, method, field, params);
        const keys = got.map((each) => (each as { uriTemplate?: string }).uriTemplate ?? each.uri ?? each.name);
        // The server's own state is in no full list. The board may see it, by the rule "how it is".
        const state = keys.filter((key) => key.startsWith('vitrine+state:///'));
        expect({ who: person.name, method, params, list: keys.filter((key) => !state.includes(key)) }).toEqual({
          who: person.name,
          method,
          params,
          list: kept,
        });
        const isWhole = uri === undefined && method.startsWith('resources/');
        expect(state.length > 0, `${person.name} ${method}`).toBe(isWhole && person.name === 'board');
      }
    }
    expect(compared).toBe(lists.length * PEOPLE.length);
  });

  it('every search finds only readable resources, and the list tool shows only what lists show [SEC-RES-2]', async () => {
    const call = async (ask: Ask, name: string, args: Data): Promise<Data | undefined> =>
      (await ask('tools/call', { name, arguments: args })).result?.structuredContent as Data | undefined;
    const found = (answer: Data | undefined): string[] => [
      ...new Set(
        JSON.stringify(answer ?? {}).match(/(?:docs\+file|notes\+memory|wiki\+memory|items\+item):[^"\\]*/g) ?? [],
      ),
    ];
    const everything = found(await call(scene.anybody, 'search', { pattern: 'text' }));
    expect(everything.length).toBeGreaterThan(10);
    for (const { person, ask, decide, about } of scene.people) {
      if (decide({ operation: 'call', name: 'search', arguments: {}, onlyResources: true }).effect !== 'allow')
        continue;
      const readable: string[] = [];
      for (const uri of everything) {
        const resource = await scene.matrix.lookedAt(uri);
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
