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
  const [failed, setFailed] = useState<Look>();
  const { look } = thing;
  useEffect(() => {
    if (loaded.has(look)) return;
    let gone = false;
    MODULES[look]().then(
      (module) => {
        loaded.set(look, module.default);
        if (!gone) draw((times) => times + 1);
      },
      // The server cannot be reached, or the page is older than the server.
      () => {
        if (!gone) setFailed(look);
      },
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
  if (thing.text !== undefined) return <PlainText text={thing.text} />;
  return failed === look ? <NotLoaded /> : <p class="soft">{TEXTS.loading}</p>;
}

/** Offers to load the page again: browsers may keep the failure of a module, and an old page names modules that are gone. */
const NotLoaded = () => (
  <div class="problem" role="alert">
    <p>{TEXTS.noPreview}</p>
    <button type="button" onClick={() => location.reload()}>
      {TEXTS.reload}
    </button>
  </div>
);
