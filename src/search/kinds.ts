/** Groups the resources of an index into kinds that access rules treat alike, and says which kinds a caller may search. */
import type { Context } from '../core/context.ts';
import type { IndexContext } from '../core/ranked.ts';
import { NAMES, type Resource } from '../protocol/resources.ts';
import type { IndexStore } from './index-store.ts';

/** The kind of resources without access rules: everybody may read them. */
const OPEN = '';

/** The kind of resources whose URI alone does not decide who may read them. */
const BY_MORE = '?';

/** The kind of resources of mounts that may show each client something else. */
const BY_CALLER = '??';

type KindContext = Pick<IndexContext, 'access' | 'mounts' | 'mountOf'>;

/** Returns the kind of a resource. */
export function kindOf(resource: Pick<Resource, 'uri' | typeof NAMES>, context: KindContext): string {
  const { access, mountOf, mounts } = context;
  const name = mountOf(resource.uri);
  const features = mounts().find((mount) => mount.name === name)?.provider.features;
  if (features?.apart === true || features?.roots === true) return BY_CALLER;
  if (access === undefined) return OPEN;
  if (features?.gathers === true) return BY_MORE;
  const [kind, ...others] = [resource.uri, ...(resource[NAMES]?.leadsTo ?? [])].map((uri) => access.kindOf(uri));
  return kind === undefined || others.some((other) => other !== kind) ? BY_MORE : kind;
}

export interface SeenKinds {
  /** The numbers of the kinds that the caller may search. */
  readonly ids: readonly number[];
  /** The numbers of the kinds that may have resources that the caller may not read. */
  readonly unsure: ReadonlySet<number>;
  /** The numbers of the other kinds that the caller may search, by their keys. */
  readonly keys: ReadonlyMap<string, number>;
}

/** Decides by one resource of each kind. Leaves out kinds that come from earlier access rules. */
export async function seenKinds(store: IndexStore, { access }: KindContext, ctx: Context): Promise<SeenKinds> {
  const ids: number[] = [];
  const unsure = new Set<number>();
  const keys = new Map<string, number>();
  const everything = access === undefined || access.everything(ctx.principal);
  for (const { id, key, uri } of await store.kinds()) {
    const isUnsure = key === BY_CALLER || (key === BY_MORE && !everything);
    if (isUnsure) unsure.add(id);
    if (!(isUnsure || key === BY_MORE || (await isSeen(key, uri)))) continue;
    ids.push(id);
    if (!isUnsure) keys.set(key, id);
  }
  return { ids, unsure, keys };

  async function isSeen(key: string, uri: string): Promise<boolean> {
    if (access === undefined) return key === OPEN;
    return access.kindOf(uri) === key && (everything || (await access.mayRead(uri, ctx)));
  }
}
