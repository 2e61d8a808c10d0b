/** Makes bodies of the items that another server sent for a read. An item can be sent on as it is, or cut and searched. */

import type { Data } from '../../connection/data.ts';
import { type BodyContent, knownSize, type ResourceBody } from '../../core/body.ts';
import { versioned } from '../../core/content-version.ts';
import { versionIn } from '../../protocol/content-version.ts';
import { isData } from '../../protocol/data.ts';
import { VERSION_META_KEY } from '../../protocol/meta.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';
import { windowIn } from '../../protocol/window.ts';

/**
 * @param uri the URI that was read
 * @param within whether an item with another URI is a child of that resource
 * @param ours whether the server supports Vitrine's windows and versions
 * @param ranged whether this read requests a window from such a server
 */
export function bodyOf(
  sent: Data & Resource,
  { uri, within, ours, ranged }: { uri: string; within: boolean; ours: boolean; ranged: boolean },
): ResourceBody {
  const item = withoutVersion(sent);
  const { text, blob, ...described } = item;
  const resource: Resource = described;
  const window = ranged ? windowIn(described) : undefined;
  const content = typeof blob === 'string' ? blobContent(blob) : textContent(typeof text === 'string' ? text : '');
  return {
    resource,
    content: versioned(content, ours ? versionIn(sent) : undefined),
    ...(window === undefined ? { item: item as unknown as ResourceContents } : { window }),
    ...(within && item.uri !== uri && { child: true }),
  };
}

/** Removes the other server's version of an item: contents that are made from it here get versions of their own. */
function withoutVersion<T extends Data>(item: T): T {
  if (!isData(item._meta) || !Object.hasOwn(item._meta, VERSION_META_KEY)) return item;
  const { [VERSION_META_KEY]: _version, ...meta } = item._meta;
  const { _meta, ...others } = item;
  return (Object.keys(meta).length === 0 ? others : { ...others, _meta: meta }) as unknown as T;
}

/** Returns the bodies without the children that do not fit into `maxBytes`: a read of a container may give a part (2093-5). */
export function withinBytes(bodies: readonly ResourceBody[], maxBytes: number): readonly ResourceBody[] {
  const sizeOf = ({ content }: ResourceBody): number => knownSize(content) ?? 0;
  let left = bodies.reduce((rest, body) => (body.child === true ? rest : rest - sizeOf(body)), maxBytes);
  return bodies.filter((body) => {
    if (body.child !== true) return true;
    const fits = sizeOf(body) <= left;
    if (fits) left -= sizeOf(body);
    return fits;
  });
}

/** Encodes the text only when its bytes are wanted; an item that is sent on as it is does not need them. */
function textContent(text: string): BodyContent {
  return {
    kind: 'stream',
    size: Buffer.byteLength(text),
    async *open() {
      yield Buffer.from(text, 'utf8');
    },
  };
}

function blobContent(blob: string): BodyContent {
  return {
    kind: 'stream',
    size: Buffer.byteLength(blob, 'base64'),
    async *open() {
      yield Buffer.from(blob, 'base64');
    },
  };
}
