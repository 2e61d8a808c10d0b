/** Reads an entry, or the root as a bounded set of its children. */
import { bytesOf, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import type { ReadOptions } from '../../core/provider.ts';
import { type Entries, entryOf, nameIn } from './entries.ts';

/** @throws ResourceError `not-found`, `invalid` */
export function readExample(
  entries: Entries,
  uri: string,
  { maxBytes, maxChildren }: ReadOptions,
  ctx: Context,
): readonly ResourceBody[] {
  ctx.signal.throwIfAborted();
  const name = nameIn(uri);
  if (name !== undefined) return [bodyOf(entries, name)];
  let left = maxBytes;
  return entries.names.slice(0, maxChildren).flatMap((each) => {
    const size = entries.bytes.get(each)?.byteLength ?? 0;
    if (size > left) return [];
    left -= size;
    return [{ ...bodyOf(entries, each), child: true }];
  });
}

function bodyOf(entries: Entries, name: string): ResourceBody {
  const resource = entryOf(entries, name);
  return { resource, content: bytesOf(entries.bytes.get(name) ?? new Uint8Array()) };
}
