/**
 * The state of the subscription tools as a resource, `vitrine+state:///subscriptions` (CB-8): for each peer its own. No
 * list shows it, since it is about the asking and not about what is served.
 */
import { bytesOf } from '../../../core/body.ts';
import { invalid, notFound, notListable } from '../../../core/errors.ts';
import { type Mount, STATE_MOUNT } from '../../../core/mounts.ts';
import type { ResourceProvider } from '../../../core/provider.ts';
import { parseTreeUri, treeUri } from '../../../core/uri.ts';
import type { Resource } from '../../../protocol/resources.ts';
import type { SubscriptionBook } from './book.ts';

const SCHEME = 'state';

/** As it is published. */
export const SUBSCRIPTIONS_URI = `${STATE_MOUNT}+${SCHEME}:///subscriptions`;

const SUBSCRIPTIONS: Resource = {
  uri: treeUri(SCHEME, ['subscriptions']),
  name: 'subscriptions',
  title: 'Subscriptions by tools',
  description: 'What this client has subscribed to by the tools, and what has changed since',
  mimeType: 'application/json',
  capabilities: { list: false, subscribe: false },
};

export const stateMount = (book: SubscriptionBook): Mount => ({ name: STATE_MOUNT, provider: stateProvider(book) });

function stateProvider(book: SubscriptionBook): ResourceProvider {
  /** @throws ResourceError `not-found`, `invalid` */
  function find(uri: string): Resource {
    const { segments, trailingSlash } = parseTreeUri(uri, SCHEME);
    if (trailingSlash || segments.length !== 1 || segments[0] !== SUBSCRIPTIONS.name) throw notFound(uri);
    return SUBSCRIPTIONS;
  }

  return {
    name: STATE_MOUNT,
    features: { schemes: [SCHEME], watch: false, templates: false, completion: false, search: false, ranges: true },
    async list(uri) {
      if (uri === undefined) return { resources: [] };
      throw notListable(find(uri).uri);
    },
    metadata: async (uri) => find(uri),
    async read(uri, { range }, ctx) {
      const resource = find(uri);
      const bytes = Buffer.from(`${JSON.stringify(book.of(ctx), undefined, 2)}\n`);
      if (range === undefined) return [{ resource, content: bytesOf(bytes) }];
      const { offset, length } = range;
      const total = bytes.byteLength;
      if (offset > total)
        throw invalid(`The window begins behind the end of the resource, which has ${total} bytes`, uri);
      const end = length === undefined ? total : offset + length;
      return [{ resource, content: bytesOf(bytes.subarray(offset, end)), window: { offset, total } }];
    },
    async close() {
      book.close();
    },
  };
}
