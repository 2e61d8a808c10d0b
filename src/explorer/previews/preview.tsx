/** Shows a preview with the module for its type, which is loaded on first use. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Guarded } from '../panes/guarded.tsx';
import { TEXTS } from '../texts.ts';
import type { Look } from './looks.ts';
import { PlainText } from './plain-text.tsx';
import type { PreviewProps } from './props.ts';

type Drawing = ComponentType<PreviewProps>;

const MODULES: Readonly<Record<Look, () => Promise<{ readonly default: Drawing }>>> = {
  text: () => import('./text.tsx'),
  markdown: () => import('./markdown.tsx'),
  table: () => import('./table.tsx'),
  tree: () => import('./tree.tsx'),
  image: () => import('./media.tsx'),
  audio: () => import('./media.tsx'),
  video: () => import('./media.tsx'),
  hex: () => import('./hex.tsx'),
};

const loaded = new Map<Look, Drawing>();

export function Preview({ thing }: PreviewProps) {
  const [, draw] = useState(0);
  const { look } = thing;
  useEffect(() => {
    if (loaded.has(look)) return;
    let gone = false;
    MODULES[look]().then(
      (module) => {
        loaded.set(look, module.default);
        if (!gone) draw((times) => times + 1);
      },
      // The module cannot be loaded. A text stays as plain text; bytes have no preview.
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [look]);
  const Drawn = loaded.get(look);
  if (Drawn !== undefined)
    return (
      <Guarded of={`${look} ${thing.resource.uri}`}>
        <Drawn thing={thing} />
      </Guarded>
    );
  return thing.text === undefined ? <p class="soft">{TEXTS.loading}</p> : <PlainText text={thing.text} />;
}
