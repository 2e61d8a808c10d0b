/** Shows the first pane: mounts with their state, and the templates, tools and prompts of the server. */
import { isFolder } from '../../frontends/explorer/kinds.ts';
import { MISSING_META_KEY } from '../../protocol/meta.ts';
import { useCell } from '../state/cell.ts';
import { folderBeside, OFFERS } from '../state/place.ts';
import { rootOf } from '../state/tree.ts';
import { useStore } from '../state/use-store.ts';
import { TEXTS } from '../texts.ts';
import { Link } from './link.tsx';
import { Separator } from './separator.tsx';

/** Reasons of errors that say that a mount cannot be reached. */
const AWAY: ReadonlySet<string> = new Set(['unavailable', 'timeout']);

/** The most mounts that this pane shows. The first page shows all. */
const MAX_PLACES = 64;

interface Missing {
  readonly mount?: string | undefined;
  readonly reason: string;
}

export function Where() {
  const store = useStore();
  const place = useCell(store.place);
  const roots = useCell(store.roots);
  const offers = useCell(store.offers);
  const { meta } = useCell(store.listing(undefined).listed);
  const notes = meta?.[MISSING_META_KEY];
  const missing: readonly Missing[] = Array.isArray(notes) ? notes : [];
  const mounts = roots.filter(isFolder);
  const within = place.kind === 'resource' ? rootOf(roots, place.uri)?.uri : undefined;
  return (
    <nav class="where" aria-label={TEXTS.mounts}>
      <Separator pane="where" />
      <div class="scroll">
        {mounts.length + missing.length > 0 && <h2>{TEXTS.mounts}</h2>}
        <ul>
          {mounts.slice(0, MAX_PLACES).map((root) => (
            <li key={root.uri}>
              <Link to={folderBeside(place, root.uri)} aria-current={root.uri === within ? 'true' : undefined}>
                <State uri={root.uri} />
                <bdi>{root.name}</bdi>
              </Link>
            </li>
          ))}
          {missing.map(({ mount, reason }) => (
            <li key={mount} class="soft">
              <span class="state away" role="img" aria-label={TEXTS.away} />
              <bdi>{mount}</bdi> <small>{reason}</small>
            </li>
          ))}
        </ul>
        {OFFERS.map((kind) => {
          const all = offers[kind];
          if (all.length === 0) return undefined;
          return (
            <details key={kind} open={place.kind === kind}>
              <summary>
                <h2>{TEXTS[kind]}</h2> <span class="soft">{all.length}</span>
              </summary>
              <ul>
                {all.map((each) => {
                  const name = 'uriTemplate' in each ? each.uriTemplate : each.name;
                  const isHere = place.kind === kind && place.name === name;
                  return (
                    <li key={name}>
                      <Link to={{ kind, name }} aria-current={isHere ? 'true' : undefined} title={each.description}>
                        <bdi>{each.title ?? each.name}</bdi>
                      </Link>
                    </li>
                  );
                })}
              </ul>
            </details>
          );
        })}
      </div>
    </nav>
  );
}

/** Shows the dot of a mount: filled, half filled if the mount is slow, or empty and with the reason if it cannot be reached. */
function State({ uri }: { readonly uri: string }) {
  const { slow, problem } = useCell(useStore().listing(uri).listed);
  const isAway = problem !== undefined && AWAY.has(problem.reason);
  const text = isAway ? `${TEXTS.away}: ${problem.message}` : slow === true ? TEXTS.slow : TEXTS.here;
  return (
    <span class={`state${isAway ? ' away' : slow === true ? ' slow' : ''}`} role="img" aria-label={text} title={text} />
  );
}
