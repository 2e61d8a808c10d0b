/** Checks one request for one resource, under one of its names. */
import type { Reply } from '../asking.ts';
import { type Outcome, outcomeOf } from '../outcomes.ts';
import { leaks } from './leaks.ts';
import type { Ref, Way } from './questions.ts';
import { hasDots, type Operation } from './reference.ts';
import { entriesOf, isNoMethod, OUTCOMES, type Scene, toolEffect } from './scene.ts';
import { type Spelled, spelled } from './spellings.ts';
import { isImitation, MOUNTED_SERVERS, THINGS, type Thing } from './things.ts';

type Data = Readonly<Record<string, unknown>>;

interface Asking {
  readonly method: string;
  readonly params: Data;
  readonly operation: Operation;
  readonly tool?: string;
}

function askingFor(way: Way, uri: string): Asking {
  const byTool = (name: string, operation: Operation, more: Data = {}): Asking => ({
    method: 'tools/call',
    params: { name: `at_${name}`, arguments: { uri, ...more } },
    operation,
    tool: `at_${name}`,
  });
  switch (way) {
    case 'resources/read':
      return { method: way, params: { uri }, operation: 'read' };
    case 'a window':
      return {
        method: 'resources/read',
        params: { uri, _meta: { 'vitrine/range': { offset: 0, length: 100 } } },
        operation: 'read',
      };
    case 'resources/metadata':
      return { method: way, params: { uri }, operation: 'metadata' };
    case 'resources/list':
    case 'resources/directory/read':
      return { method: way, params: { uri }, operation: 'list' };
    case 'resources/subscribe':
      return { method: way, params: { uri }, operation: 'subscribe' };
    case 'tool list':
      return byTool('list', 'list');
    case 'tool describe':
      return byTool('describe', 'metadata');
    case 'tool read':
      return byTool('read', 'read', { as: 'window' });
    case 'tool read_embedded':
      return byTool('read_embedded', 'read');
    case 'tool search':
      return byTool('search', 'read', { pattern: 'text-of', literal: true });
  }
}

export async function checkWay(scene: Scene, way: Way, ref: Ref): Promise<readonly string[]> {
  const thing = THINGS[ref.thing];
  if (thing === undefined || isImitation(thing) || !scene.mounts.includes(thing.mount)) return [];
  const { uri, same } = spelled(thing, ref.spelling, ref.loudMount);
  const asking = askingFor(way, uri);
  if (asking.method === 'resources/subscribe' && scene.asker.era !== 'legacy') return [];
  const reply = await scene.asker.ask(asking.method, asking.params);
  const said = `${way} ${uri}`;
  const known = scene.reference.of(asking.operation, thing) === 'hide' ? [] : [thing.uri, thing.listedAs];
  const found = leaks(scene, reply.text, asking.operation, [...asked(uri), ...known]).map((leak) => `${said}: ${leak}`);
  if (way === 'tool search') return found;
  const called = asking.tool === undefined ? 'allow' : toolEffect(scene, asking.tool, asking.params.arguments as Data);
  const expected =
    called !== 'allow' ? OUTCOMES[called] : expectedOf(scene, way, thing, { uri, same }, asking.operation);
  const got = outcomeOf(reply);
  if (expected === undefined) return found;
  if (expected !== got && !(isNoMethod(reply) && expected !== 'answered'))
    found.push(`${said}: ${got} instead of ${expected}`);
  else if (got === 'answered') found.push(...arrived(scene, asking, thing, reply).map((each) => `${said}: ${each}`));
  return found;
}

/** Gives the parts of a request that an answer may repeat: with or without the line range, and with the name of the mount in lower case. */
const asked = (uri: string): readonly string[] => {
  const quiet = uri.replace(/(?:DOCS|DATA|UP)\+/, (mount) => mount.toLowerCase());
  return [uri, quiet, uri.replace(/#.*$/, ''), quiet.replace(/#.*$/, '')];
};

/** Gives the outcome that the reference requires; undefined if every outcome is right that reveals nothing forbidden. */
function expectedOf(
  { reference }: Scene,
  way: Way,
  thing: Thing,
  { uri, same }: Spelled,
  operation: Operation,
): Outcome | undefined {
  const isServed = MOUNTED_SERVERS.includes(thing.mount);
  if (!isServed) return same && !cannot(way, thing) ? OUTCOMES[reference.ofItself(operation, thing)] : undefined;
  // A mounted server may know another spelling or not. It is certain only that an allowed request reaches the server.
  if (cannot(way, thing) || way === 'resources/subscribe') return undefined;
  if (uri === thing.listedAs && thing.listed) return OUTCOMES[reference.of(operation, thing)];
  const effect = reference.ofUri(operation, thing.mount, uri, thing.mimeType);
  return same && effect === 'allow' && !hasDots(uri) ? 'answered' : undefined;
}

/** Whether the request fails even if it is allowed, such as a list of a text, or whether other checks cover it. */
function cannot(way: Way, { kind, mount, uri }: Thing): boolean {
  const lists = way === 'resources/list' || way === 'resources/directory/read' || way === 'tool list';
  if (lists) return kind !== 'folder';
  if (way === 'resources/subscribe') return mount === 'data';
  if (way === 'a window') return kind !== 'text';
  // Reading a folder of a database gives a table or an overview, which other checks cover.
  return (
    kind === 'folder' && ((way !== 'resources/metadata' && way !== 'tool describe') || (mount === 'data' && uri !== ''))
  );
}

/** Names the contents that are missing in the answer. */
function arrived(scene: Scene, { operation, params }: Asking, thing: Thing, reply: Reply): readonly string[] {
  const { reference, things } = scene;
  const isListed = thing.listed && JSON.stringify(params).includes(JSON.stringify(thing.listedAs));
  if (operation === 'list') {
    const children = things.filter(({ parents }) => parents.length > 0 && parents.at(-1) === thing.uri);
    const wanted = children.filter((child) => reference.of('list', child) === 'allow').map(({ listedAs }) => listedAs);
    const got = entriesOf(reply, 'resources');
    if (reply.text.includes('nextCursor')) return [];
    const others = children.map(({ listedAs }) => listedAs).filter((uri) => !wanted.includes(uri));
    return [
      ...wanted.filter((uri) => !got.includes(uri)).map((uri) => `without ${uri}`),
      ...others.filter((uri) => got.includes(uri)).map((uri) => `with ${uri}`),
    ];
  }
  if (operation === 'read' && thing.inText !== '' && !reply.text.includes(thing.inText)) return ['without its text'];
  // A server may have no title for a resource under another spelling.
  if (operation === 'metadata' && isListed && thing.inTitle !== '' && !reply.text.includes(thing.inTitle))
    return ['without its title'];
  return [];
}
