/** Items of a read, as bodies: what another server sent, to be sent on as it is, or cut and looked into where that is wanted. */

import type { Data } from '../../connection/data.ts';
import type { BodyContent, BodyWindow, ResourceBody } from '../../core/body.ts';
import { WINDOW_META_KEY } from '../../protocol/meta.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';

/**
 * @param uri what was read
 * @param within whether an item with another URI is a child of it
 * @param ranged whether a window was asked of a server that gives windows
 */
export function bodyOf(item: Data & Resource, uri: string, within: boolean, ranged: boolean): ResourceBody {
  const { text, blob, ...said } = item;
  const resource: Resource = said;
  const window = ranged ? windowOf(said._meta) : undefined;
  return {
    resource,
    content: typeof blob === 'string' ? blobContent(blob) : textContent(typeof text === 'string' ? text : ''),
    ...(window === undefined ? { item: item as unknown as ResourceContents } : { window }),
    ...(within && item.uri !== uri && { child: true }),
  };
}

/** Decoded when somebody wants the bytes: whoever sends the item on does not. */
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

function windowOf(meta: unknown): BodyWindow | undefined {
  const window = (meta as Data | undefined)?.[WINDOW_META_KEY] as Data | undefined;
  if (typeof window?.offset !== 'number') return undefined;
  return { offset: window.offset, ...(typeof window.total === 'number' && { total: window.total }) };
}
