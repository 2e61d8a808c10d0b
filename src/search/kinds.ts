/** Which resources of an index are decided about alike, and which of them a caller may read. */
import type { Context } from '../core/context.ts';
import type { IndexContext } from '../core/ranked.ts';
import { NAMES, type Resource } from '../protocol/resources.ts';
import type { IndexStore } from './index-store.ts';

/** Nobody decides: everybody may read it. */
const OPEN = '';

/** More than the URI decides. */
const BY_MORE = '?';

/** Another caller may find something else there. */
const BY_CALLER = '??';

type KindContext = Pick<IndexContext, 'access' | 'mounts' | 'mountOf'>;

export function kindOf(resource: Pick<Resource, 'uri' | typeof NAMES>, around: KindContext): string {
  const { access, mountOf, mounts } = around;
  const name = mountOf(resource.uri);
  const features = mounts().find((mount) => mount.name === name)?.provider.features;
  if (features?.apart === true || features?.roots === true) return BY_CALLER;
  if (access === undefined) return OPEN;
  if (features?.gathers === true) return BY_MORE;
  const [kind, ...others] = [resource.uri, ...(resource[NAMES]?.leadsTo ?? [])].map((uri) => access.kindOf(uri));
  return kind === undefined || others.some((other) => other !== kind) ? BY_MORE : kind;
}

export interface SeenKinds {
  /** The numbers of those that may be asked. */
  readonly ids: readonly number[];
  /** Those of which the caller may not be able to read everything. */
  readonly unsure: ReadonlySet<number>;
  /** Those that may be asked and are not unsure, by their keys. */
  readonly keys: ReadonlyMap<string, number>;
}

/** Decides by one resource of each kind, and knows nothing of kinds that rules of before made. */
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
