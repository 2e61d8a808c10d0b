/** Sends the same requests to each server itself and through the gateway, and compares the outcomes. */
import type { Connected } from '../e2e/harness.ts';
import { ask, type Data, drain, type Outcome } from './peer.ts';
import {
  anonymous,
  linkedIn,
  publishedName,
  publishOutcome,
  publishUris,
  resultIn,
  shapeOf,
  withoutAdded,
} from './published.ts';
import type { Place, Scene } from './scene.ts';
import type { InteropServer, SampleRequest } from './servers/index.ts';

/** One request to a server, whose parameters may name its folder. */
export interface Question {
  readonly method: string;
  readonly params: (folder: string) => object;
  /** Whether the answer is the same each time. */
  readonly steady: boolean;
}

export interface Compared {
  /** The outcome at the server itself, as it should read through the gateway. */
  readonly expected: Outcome;
  /** The outcome through the gateway, without the gateway's additions. */
  readonly got: Outcome;
  /** The outcome through the gateway. */
  readonly through: Outcome;
  /** The URIs that the server itself links to and embeds. */
  readonly links: readonly string[];
}

/** Sends a request to the server itself and through the gateway. */
export async function compare(
  scene: Scene,
  { client, era }: Pick<Connected, 'client' | 'era'>,
  server: InteropServer,
  { method, params, steady }: Question,
): Promise<Compared> {
  const { name } = server;
  const given = (place: Place): Data => params(scene.folder(server, place)) as Data;
  const direct = scene.placeless(anonymous(await ask(await scene.direct(server), method, given('direct'))));
  const through = scene.placeless(anonymous(await ask(client, method, publishedParams(name, given('behind')))));
  const expected = resultIn(era, publishOutcome(name, direct));
  const got = withoutAdded(method, through as Data, expected as Data) as Outcome;
  const links = linkedIn(direct as Data);
  const form = steady ? (outcome: Outcome) => outcome : shapeOf;
  return { expected: form(expected), got: form(got), through, links };
}

/** Parameters as they are sent to the gateway. */
function publishedParams(mount: string, params: Data): Data {
  const { ref, name } = params;
  return {
    ...publishUris(mount, params),
    ...(typeof name === 'string' && { name: publishedName(mount, name) }),
    ...(ref !== undefined && { ref: publishedParams(mount, ref as Data) }),
  };
}

const question = <Params extends object>(method: string, { params, steady }: SampleRequest<Params>): Question => ({
  method,
  params: () => params,
  steady,
});

export const reading = (uri: string, steady: boolean): Question =>
  question('resources/read', { params: { uri }, steady });

/** A URI that no server has. */
const MISSING = 'x-none:such';

/** Reads of all listed resources, of others that are known to be readable, and of one that does not exist. */
export async function readsOf(scene: Scene, server: InteropServer): Promise<readonly Question[]> {
  const listed = await drain(await scene.direct(server), 'resources');
  const uris = listed === 'none' ? [] : listed.entries.map(({ uri }) => String(uri));
  const known = server.reads ?? [];
  const others = uris.filter((uri) => !known.some(({ params }) => params.uri === uri));
  return [
    ...known.map((each) => question('resources/read', each)),
    ...[...others, MISSING].map((uri) => reading(uri, true)),
  ];
}

/** A call that changes nothing. */
export const callOf = (server: InteropServer): Question => ({
  method: 'tools/call',
  params: (folder) => server.tool(folder).params,
  steady: server.tool('').steady,
});

/** A call of a tool that does not exist, and a call without the arguments that its tool may want. */
export const wrongCallsOf = (server: InteropServer): readonly Question[] => [
  question('tools/call', { params: { name: 'no-such-tool', arguments: {} }, steady: true }),
  { ...callOf(server), params: (folder) => ({ name: server.tool(folder).params.name, arguments: {} }) },
];

/** A prompt of the server, and one that does not exist. */
export const promptsOf = ({ prompt, has }: InteropServer): readonly Question[] => [
  ...(prompt === undefined ? [] : [question('prompts/get', prompt)]),
  ...(has.prompts === 'none' ? [] : [question('prompts/get', { params: { name: 'no-such-prompt' }, steady: true })]),
];

/** Beginnings of values that are completed. */
const BEGINNINGS = ['', 'a', 'e', '1', 'm'];

/** Completions of every argument of every prompt and every variable of every template, if the server completes any. */
export async function completionsOf(scene: Scene, server: InteropServer): Promise<readonly Question[]> {
  const client = await scene.direct(server);
  if (client.getServerCapabilities()?.completions === undefined) return [];
  const prompts = await drain(client, 'prompts');
  const templates = await drain(client, 'templates');
  const completed = [
    ...(prompts === 'none' ? [] : prompts.entries).flatMap(({ name, arguments: all = [] }) =>
      (all as readonly Data[]).map((each) => [{ type: 'ref/prompt', name }, each.name] as const),
    ),
    ...(templates === 'none' ? [] : templates.entries).flatMap(({ uriTemplate }) =>
      variablesOf(String(uriTemplate)).map((each) => [{ type: 'ref/resource', uri: uriTemplate }, each] as const),
    ),
  ];
  return completed.flatMap(([ref, name]) =>
    BEGINNINGS.map((value) =>
      question('completion/complete', { params: { ref, argument: { name, value } }, steady: true }),
    ),
  );
}

const variablesOf = (template: string): readonly string[] =>
  [...template.matchAll(/\{[?+#./;&]?(?<names>[^}]*)\}/g)].flatMap(({ groups }) =>
    (groups?.names ?? '').split(',').map((name) => name.replace(/\*$/, '')),
  );

/** Calls and prompts whose results may have links in them. */
export const linkingOf = (server: InteropServer): readonly Question[] => [
  callOf(server),
  ...promptsOf(server),
  ...(server.name === 'everything' ? LINKING : []),
];

const LINKING = [
  { name: 'get-resource-reference', arguments: { resourceType: 'Blob', resourceId: 2 } },
  // This tool makes a resource for the client that calls it.
  {
    name: 'gzip-file-as-resource',
    arguments: { name: 'note.gz', data: 'data:text/plain,behind%20glass', outputType: 'resourceLink' },
  },
].map((params) => question('tools/call', { params, steady: false }));
