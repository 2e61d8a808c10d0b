/** Puts a request into Cedar's terms: the principal, the action, the resource, and the facts about them. */
import { type AccessRequest, ANONYMOUS, type Principal } from 'vitrine/plug-in';
import type { Entity, Uid } from './entities.ts';
import { cedarArguments } from './values.ts';

const uid = (kind: string, id: string): Uid => ({ type: `Vitrine::${kind}`, id });

/** The earliest and the latest time that Cedar can write, and so that a policy can compare with. */
const EARLIEST = Date.parse('0000-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

const dateOf = (time: number): object => ({
  __extn: { fn: 'datetime', arg: new Date(Math.min(Math.max(time, EARLIEST), LATEST)).toISOString() },
});

/** Attributes of a resource, beside those that come from its URI. */
export const RESOURCE_ATTRIBUTES = ['name', 'mimeType', 'size', 'lastModified', 'audience'] as const;

/** Facts that take time to get or to convert. They are left out unless a policy mentions them. */
export const LOOKED_AT = [...RESOURCE_ATTRIBUTES, 'arguments', 'now'] as const;
export type LookedAt = (typeof LOOKED_AT)[number];

/** Tells whether any policy uses a name. A name that is only in a text of a policy counts, too. */
export type Mentions = (name: LookedAt) => boolean;

export interface CedarRequest {
  readonly principal: Entity;
  readonly action: Uid;
  readonly resource: Entity;
  readonly context: Readonly<Record<string, unknown>>;
  /** Whether the arguments are known, not known yet, or not expressible in Cedar. */
  readonly arguments: 'known' | 'unknown' | 'inexpressible';
}

export function cedarRequest(request: AccessRequest, mentions: Mentions): CedarRequest {
  const { operation, arguments: given } = request;
  const looks = operation === 'call' && mentions('arguments');
  const held = looks && given !== undefined ? cedarArguments(given) : {};
  const known = !looks || (given !== undefined && held !== undefined);
  return {
    principal: principalEntity(request.principal),
    action: uid('Action', operation),
    resource: targetEntity(request, mentions),
    context: { arguments: known ? held : UNKNOWN, ...(mentions('now') && { now: dateOf(Date.now()) }) },
    arguments: held === undefined ? 'inexpressible' : known ? 'known' : 'unknown',
  };
}

export function principalEntity({ id, subject, issuer, clientId, scopes = [], groups = [] }: Principal): Entity {
  return {
    uid: uid('Principal', id),
    attrs: defined({ subject, issuer, clientId, scopes, authenticated: id !== ANONYMOUS.id }),
    parents: groups.map((group) => uid('Group', group)),
  };
}

/** The Cedar type of the thing that an operation is about. */
export function targetType(operation: AccessRequest['operation']): string {
  if (operation === 'call') return 'Vitrine::Tool';
  return operation === 'prompt' ? 'Vitrine::Prompt' : 'Vitrine::Resource';
}

function targetEntity(request: AccessRequest, mentions: Mentions): Entity {
  const { operation, mount, name = '', uri = '' } = request;
  const type = targetType(operation);
  const named = operation === 'call' || operation === 'prompt';
  return {
    uid: { type, id: named ? name : uri },
    attrs: named ? { name } : { uri, template: request.template === true, ...knownOf(request, mentions) },
    parents: mount === undefined ? [] : [uid('Mount', mount)],
  };
}

function knownOf({ resource }: AccessRequest, mentions: Mentions): Entity['attrs'] {
  if (resource === undefined) return {};
  const { name, mimeType, size, annotations } = resource;
  const changed = mentions('lastModified') ? Date.parse(annotations?.lastModified ?? '') : Number.NaN;
  return defined({
    name,
    mimeType: mimeType?.split(';', 1)[0]?.trim().toLowerCase(),
    size: Number.isSafeInteger(size) ? size : undefined,
    lastModified: Number.isNaN(changed) ? undefined : dateOf(changed),
    audience: annotations?.audience,
  });
}

/** Stands for arguments that are not known yet, as while tools are listed, or that Cedar cannot hold. */
const UNKNOWN = { __extn: { fn: 'unknown', arg: 'arguments' } };

const defined = (attrs: Readonly<Record<string, unknown>>): Entity['attrs'] =>
  Object.fromEntries(Object.entries(attrs).filter(([, value]) => value !== undefined));
