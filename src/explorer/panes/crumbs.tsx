/** The top line: the path of the page, the search field, and the switch between light and dark. */
import { useEffect, useRef } from 'preact/hooks';
import { MAX_WORDS } from '../../frontends/explorer/search-address.ts';
import { useCell } from '../state/cell.ts';
import { folderBeside } from '../state/place.ts';
import { type Step, stepsTo } from '../state/tree.ts';
import { useStore } from '../state/use-store.ts';
import { TEXTS } from '../texts.ts';
import { focusRows } from './focus.ts';
import { Link } from './link.tsx';
import { nextTheme } from './theme.ts';

/** Milliseconds between the last keystroke and the search. */
const TYPING_MS = 250;

export function Top() {
  const store = useStore();
  const place = useCell(store.place);
  const roots = useCell(store.roots);
  const { title: server } = useCell(store.about);
  const steps: readonly Step[] = place.kind === 'resource' ? stepsTo(roots, place.uri) : [];
  return (
    <header>
      <nav aria-label={TEXTS.breadcrumb}>
        <ol class="crumbs">
          <li>
            <Link to={folderBeside(place, undefined)}>{server}</Link>
          </li>
          {steps.map(({ uri, name }, at) => (
            <li key={uri} aria-current={at === steps.length - 1 ? 'page' : undefined}>
              {at === steps.length - 1 ? (
                <bdi>{name}</bdi>
              ) : (
                <Link to={folderBeside(place, uri)}>
                  <bdi>{name}</bdi>
                </Link>
              )}
            </li>
          ))}
        </ol>
      </nav>
      <SearchField />
      <button type="button" class="icon" title={TEXTS.theme} aria-label={TEXTS.theme} onClick={nextTheme}>
        ☾
      </button>
    </header>
  );
}

function SearchField() {
  const store = useStore();
  const place = useCell(store.place);
  const words = place.kind === 'search' ? place.words : '';
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    // Leaves a field alone while the user types in it.
    if (field.current !== null && document.activeElement !== field.current) field.current.value = words;
  }, [words]);
  const search = (): void => {
    clearTimeout(timer.current);
    const typed = field.current?.value.trim() ?? '';
    if (typed !== '' || place.kind === 'search')
      store.go({ kind: 'search', words: typed }, store.place.get().kind === 'search');
  };
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          search();
          focusRows();
        }}
      >
        <input
          ref={field}
          id="search"
          type="search"
          aria-label={TEXTS.searchEverything}
          placeholder={`${TEXTS.searchEverything}  ${/Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}`}
          maxLength={MAX_WORDS}
          defaultValue={words}
          onInput={() => {
            clearTimeout(timer.current);
            timer.current = setTimeout(search, TYPING_MS);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown') return;
            event.preventDefault();
            focusRows();
          }}
        />
      </form>
    </search>
  );
}
