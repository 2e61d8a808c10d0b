/**
 * Lists that change several times within a second. Clients are not notified of every change, but every list that they request
 * is up to date.
 */
import { expect, it } from 'vitest';
import type { ListAnswer } from '../e2e/answers.ts';
import { type Connected, ERAS, MATRIX } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { setScene, tells } from './faults/scene.ts';
import { callTool, changesSince } from './fixture/asking.ts';
import { connectThrough } from './fixture/link.ts';

const ON = { name: 'fixture', transport: 'stdio', era: 'modern', uri: String, named: String } as const;

/** Gives all pages of a list, as JSON. */
async function listed(on: Connected, list: string): Promise<string> {
  const pages: unknown[] = [];
  let cursor: unknown;
  do {
    const page = await on.request(`${list}/list`, cursor === undefined ? {} : { cursor });
    pages.push(page[list]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return JSON.stringify(pages);
}

// Lists of the fixture may be cached for seconds, but over its pipe the notification of a change arrives before the next answer.
const LISTS: readonly { list: string; adds: (name: string) => readonly [string, object] }[] = [
  { list: 'tools', adds: (name: string) => ['add-tool', { name }] },
  { list: 'prompts', adds: (name: string) => ['add-prompt', { name }] },
  { list: 'resources', adds: (name: string) => ['add-resource', { uri: `memo:${name}` }] },
];

it.each(ERAS.flatMap((era) => LISTS.map((each) => ({ era, ...each }))))(
  '[CB-3] a list of $list after each of four quick changes has that change, for a client of the $era era',
  async ({ era, list, adds }) => {
    const options = { prefix: 'none', connections: 'shared', forgetful: true } as const;
    await using on = await connectThrough({ transport: 'http', era }, { transport: 'stdio', era: 'modern' }, options);
    await on.reachable;
    const told = (): boolean => changesSince(on, 0).includes(list);
    if (era === 'modern') {
      await on.client.listen({ resourcesListChanged: true, toolsListChanged: true, promptsListChanged: true });
    }
    await until(async () => {
      await callTool(on, ON, ...adds('heard'));
      return told();
    }, `a change of ${list} to be told`);
    for (const name of ['one', 'two', 'three', 'four']) {
      await callTool(on, ON, ...adds(`again-${name}`));
      expect(await listed(on, list)).toContain(`again-${name}`);
    }
  },
);

it.each(MATRIX)(
  'the rest of a page is from after an update, for a server of the $era era over $transport',
  async (way) => {
    const all = (version: string): object => ({
      'resources/list': {
        resources: Array.from({ length: 150 }, (_, index) => ({ uri: `thing:///${index}`, name: version })),
      },
    });
    await using scene = await setScene(way, { before: (server) => server.says({ ...all('before') }) });
    const { server, clients } = scene;
    const firsts: ListAnswer[] = [];
    for (const client of clients) firsts.push(await client.request('resources/list'));
    await tells(scene, () => server.says({ ...all('after') }), 'of the update');
    for (const [index, client] of clients.entries()) {
      const rest: ListAnswer = await client.request('resources/list', { cursor: firsts[index]?.nextCursor });
      const named = rest.resources.filter(({ uri }) => uri.startsWith('faulty+'));
      expect(named.length).toBeGreaterThan(40);
      expect(new Set(named.map(({ name }) => name))).toEqual(new Set(['after']));
    }
  },
);
