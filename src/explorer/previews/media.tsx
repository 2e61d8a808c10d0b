/** Shows images, sound and films from bytes that are already loaded: the element sends no requests. */
import { useEffect, useState } from 'preact/hooks';
import { TEXTS } from '../texts.ts';
import { lookOf } from './looks.ts';
import type { PreviewProps } from './props.ts';

export default function Media({ thing }: PreviewProps) {
  const { look, resource, bytes, type } = thing;
  const [url, setUrl] = useState<string>();
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    // Bytes of another type, such as HTML, would run as a page of this origin if the user opened the image in a new tab.
    const hasSafeType = lookOf(type, undefined) === look;
    setBroken(!hasSafeType);
    if (bytes === undefined || !hasSafeType) return;
    const objectUrl = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(objectUrl);
    return () => URL.revokeObjectURL(objectUrl);
  }, [bytes, type, look]);
  if (isBroken) return <p role="alert">{TEXTS.broken}</p>;
  if (url === undefined) return <p class="soft">{TEXTS.loading}</p>;
  const broke = (): void => setBroken(true);
  if (look === 'audio')
    // biome-ignore lint/a11y/useMediaCaption: a resource has no captions
    return <audio controls src={url} aria-label={resource.name} onError={broke} />;
  if (look === 'video')
    // biome-ignore lint/a11y/useMediaCaption: a resource has no captions
    return <video controls src={url} aria-label={resource.name} onError={broke} />;
  return <img src={url} alt={resource.title ?? resource.name} onError={broke} />;
}
