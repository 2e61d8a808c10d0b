/** Changes messages of a server into what they should be through the gateway, by the rules and without the gateway's code. */
import type { Era } from '../e2e/harness.ts';
import type { Data, Json, ListName, Outcome, Refusal } from './peer.ts';

/** A URI through the gateway: the mount goes before its scheme, or behind `ui://`, because hosts look for that scheme. */
export const publishedUri = (mount: string, uri: string): string =>
  uri.startsWith('ui://') ? `ui://${mount}+${uri.slice('ui://'.length)}` : `${mount}+${uri}`;

export const publishedName = (mount: string, name: string): string => `${mount}_${name}`;

/** Members whose text is a URI of the server, wherever the protocol has them. */
const URIS: ReadonlySet<string> = new Set(['uri', 'uriTemplate', 'resourceUri', 'ui/resourceUri']);
/** Only the tool itself knows how to read these fields. */
const OPAQUE: ReadonlySet<string> = new Set(['structuredContent', 'inputSchema', 'outputSchema']);

/** Publishes all URIs in an entry, in parameters or in contents. */
export function publishUris<T extends Json>(mount: string, value: T): T {
  return mapMembers(value, (key, each, deeper) => {
    if (URIS.has(key) && typeof each === 'string') return publishedUri(mount, each);
    return OPAQUE.has(key) ? each : deeper();
  });
}

/** Members of results that may have URIs in them. The protocol does not say what other members mean. */
const CARRIERS: ReadonlySet<string> = new Set(['contents', 'content', 'messages', '_meta']);

/** Publishes the outcome of a request. */
export function publishOutcome(mount: string, outcome: Outcome): Outcome {
  if ('error' in outcome) return { error: publishUris(mount, outcome.error as unknown as Data) as unknown as Refusal };
  const members = Object.entries(outcome.result);
  const moved = members.map(([key, each]) => [key, CARRIERS.has(key) ? publishUris(mount, each) : each]);
  return { result: Object.fromEntries(moved) };
}

/** Publishes an entry of a list. */
export function publishEntry(mount: string, list: ListName, entry: Data): Data {
  const moved = publishUris(mount, entry);
  return list === 'tools' || list === 'prompts' ? { ...moved, name: publishedName(mount, String(entry.name)) } : moved;
}

/** Whether an entry of the gateway is one of this mount. */
export function isPublishedBy(mount: string, list: ListName, { name, uri, uriTemplate }: Data): boolean {
  if (list === 'tools' || list === 'prompts') return String(name).startsWith(publishedName(mount, ''));
  const published = String(uri ?? uriTemplate);
  return published.startsWith(`${mount}+`) || published.startsWith(`ui://${mount}+`);
}

/** An entry without what its era lacks: 2026-07-28 has no `execution` of tools, which only some connections leave out. */
export function spokenIn(era: Era, entry: Data): Data {
  if (era === 'legacy') return entry;
  const { execution: _none, ...spoken } = entry;
  return spoken;
}

/** A result without what its era lacks: clients of 2025 get no hints for caches. */
export function resultIn(era: Era, outcome: Outcome): Outcome {
  if (era === 'modern' || 'error' in outcome) return outcome;
  const { ttlMs: _ttlMs, cacheScope: _cacheScope, ...result } = outcome.result;
  return { result };
}

/**
 * The fields that the gateway adds, by method, if the server does not send them. All other fields stay as the server sent them.
 *
 * - `capabilities`: whether a resource can be listed and subscribed to (2093-3).
 * - `name`: of contents and of embedded resources (2093-1).
 * - `icons`: the default ones of its type (973-2).
 * - `ttlMs`, `cacheScope`: each read of 2026-07-28 has them.
 * - `hasMore`: whether there are more values than a completion gives.
 */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  'resources/list': ['capabilities', 'icons'],
  'resources/templates/list': ['icons'],
  'resources/read': ['ttlMs', 'cacheScope', 'icons', 'name', 'capabilities'],
  'tools/call': ['name', 'capabilities'],
  'prompts/get': ['name', 'capabilities'],
  'completion/complete': ['hasMore'],
};

/** Removes the added fields: those of the table that the server itself did not send. */
export function withoutAdded<T extends Json>(method: string, through: T, expected: Json): T {
  const added = ADDED[method] ?? [];
  if (Array.isArray(through)) {
    const others = Array.isArray(expected) ? expected : [];
    const each = through.map((one: Json, index) => withoutAdded(method, one, others[index] ?? null));
    return each as unknown as T;
  }
  if (!isData(through)) return through;
  const said = isData(expected) ? expected : {};
  const kept = Object.entries(through).filter(([key]) => key in said || !added.includes(key));
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutAdded(method, one, said[key] ?? null)])) as T;
}

/** The field in a result of 2026-07-28 that names the server: through the gateway, it names the gateway. */
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** Removes the name of the server that answered. */
export function anonymous(outcome: Outcome): Outcome {
  if ('error' in outcome || !isData(outcome.result._meta)) return outcome;
  const { _meta, ...result } = outcome.result;
  const { [SERVER_INFO]: _server, ...meta } = _meta;
  return { result: Object.keys(meta).length === 0 ? result : { ...result, _meta: meta } };
}

/** Replaces what differs in each answer, such as the time or a password. */
export function shapeOf(outcome: Outcome): Outcome {
  return mapMembers(outcome as Data, (key, each, deeper) => {
    if (typeof each === 'string' && CHANGING.has(key)) return '<changing>';
    return deeper();
  }) as Outcome;
}

const CHANGING: ReadonlySet<string> = new Set(['text', 'blob', 'time', 'datetime', 'password']);

type MapMember = (key: string, value: Json, deeper: () => Json) => Json;

function mapMembers<T extends Json>(value: T, map: MapMember): T {
  if (Array.isArray(value)) return value.map((each: Json) => mapMembers(each, map)) as unknown as T;
  if (!isData(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, map(key, each, () => mapMembers(each, map))]);
  return Object.fromEntries(entries) as T;
}

/** The URIs of linked and embedded resources, in their order. */
export function linkedIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(linkedIn);
  if (!isData(value)) return [];
  if (value.type === 'resource_link') return [String(value.uri)];
  if (value.type === 'resource' && isData(value.resource)) return [String(value.resource.uri)];
  return Object.values(value).flatMap(linkedIn);
}

const isData = (value: Json | undefined): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
