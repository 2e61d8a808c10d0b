/** The page: the path, the mounts, the folder, the resource with its metadata, and the drawer of requests below. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { isWebAddress } from '../../core/icons.ts';
import { isFolder } from '../../frontends/explorer/kinds.ts';
import type { WaitingQuestion } from '../forms/asked.ts';
import { Offer } from '../forms/offer.tsx';
import { Questions } from '../forms/questions.tsx';
import { Preview } from '../previews/preview.tsx';
import { type Cell, useCell } from '../state/cell.ts';
import { addressOfPlace, looksOf } from '../state/place.ts';
import { madeThing } from '../state/reading.ts';
import { parentOf, stepsTo } from '../state/tree.ts';
import { useStore } from '../state/use-store.ts';
import { TEXTS } from '../texts.ts';
import { Top } from './crumbs.tsx';
import { Folder } from './folder.tsx';
import { Guarded } from './guarded.tsx';
import { Keys } from './keys.tsx';
import { Results } from './results.tsx';
import { Separator } from './separator.tsx';
import { ThingPane } from './thing.tsx';
import { useDescribed } from './use-thing.ts';
import { Where } from './where.tsx';
import { Wire } from './wire.tsx';

export interface AppProps {
  readonly endpoint: string | undefined;
  readonly help: Cell<boolean>;
  readonly asked: Cell<readonly WaitingQuestion[]>;
}

export function App({ endpoint, help, asked }: AppProps) {
  const store = useStore();
  const place = useCell(store.place);
  return (
    <>
      <a class="skip" href="#main">
        {TEXTS.skip}
      </a>
      <Top />
      <div class={`panes at-${place.kind}`}>
        <Where />
        <Guarded of={addressOfPlace(place)}>
          {place.kind === 'home' || place.kind === 'resource' ? (
            <Browse endpoint={endpoint} />
          ) : (
            <main id="main" class="wide" tabIndex={-1}>
              {place.kind === 'search' ? (
                <Results words={place.words} />
              ) : (
                <Offer key={`${place.kind} ${place.name}`} kind={place.kind} name={place.name} />
              )}
            </main>
          )}
        </Guarded>
      </div>
      <Wire endpoint={endpoint} />
      <Keys help={help} />
      <Questions asked={asked} />
    </>
  );
}

/** The first page: the server's own description. */
function About() {
  const store = useStore();
  const { title, description, instructions, website } = useCell(store.about);
  return (
    <article>
      <h1 dir="auto" tabIndex={-1}>
        {title}
      </h1>
      {description !== undefined && (
        <p class="lead" dir="auto">
          {description}
        </p>
      )}
      {instructions !== undefined && <Instructions text={instructions} />}
      {website !== undefined && isWebAddress(website) && (
        <p>
          <a href={website} target="_blank" rel="noopener noreferrer external">
            {website}
          </a>
        </p>
      )}
      <p class="soft">
        {TEXTS.welcome} <kbd>?</kbd>
      </p>
    </article>
  );
}

/** The server's instructions for models, which are Markdown. */
function Instructions({ text }: { readonly text: string }) {
  const thing = useMemo(() => madeThing(text, 'text/markdown'), [text]);
  return (
    <details open>
      <summary class="soft">{TEXTS.instructions}</summary>
      <Preview thing={thing} />
    </details>
  );
}

/** The most columns, including that of the current folder. */
const MAX_COLUMNS = 8;

function Browse({ endpoint }: { readonly endpoint: string | undefined }) {
  const store = useStore();
  const place = useCell(store.place);
  const roots = useCell(store.roots);
  const { title: server } = useCell(store.about);
  const uri = place.kind === 'resource' ? place.uri : undefined;
  const described = useDescribed(uri);
  const title = described.resource?.title ?? described.resource?.name;
  useEffect(() => {
    document.title = title === undefined ? server : `${title} · ${server}`;
  }, [title, server]);
  const which = useRef<HTMLDivElement>(null);
  const { resource } = described;
  const isIn = resource !== undefined && isFolder(resource);
  // A folder shows itself, any other resource shows its folder. Until that is known, the previous columns stay.
  const isReady = uri === undefined || resource !== undefined || described.problem !== undefined;
  const last = useRef<{ readonly folder: string | undefined }>(undefined);
  if (isReady) last.current = { folder: uri === undefined || isIn ? uri : parentOf(roots, uri) };
  const folder = last.current?.folder;
  useEffect(() => {
    // Scrolls to the last column, which is the current one.
    const frame = requestAnimationFrame(() =>
      which.current?.lastElementChild?.scrollIntoView({ block: 'nearest', inline: 'end' }),
    );
    return () => cancelAnimationFrame(frame);
  }, [folder, place]);
  if (place.kind !== 'resource' && place.kind !== 'home') return null;
  const columns = place.layout === 'columns' && folder !== undefined ? stepsTo(roots, folder).slice(-MAX_COLUMNS) : [];
  return (
    <>
      <section class="which" aria-label={TEXTS.entries} data-in={isIn || uri === undefined ? '' : undefined}>
        <Separator pane="which" />
        <div class={place.layout === 'columns' ? 'columns' : 'columns one'} ref={which}>
          {columns.slice(0, -1).map((step, at) => (
            <div class="column" key={step.uri}>
              <Folder uri={step.uri} chosen={columns[at + 1]?.uri} looks={{ layout: 'columns' }} narrow />
            </div>
          ))}
          <div class="column" key={folder}>
            {last.current !== undefined && (
              <Folder uri={folder} chosen={isIn ? undefined : uri} looks={looksOf(place)} />
            )}
          </div>
        </div>
      </section>
      <main id="main" tabIndex={-1}>
        <div id="thing">
          {place.kind === 'resource' ? <ThingPane at={place} described={described} endpoint={endpoint} /> : <About />}
        </div>
      </main>
    </>
  );
}
