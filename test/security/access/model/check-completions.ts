/** Checks the completion of variables of resource templates. */
import { outcomeOf } from '../outcomes.ts';
import { leaks } from './leaks.ts';
import { templates } from './offered.ts';
import type { Question } from './questions.ts';
import { isNoMethod, OUTCOMES, type Scene } from './scene.ts';
import { pairOf } from './sloppy-server.ts';
import { MOUNTED_SERVERS, type Thing } from './things.ts';

export async function checkCompletion(
  scene: Scene,
  { mount, template, typed, later, known }: Question & { kind: 'complete' },
): Promise<readonly string[]> {
  const { reference, mounts, asker } = scene;
  const uri = mounts.includes(mount) ? templates([mount])[template] : undefined;
  if (uri === undefined) return [];
  const [first = '', second] = [...uri.matchAll(/\{\+?([^}]*)\}/g)].flatMap(([, list = '']) => list.split(','));
  const one = later && second !== undefined ? second : first;
  const given = one === second && known !== '' ? { [first]: known } : {};
  // Whether allowed values may be missing. A database checks everything to which a value may lead; other mounts offer nothing if
  // something may be hidden.
  const isOpen = one === second ? known === '' : second !== undefined && mount !== 'data';
  const reply = await asker.ask('completion/complete', {
    ref: { type: 'ref/resource', uri },
    argument: { name: one, value: typed },
    context: { arguments: given },
  });
  const said = `complete ${uri} ${one} ${typed} ${Object.values(given)}`;
  const found = leaks(scene, reply.text, 'list', [uri, typed]).map((leak) => `${said}: ${leak}`);
  const effect = reference.decide({ operation: 'complete', uri, template: true, mount });
  const got = outcomeOf(reply);
  if (got !== OUTCOMES[effect] && !(isNoMethod(reply) && effect !== 'allow'))
    return [...found, `${said}: ${got} instead of ${OUTCOMES[effect]}`];
  if (effect !== 'allow' || got !== 'answered') return found;
  const { values = [], total } = (reply.result?.completion ?? {}) as {
    readonly values?: readonly string[];
    readonly total?: number;
  };
  const wanted = wantedValues(scene, uri, typed, one, given);
  found.push(...values.filter((each) => !wanted.includes(each)).map((each) => `${said}: with ${each}`));
  const sure = isOpen ? [] : wanted;
  found.push(...sure.filter((each) => !values.includes(each)).map((each) => `${said}: without ${each}`));
  if (total !== undefined && total > wanted.length) found.push(`${said}: ${total} of them instead of ${wanted.length}`);
  return found;
}

/** Gives the values that may be suggested: those that lead to listable resources. */
function wantedValues(
  { reference, things }: Scene,
  uri: string,
  typed: string,
  variable: string,
  given: Readonly<Record<string, string>>,
): readonly string[] {
  const start = uri.replace(/\{.*$/, '');
  const below = things.filter((thing) => thing.listedAs.startsWith(start) && thing.listedAs.length > start.length);
  const shown = below.filter((thing) => reference.of('list', thing) === 'allow');
  const rest = ({ listedAs }: Thing): string => decodeURIComponent(listedAs.slice(start.length));
  const unique = (values: readonly string[]): readonly string[] => [
    ...new Set(values.filter((each) => each.startsWith(typed))),
  ];
  if (variable === 'region') return unique(shown.map((thing) => rest(thing).split(',')[0] ?? ''));
  if (variable === 'code') {
    const before = `${given.region},`;
    return unique(
      shown.filter((thing) => rest(thing).startsWith(before)).map((thing) => rest(thing).slice(before.length)),
    );
  }
  if (variable === 'folder' || variable === 'name') {
    const pairs = shown.map(({ listedAs }) => pairOf(listedAs)).filter((pair) => pair !== undefined);
    const fitting = pairs.filter(({ folder }) => given.folder === undefined || folder === given.folder);
    return unique(fitting.map((pair) => pair[variable] ?? ''));
  }
  if (variable === 'email' || below.some(({ mount }) => MOUNTED_SERVERS.includes(mount)))
    return unique(shown.map((thing) => (variable === 'email' ? rest(thing) : thing.listedAs.slice(start.length))));
  // In a tree, the values are the entries of the folder that was typed.
  const within = typed.includes('/') ? typed.slice(0, typed.lastIndexOf('/') + 1) : '';
  return unique(
    shown
      .filter((thing) => rest(thing).startsWith(within) && !rest(thing).slice(within.length).includes('/'))
      .map((thing) => rest(thing).replace(/[%?#]/g, encodeURIComponent) + (thing.kind === 'folder' ? '/' : '')),
  );
}
