/** Tells what policies could let somebody do, by their heads: conditions are not looked at. */
import { type AccessArea, type AccessOperation, ASKABLE, type Principal } from 'vitrine/plug-in';
import { type Entities, type Uid, uidKey } from './entities.ts';
import type { CedarRule } from './policies.ts';
import { principalEntity, targetType } from './request.ts';

/** One part of the head of a policy: its principal, action or resource. Other shapes than these restrict nothing here. */
interface Head {
  readonly op: string;
  readonly entity?: Uid | { readonly __entity: Uid };
  readonly entities?: readonly (Uid | { readonly __entity: Uid })[];
  readonly entity_type?: string;
  readonly in?: Head;
}

/** Whether one of these policies, by its head, lets the principal do anything there. */
export function couldIn(
  rules: readonly CedarRule[],
  entities: Entities,
): (principal: Principal, area: AccessArea) => boolean {
  const opening = rules.filter(({ effect }) => effect === 'allow' || effect === 'ask');
  return (principal, { operation, mount }) => {
    const who = entities.ancestors(principalEntity(principal));
    return opening.some(
      ({ effect, json }) =>
        isAbout(json.principal as Head, 'Vitrine::Principal', (uid) => who.has(uidKey(uid))) &&
        (operation === undefined || ofOperation(json.action as Head, operation, entities)) &&
        (operation === undefined || effect === 'allow' || ASKABLE.includes(operation)) &&
        isAbout(json.resource as Head, operation && targetType(operation), (uid) => mayHold(uid, mount)),
    );
  };
}

/** @param type of what it would be about; any where undefined */
function isAbout(head: Head, type: string | undefined, fits: (uid: Uid) => boolean): boolean {
  if (type !== undefined && head.entity_type !== undefined && head.entity_type !== type) return false;
  const uids = uidsOf(head.in ?? head);
  return uids.length === 0 || uids.some(fits);
}

/** In another mount nothing of this one is; of what else it could be in, nothing is known. */
const mayHold = ({ type, id }: Uid, mount: string | undefined): boolean =>
  type !== 'Vitrine::Mount' || mount === undefined || id === mount;

function ofOperation(head: Head, operation: AccessOperation, entities: Entities): boolean {
  const uid = { type: 'Vitrine::Action', id: operation };
  const all = entities.ancestors({ uid, attrs: {}, parents: [] });
  return isAbout(head, undefined, (each) => all.has(uidKey(each)));
}

const uidsOf = ({ entity, entities = [] }: Head): readonly Uid[] =>
  [...(entity === undefined ? [] : [entity]), ...entities].map((each) => ('__entity' in each ? each.__entity : each));
