/**
 * Vitrine's own state as resources, `vitrine+state:///...`: the subscriptions that a client has made by tools (CB-8),
 * and how the mounted servers are. No list shows them, since they are not about what is served.
 */
import { bytesOf } from '../core/body.ts';
import type { Context, Principal } from '../core/context.ts';
import { invalid, notFound, notListable } from '../core/errors.ts';
import type { Mount } from '../core/mounts/mount.ts';
import { STATE_MOUNT } from '../core/mounts.ts';
import type { ResourceProvider } from '../core/provider.ts';
import type { IndexState } from '../core/ranked.ts';
import { changeTexts } from '../core/text/scrub.ts';
import { parseTreeUri, treeUri } from '../core/uri.ts';
import type { Resource } from '../protocol/resources.ts';

const SCHEME = 'state';

/** One of them: what it is called, and its JSON for whoever asks. */
export interface StateDocument {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  of(ctx: Context): unknown;
}

/** The URI of one, as it is published. */
export const stateUri = (name: string): string => `${STATE_MOUNT}+${SCHEME}:///${name}`;

export const SUBSCRIPTIONS_URI = stateUri('subscriptions');

/** How each mounted server is: connected or not, since when, and what went wrong. @param hide what is no client's business */
export function upstreamsDocument(mounts: readonly Mount[], hide = (text: string): string => text): StateDocument {
  return {
    name: 'upstreams',
    title: 'Mounted servers',
    description: 'How the servers are that are mounted here: who they are, connected or away, what went wrong',
    of: () =>
      changeTexts(
        Object.fromEntries(mounts.flatMap(({ name, health }) => (health === undefined ? [] : [[name, health()]]))),
        hide,
      ),
  };
}

/** How the index is. Its numbers are for those who may read all that is in it. */
export const indexDocument = (
  state: () => IndexState | undefined,
  mayReadAll: (principal: Principal) => boolean,
): StateDocument => ({
  name: 'index',
  title: 'Index of ranked search',
  description: 'How the index is: made or being made, how much is in it, and how much was left out, by the reason',
  of({ principal }) {
    const now = state() ?? { state: 'opening' };
    return mayReadAll(principal) ? now : { state: now.state };
  },
});

export const stateMount = (documents: readonly StateDocument[]): Mount => ({
  name: STATE_MOUNT,
  listed: false,
  provider: stateProvider(documents),
});

function stateProvider(documents: readonly StateDocument[]): ResourceProvider {
  const byName = new Map(documents.map((document) => [document.name, document]));

  /** @throws ResourceError `not-found`, `invalid` */
  function find(uri: string): { document: StateDocument; resource: Resource } {
    const { segments, trailingSlash } = parseTreeUri(uri, SCHEME);
    const document = trailingSlash || segments.length !== 1 ? undefined : byName.get(segments[0] ?? '');
    if (document === undefined) throw notFound(uri);
    const { name, title, description } = document;
    const resource: Resource = {
      uri: treeUri(SCHEME, [name]),
      name,
      title,
      description,
      mimeType: 'application/json',
      capabilities: { list: false, subscribe: false },
    };
    return { document, resource };
  }

  return {
    name: STATE_MOUNT,
    features: {
      schemes: [SCHEME],
      watch: false,
      templates: false,
      completion: false,
      search: false,
      ranges: true,
      hints: true,
    },
    async list(uri) {
      if (uri === undefined) return { resources: [] };
      throw notListable(find(uri).resource.uri);
    },
    metadata: async (uri) => find(uri).resource,
    async read(uri, { range }, ctx) {
      const { document, resource } = find(uri);
      ctx.notes?.plain();
      const bytes = Buffer.from(`${JSON.stringify(document.of(ctx), undefined, 2)}\n`);
      if (range === undefined) return [{ resource, content: bytesOf(bytes) }];
      const { offset, length } = range;
      const total = bytes.byteLength;
      if (offset > total)
        throw invalid(`The window begins behind the end of the resource, which has ${total} bytes`, uri);
      const end = length === undefined ? total : offset + length;
      return [{ resource, content: bytesOf(bytes.subarray(offset, end)), window: { offset, total } }];
    },
  };
}
