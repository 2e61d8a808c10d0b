/** Looks at the mounts as a whole: adds the one of Vitrine's own state, joins instructions, finds icons, and tells how mounts are. */
import { invalid } from '../core/errors.ts';
import type { Mount } from '../core/mounts/mount.ts';
import type { PublishedServer } from '../core/mounts/published-server.ts';
import type { Resolver } from '../core/mounts/resolver.ts';
import { STATE_MOUNT } from '../core/mounts.ts';
import type { SubscriptionBook } from '../frontends/resource-tools/subscribing/book.ts';
import type { MountIcons } from '../frontends/resources/icons.ts';
import { type StateDocument, stateMount, upstreamsDocument } from '../frontends/state.ts';

/**
 * The mounts and, before them, the one of Vitrine's own state: it has no roots, so no list begins with it.
 * @param hide takes out of it what no client may see
 */
export function withState(
  mounts: readonly Mount[],
  book: SubscriptionBook | undefined,
  hide: ((text: string) => string) | undefined,
  index?: StateDocument,
): readonly Mount[] {
  const documents: StateDocument[] = [];
  if (book !== undefined) documents.push(subscriptionsDocument(book));
  if (mounts.some((mount) => mount.health !== undefined)) documents.push(upstreamsDocument(mounts, hide));
  if (index !== undefined) documents.push(index);
  if (documents.length === 0) return mounts;
  if (mounts.some((mount) => mount.name === STATE_MOUNT)) {
    throw invalid(`The mount name "${STATE_MOUNT}" is taken: Vitrine publishes its state under it. Choose another one`);
  }
  return [stateMount(documents), ...mounts];
}

const subscriptionsDocument = (book: SubscriptionBook): StateDocument => ({
  name: 'subscriptions',
  title: 'Subscriptions by tools',
  description: 'What this client has subscribed to by the tools, and what has changed since',
  of: (ctx) => book.of(ctx),
});

/** The resource tools' prefix beside a server whose tools have none: a tool of its own may be called `read`, too. */
export const prefixApart = (mounts: readonly Mount[]): string | undefined =>
  mounts.some(({ server, prefix }) => server !== undefined && prefix === 'none') ? STATE_MOUNT : undefined;

/** Characters of all instructions: a model reads them before anything else. */
const MAX_INSTRUCTIONS = 32_768;

/** Each mounted server's instructions under its name: they speak of tools and URIs as that server calls them. */
export function joinInstructions(own: string | undefined, servers: readonly PublishedServer[]): string | undefined {
  const parts = servers.flatMap(({ mount, prefix, instructions }) => {
    if (instructions === undefined || instructions.trim() === '') return [];
    if (prefix === '') return [instructions];
    return [
      `# ${mount}\n\nHere its tools and prompts begin with "${prefix}", its URIs with "${mount}+".\n\n${instructions}`,
    ];
  });
  const all = own === undefined ? parts : [own, ...parts];
  return all.length === 0 ? undefined : all.join('\n\n').slice(0, MAX_INSTRUCTIONS);
}

/** The icons of the mount of a URI, to be put on what it has. Those of a mounted server are its own business. */
export function iconsOf({ resolver }: { readonly resolver: Resolver }, uri: string): ReturnType<MountIcons> {
  const mount = resolver.resolve(uri)?.mount;
  return mount === undefined || (mount.icons === undefined && mount.server === undefined) ? undefined : mount;
}

/** Mounts that have to be there, and are not. */
export async function unreadyOf(mounts: readonly Mount[]): Promise<readonly string[]> {
  const asked = mounts.flatMap(({ name, ready }) => (ready === undefined ? [] : [{ name, ready }]));
  const answers = await Promise.all(asked.map(({ ready }) => ready().catch(() => false)));
  return asked.filter((_, index) => answers[index] === false).map(({ name }) => name);
}

/** How each mounted server is, in one word. */
export const upstreamStates = (
  mounts: readonly Mount[],
): readonly { readonly mount: string; readonly state: string }[] =>
  mounts.flatMap(({ name, health }) => {
    const found = health?.();
    return found !== undefined && 'state' in found ? [{ mount: name, state: String(found.state) }] : [];
  });

/** Whether what a mount has may be offered in other forms: what a mounted server has is, where that is said. */
export const hasForms = ({ forms, server }: Mount): boolean => forms ?? server === undefined;
