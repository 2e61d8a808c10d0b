/** Images, sound and film, from their bytes: the page asks for nothing. */
import { useEffect, useState } from 'preact/hooks';
import { TEXTS } from '../texts.ts';
import { lookOf } from './looks.ts';
import type { PreviewProps } from './props.ts';

export default function Media({ thing }: PreviewProps) {
  const { look, resource, bytes, type } = thing;
  const [url, setUrl] = useState<string>();
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    // Bytes of any other type would be a page of this origin to whoever opens the image by itself.
    const isIt = lookOf(type, undefined) === look;
    setBroken(!isIt);
    if (bytes === undefined || !isIt) return;
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type, look]);
  if (isBroken) return <p role="alert">{TEXTS.broken}</p>;
  if (url === undefined) return <p class="soft">{TEXTS.loading}</p>;
  const broke = (): void => setBroken(true);
  if (look === 'audio')
    // biome-ignore lint/a11y/useMediaCaption: there are none to show
    return <audio controls src={url} aria-label={resource.name} onError={broke} />;
  if (look === 'video')
    // biome-ignore lint/a11y/useMediaCaption: there are none to show
    return <video controls src={url} aria-label={resource.name} onError={broke} />;
  return <img src={url} alt={resource.title ?? resource.name} onError={broke} />;
}
