/** Handles the keys that work everywhere, and shows the dialog that lists all keys. */
import { useEffect, useRef } from 'preact/hooks';
import type { Cell } from '../state/cell.ts';
import { useCell } from '../state/cell.ts';
import { folderBeside } from '../state/place.ts';
import type { Store } from '../state/store.ts';
import { parentOf } from '../state/tree.ts';
import { KEYS, TEXTS } from '../texts.ts';
import { focusFilter, focusFolder, focusRows, focusSearch } from './focus.ts';

const isField = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, dialog') !== null;

/** @param help whether the dialog is open @returns a function that stops handling keys */
export function takeKeys(store: Store, help: Cell<boolean>): () => void {
  const pressed = (event: KeyboardEvent): void => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      if (store.place.get().kind !== 'search') store.go({ kind: 'search', words: '' });
      focusSearch();
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === 'Escape' && event.target instanceof Element && event.target.matches('#filter, #search')) {
      event.preventDefault();
      focusRows();
      return;
    }
    if (event.key === 'ArrowDown' && event.target instanceof Element && event.target.matches('#filter')) {
      event.preventDefault();
      focusRows();
      return;
    }
    if (isField(event.target)) return;
    const does: Readonly<Record<string, () => void>> = {
      '/': focusFilter,
      '?': () => help.set(true),
      Backspace: () => goUp(store),
      Escape: focusRows,
      ArrowDown: () => document.activeElement === document.body && focusRows(),
    };
    const found = does[event.key];
    if (found === undefined) return;
    if (event.key === 'ArrowDown' && document.activeElement !== document.body) return;
    event.preventDefault();
    found();
  };
  document.addEventListener('keydown', pressed);
  return () => document.removeEventListener('keydown', pressed);
}

function goUp(store: Store): void {
  const at = store.place.get();
  const above = at.kind === 'resource' ? parentOf(store.roots.get(), at.uri) : undefined;
  store.go(folderBeside(at, above));
  focusFolder(above);
}

export function Keys({ help }: { readonly help: Cell<boolean> }) {
  const isOpen = useCell(help);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  if (!isOpen) return null;
  return (
    <dialog ref={dialog} aria-label={TEXTS.keys} onClose={() => help.set(false)}>
      <h2>{TEXTS.keys}</h2>
      <dl class="keys">
        {KEYS.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">{TEXTS.close}</button>
      </form>
    </dialog>
  );
}
