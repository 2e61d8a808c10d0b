/** Checks every list, over all its pages, and the results of searches. */
import type { Ask, Reply } from '../asking.ts';
import { outcomeOf } from '../outcomes.ts';
import { leaks } from './leaks.ts';
import { isShown, namesOf, promptEffect, templates } from './offered.ts';
import type { List } from './questions.ts';
import type { Operation } from './reference.ts';
import { entriesOf, isNoMethod, OUTCOMES, type Scene, toolEffect } from './scene.ts';
import { SLOPPY_PROMPTS, SLOPPY_TOOLS } from './sloppy-server.ts';
import { FOLDER_PROMPTS, OWN_TOOLS, type Thing } from './things.ts';

type Data = Readonly<Record<string, unknown>>;

const FIELDS: Readonly<
  Record<List, { readonly method: string; readonly field: string; readonly tool?: string; readonly args?: Data }>
> = {
  'resources/list': { method: 'resources/list', field: 'resources' },
  'resources/templates/list': { method: 'resources/templates/list', field: 'resourceTemplates' },
  'tools/list': { method: 'tools/list', field: 'tools' },
  'prompts/list': { method: 'prompts/list', field: 'prompts' },
  'tool list': { method: 'tools/call', field: 'resources', tool: 'at_list', args: {} },
  'tool list_templates': { method: 'tools/call', field: 'resourceTemplates', tool: 'at_list_templates', args: {} },
  'tool search text': {
    method: 'tools/call',
    field: 'matches',
    tool: 'at_search',
    args: { pattern: 'text-of', literal: true },
  },
  'tool search names': { method: 'tools/call', field: 'matches', tool: 'at_search', args: { glob: '**' } },
};

export async function checkList(scene: Scene, list: List): Promise<readonly string[]> {
  const { method, field, tool, args } = FIELDS[list];
  const operation: Operation = list === 'tool search text' ? 'read' : method === 'prompts/list' ? 'prompt' : 'list';
  const replies = await drained(scene.asker.ask, method, tool, args);
  const found = replies.flatMap((reply) => leaks(scene, reply.text, operation, []).map((leak) => `${list}: ${leak}`));
  const last = replies.at(-1);
  if (last === undefined) return found;
  if (tool !== undefined) {
    const effect = toolEffect(scene, tool, args);
    const outcome = outcomeOf(last);
    if (effect !== 'allow' || outcome !== 'answered') {
      if (outcome !== OUTCOMES[effect] && !(isNoMethod(last) && effect !== 'allow'))
        found.push(`${list}: ${outcome} instead of ${OUTCOMES[effect]}`);
      return found;
    }
  }
  const got = [...new Set(replies.flatMap((reply) => entriesOf(reply, field)))];
  const wanted = wantedIn(scene, list);
  const known = new Set(all(scene, list));
  const sure = list.startsWith('tool search') ? wanted.filter((each) => isWithinReach(scene, each)) : wanted;
  found.push(...sure.filter((each) => !got.includes(each)).map((each) => `${list}: without ${each}`));
  found.push(...got.filter((each) => known.has(each) && !wanted.includes(each)).map((each) => `${list}: with ${each}`));
  return found;
}

/** Whether a search has to find an allowed resource. It need not find rows of a table that the caller may not see. */
function isWithinReach({ reference, things }: Scene, uri: string): boolean {
  const thing = things.find(({ listedAs }) => listedAs === uri);
  const parents = things.filter((each) => thing?.mount === 'data' && thing.parents.includes(each.uri));
  return parents.every((parent) =>
    (['list', 'metadata', 'read'] as const).every((operation) => reference.of(operation, parent) === 'allow'),
  );
}

/** Gives all pages. */
async function drained(ask: Ask, method: string, tool: string | undefined, args: Data = {}): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  let cursor: unknown;
  do {
    const more = cursor === undefined ? {} : { cursor };
    const reply = await ask(method, tool === undefined ? more : { name: tool, arguments: { ...args, ...more } });
    replies.push(reply);
    const result = reply.result ?? {};
    cursor = ((result.structuredContent ?? result) as Data).nextCursor;
  } while (cursor !== undefined && replies.length < 200);
  return replies;
}

/** Gives a list as it is for a caller who may see everything. Other entries of an answer are not checked. */
function all({ things, mounts }: Scene, list: List): readonly string[] {
  switch (list) {
    case 'resources/list':
    case 'tool list':
    case 'tool search text':
    case 'tool search names':
      return things.map(({ listedAs }) => listedAs);
    case 'resources/templates/list':
    case 'tool list_templates':
      return templates(mounts);
    case 'tools/list':
      return [...OWN_TOOLS, ...namesOf(mounts, SLOPPY_TOOLS)];
    case 'prompts/list':
      return [...FOLDER_PROMPTS, ...namesOf(mounts, SLOPPY_PROMPTS)];
  }
}

function wantedIn(scene: Scene, list: List): readonly string[] {
  const { reference, things, mounts } = scene;
  const may = (operation: Operation, thing: Thing): boolean => reference.of(operation, thing) === 'allow';
  switch (list) {
    case 'resources/list':
    case 'tool list': {
      const shown = (thing: Thing): boolean => thing.listed && may('list', thing);
      const folders = new Map(things.map((thing) => [thing.uri, thing]));
      return things
        .filter(
          (thing) =>
            shown(thing) &&
            thing.parents.every((uri) => ((each) => each !== undefined && shown(each))(folders.get(uri))),
        )
        .map(({ listedAs }) => listedAs);
    }
    case 'tool search text':
      return things
        .filter((thing) => thing.listed && thing.kind !== 'folder' && may('read', thing))
        .map(({ listedAs }) => listedAs);
    case 'tool search names':
      return things
        .filter((thing) => thing.listed && thing.kind !== 'folder' && may('list', thing))
        .map(({ listedAs }) => listedAs);
    case 'resources/templates/list':
    case 'tool list_templates':
      return templates(mounts).filter(
        (uri) =>
          reference.decide({ operation: 'list', uri, template: true, mount: reference.mountOf(uri) }) === 'allow',
      );
    case 'tools/list':
      return all(scene, list).filter((name) =>
        isShown(reference.decide({ operation: 'call', name, mount: reference.mountOfName(name) })),
      );
    case 'prompts/list':
      return all(scene, list).filter((name) => isShown(promptEffect(scene, name)));
  }
}
