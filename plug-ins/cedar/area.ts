/** Finds out from the heads of policies what a principal could be permitted to do. Conditions are not evaluated. */
import { type AccessArea, type AccessOperation, ASKABLE, type Principal } from 'vitrine/plug-in';
import { type Entities, type Uid, uidKey } from './entities.ts';
import type { CedarRule } from './policies.ts';
import { principalEntity, targetType } from './request.ts';

/** One part of the head of a policy: its principal, action or resource. A part of any other shape restricts nothing here. */
interface Head {
  readonly op: string;
  readonly entity?: Uid | { readonly __entity: Uid };
  readonly entities?: readonly (Uid | { readonly __entity: Uid })[];
  readonly entity_type?: string;
  readonly in?: Head;
}

/**
 * Returns a function that tells whether the head of any policy leaves room for a principal to do something in an area. An
 * area without an operation stands for all operations, one without a mount for all mounts.
 */
export function couldIn(
  rules: readonly CedarRule[],
  entities: Entities,
): (principal: Principal, area: AccessArea) => boolean {
  const permitting = rules.filter(({ effect }) => effect === 'allow' || effect === 'ask');
  return (principal, { operation, mount }) => {
    const who = entities.ancestors(principalEntity(principal));
    return permitting.some(
      ({ effect, json }) =>
        isAbout(json.principal as Head, 'Vitrine::Principal', (uid) => who.has(uidKey(uid))) &&
        (operation === undefined || ofOperation(json.action as Head, operation, entities)) &&
        (operation === undefined || effect === 'allow' || ASKABLE.includes(operation)) &&
        isAbout(json.resource as Head, operation && targetType(operation), (uid) => mayContain(uid, mount)),
    );
  };
}

/**
 * Tells whether a part of a head can match an entity.
 * @param type the Cedar type of the entity; undefined stands for any type
 * @param fits tells whether the entity may be, or be in, the one that the head names
 */
function isAbout(head: Head, type: string | undefined, fits: (uid: Uid) => boolean): boolean {
  if (type !== undefined && head.entity_type !== undefined && head.entity_type !== type) return false;
  const uids = uidsOf(head.in ?? head);
  return uids.length === 0 || uids.some(fits);
}

/** Tells whether an entity may contain resources of a mount. Another mount contains none of them; any other entity may. */
const mayContain = ({ type, id }: Uid, mount: string | undefined): boolean =>
  type !== 'Vitrine::Mount' || mount === undefined || id === mount;

function ofOperation(head: Head, operation: AccessOperation, entities: Entities): boolean {
  const uid = { type: 'Vitrine::Action', id: operation };
  const ancestors = entities.ancestors({ uid, attrs: {}, parents: [] });
  return isAbout(head, undefined, (named) => ancestors.has(uidKey(named)));
}

const uidsOf = ({ entity, entities = [] }: Head): readonly Uid[] =>
  [...(entity === undefined ? [] : [entity]), ...entities].map((uid) => ('__entity' in uid ? uid.__entity : uid));
