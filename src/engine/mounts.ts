/** Handles the mounts as a whole: adds the mount of Vitrine's own state, joins instructions, finds icons, and reports states. */
import type { Operators } from '../core/access.ts';
import { invalid } from '../core/errors.ts';
import type { Mount } from '../core/mounts/mount.ts';
import type { PublishedServer } from '../core/mounts/published-server.ts';
import type { Resolver } from '../core/mounts/resolver.ts';
import { STATE_MOUNT } from '../core/mounts.ts';
import type { SubscriptionBook } from '../frontends/resource-tools/subscribing/book.ts';
import type { MountIcons } from '../frontends/resources/icons.ts';
import { type StateDocument, stateMount, upstreamsDocument } from '../frontends/state.ts';

/**
 * Returns the mounts with the mount of Vitrine's own state first. That mount has roots only for operators. It comes
 * first, so that other callers do not see a cursor because of it.
 * @param hide removes everything that no client may see
 */
export function withState(
  mounts: readonly Mount[],
  book: SubscriptionBook | undefined,
  hide: ((text: string) => string) | undefined,
  index?: StateDocument,
  ofOperators: readonly StateDocument[] = [],
  operators?: Operators,
): readonly Mount[] {
  const documents: StateDocument[] = [];
  if (book !== undefined) documents.push(subscriptionsDocument(book));
  if (mounts.some((mount) => mount.health !== undefined)) documents.push(upstreamsDocument(mounts, hide));
  if (index !== undefined) documents.push(index);
  documents.push(...ofOperators);
  if (documents.length === 0) return mounts;
  if (mounts.some((mount) => mount.name === STATE_MOUNT)) {
    throw invalid(`The mount name "${STATE_MOUNT}" is taken: Vitrine publishes its state under it. Choose another one`);
  }
  return [stateMount(documents, operators), ...mounts];
}

const subscriptionsDocument = (book: SubscriptionBook): StateDocument => ({
  name: 'subscriptions',
  title: 'Subscriptions made with tools',
  description: 'The subscriptions that this client made with tools, and the changes since',
  of: (ctx) => book.of(ctx),
});

/**
 * Returns the prefix of the resource tools; undefined if they need none. They need one if the tools of a mounted server have no
 * prefix, because that server may have a tool named `read`, too.
 */
export const prefixApart = (mounts: readonly Mount[]): string | undefined =>
  mounts.some(({ server, prefix }) => server !== undefined && prefix === 'none') ? STATE_MOUNT : undefined;

/** The most characters of all instructions together: a model reads them before anything else. */
const MAX_INSTRUCTIONS = 32_768;

/**
 * Joins the instructions of this server and of mounted ones. Those of a server with a prefix stand under its name and tell the
 * prefix, since they use the server's own names of tools and URIs.
 */
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

/** Returns the icons of a URI's mount, for its resources. Mounted servers set their own icons. */
export function iconsOf({ resolver }: { readonly resolver: Resolver }, uri: string): ReturnType<MountIcons> {
  const mount = resolver.resolve(uri)?.mount;
  return mount === undefined || (mount.icons === undefined && mount.server === undefined) ? undefined : mount;
}

/** Returns the required mounts that are not ready. */
export async function unreadyOf(mounts: readonly Mount[]): Promise<readonly string[]> {
  const asked = mounts.flatMap(({ name, ready }) => (ready === undefined ? [] : [{ name, ready }]));
  const answers = await Promise.all(asked.map(({ ready }) => ready().catch(() => false)));
  return asked.filter((_, index) => answers[index] === false).map(({ name }) => name);
}

/** Returns the state of each mounted server, in one word. */
export const upstreamStates = (
  mounts: readonly Mount[],
): readonly { readonly mount: string; readonly state: string }[] =>
  mounts.flatMap(({ name, health }) => {
    const found = health?.();
    return found !== undefined && 'state' in found ? [{ mount: name, state: String(found.state) }] : [];
  });

/** Whether further formats may be offered for a mount's resources; for a mounted server, only where the configuration says so. */
export const hasForms = ({ forms, server }: Mount): boolean => forms ?? server === undefined;
