/** Adds configured entities to those of a request: only entities that its decision can depend on. */
import { invalid } from 'vitrine/plug-in';
import type { Engine } from './engine.ts';
import { wordsOf } from './engine.ts';

/** The name of an entity. */
export interface Uid {
  readonly type: string;
  readonly id: string;
}

export interface Entity {
  readonly uid: Uid;
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly parents: readonly Uid[];
  readonly tags?: Readonly<Record<string, unknown>>;
}

export const uidKey = ({ type, id }: Uid): string => JSON.stringify([type, id]);

export interface Entities {
  /** Returns these entities, with the configured ones that a decision needs. Their own attributes win over configured ones. */
  around(own: readonly Entity[]): readonly Entity[];
  /** Returns the keys of an entity and of all its ancestors. */
  ancestors(entity: Entity): ReadonlySet<string>;
}

interface Known {
  readonly entity: Entity;
  /** The keys of the entities that it names: itself, its parents, and those in its attributes and tags. */
  readonly names: readonly string[];
}

/**
 * @param literals entities that policies name
 * @param file the name of the entities in error messages
 * @throws ResourceError `invalid` for malformed entities
 */
export function configuredEntities(
  cedar: Engine,
  given: readonly object[],
  literals: readonly Uid[],
  file: string,
): Entities {
  const parsed = cedar.checkParseEntities({
    entities: given as Parameters<Engine['checkParseEntities']>[0]['entities'],
  });
  if (parsed.type === 'failure') {
    const [first] = parsed.errors;
    throw invalid(`${file}: ${first === undefined ? 'these are no entities' : wordsOf(first)}`);
  }
  const known = new Map((given as readonly Entity[]).map((each) => knownOf(normal(each))));
  const always = literals.map(uidKey);

  function reached(from: readonly string[], taken: ReadonlySet<string>): readonly Entity[] {
    if (known.size === 0) return [];
    // The loop also reaches the keys that it adds to the set.
    const keys = new Set(from);
    for (const key of keys) for (const name of known.get(key)?.names ?? []) keys.add(name);
    return [...keys].flatMap((key) => (taken.has(key) ? [] : (known.get(key)?.entity ?? [])));
  }

  function merged(own: Entity): Entity {
    const entity = known.get(uidKey(own.uid))?.entity;
    if (entity === undefined) return own;
    return { ...entity, attrs: { ...entity.attrs, ...own.attrs }, parents: [...entity.parents, ...own.parents] };
  }

  return {
    around(own) {
      if (known.size === 0) return own;
      const all = own.map(merged);
      const taken = new Set(all.map(({ uid }) => uidKey(uid)));
      return [...all, ...reached([...always, ...all.flatMap(namesOf)], taken)];
    },
    ancestors(entity) {
      const keys = new Set([uidKey(entity.uid)]);
      for (const uid of merged(entity).parents) keys.add(uidKey(uid));
      // The loop also reaches the keys that it adds to the set.
      for (const key of keys) for (const uid of known.get(key)?.entity.parents ?? []) keys.add(uidKey(uid));
      return keys;
    },
  };
}

const knownOf = (entity: Entity): [string, Known] => [uidKey(entity.uid), { entity, names: namesOf(entity) }];

/** Writes all names in the same way: Cedar's JSON also allows names inside `__entity`. */
const normal = ({ uid, parents, ...entity }: Entity): Entity => ({
  ...entity,
  uid: plain(uid),
  parents: parents.map(plain),
});

const plain = (uid: Uid | { readonly __entity: Uid }): Uid => ('__entity' in uid ? uid.__entity : uid);

const namesOf = ({ uid, attrs, parents, tags }: Entity): string[] =>
  [uid, ...parents, ...uidsIn(attrs), ...uidsIn(tags)].map(uidKey);

/** Returns the names of all entities in a value or a policy, at any depth. */
export function uidsIn(value: unknown): Uid[] {
  if (typeof value !== 'object' || value === null) return [];
  const { type, id } = value as Partial<Uid>;
  const own = typeof type === 'string' && typeof id === 'string' ? [{ type, id }] : [];
  return [...own, ...Object.values(value).flatMap(uidsIn)];
}
