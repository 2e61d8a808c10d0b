/** Small pictures of images, from their bytes: a few are read at a time, and only while they are in view. */

import { useEffect, useState } from 'preact/hooks';
import { essenceOf } from '../../core/formats/formats.ts';
import type { Resource } from '../../protocol/resources.ts';
import { lookOf } from '../previews/looks.ts';
import { stampOf } from '../state/listing.ts';
import { readThing } from '../state/reading.ts';
import { useStore } from '../state/use-store.ts';

/** The most bytes of an image that is read for a thumbnail. */
const MAX_BYTES = 2 * 1024 * 1024;

/** Images that are read at the same time. */
const AT_ONCE = 4;

/** Milliseconds that an entry has to be in view: whoever scrolls by reads nothing. */
const REST_MS = 150;

let reading = 0;
const waiting = new Set<() => void>();

/** Resolves when fewer than `AT_ONCE` images are being read. @throws the reason of the signal */
async function turn(signal: AbortSignal): Promise<void> {
  while (reading >= AT_ONCE) {
    await new Promise<void>((resolve) => {
      waiting.add(resolve);
      signal.addEventListener('abort', () => waiting.delete(resolve) && resolve(), { once: true });
    });
    signal.throwIfAborted();
  }
}

function done(): void {
  reading--;
  const [next] = waiting;
  if (next === undefined) return;
  waiting.delete(next);
  next();
}

/** @returns a `blob:` URL; undefined for a resource that is not a small image, and until the image has been read */
export function useThumbnail(entry: Resource): string | undefined {
  const store = useStore();
  const [url, setUrl] = useState<string>();
  const isSmall = typeof entry.size === 'number' && entry.size <= MAX_BYTES;
  const isImage = isSmall && lookOf(essenceOf(entry.mimeType), undefined) === 'image';
  const stamp = stampOf(entry);
  // Read again when the entry has changed, and not with each list that has it.
  useEffect(() => {
    if (!isImage) return;
    const abort = new AbortController();
    let made: string | undefined;
    const read = async (): Promise<void> => {
      await turn(abort.signal);
      reading++;
      try {
        const { bytes, type, look } = await readThing(store.client, entry, {}, abort.signal);
        // Bytes of any other type would be a page of this origin to whoever opens the image by itself.
        if (bytes === undefined || look !== 'image' || lookOf(type, undefined) !== 'image' || abort.signal.aborted)
          return;
        made = URL.createObjectURL(new Blob([bytes], { type }));
        setUrl(made);
      } finally {
        done();
      }
    };
    // An image that cannot be read has its icon.
    const timer = setTimeout(() => void read().catch(() => {}), REST_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
      setUrl(undefined);
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [store, entry.uri, stamp, isImage]);
  return url;
}
