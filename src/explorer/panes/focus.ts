/** Moves the focus between the parts of the page, when what is to have it is there. */

/** Milliseconds to wait for it: a server may be slow. */
const PATIENCE_MS = 10_000;

/** Another one takes the place of the one before, and so does a person who goes elsewhere. */
let wanted = 0;

function focusSoon(selector: string): void {
  const own = ++wanted;
  const before = document.activeElement;
  const deadline = performance.now() + PATIENCE_MS;
  const look = (): void => {
    const now = document.activeElement;
    const isElsewhere = now !== before && now !== null && now !== document.body;
    if (own !== wanted || isElsewhere || performance.now() > deadline) return;
    const found = document.querySelector<HTMLElement>(selector);
    if (found !== null) found.focus();
    else requestAnimationFrame(look);
  };
  look();
}

export const focusThing = (): void => focusSoon('#thing h1');
export const focusFilter = (): void => focusSoon('#filter');
export const focusSearch = (): void => {
  focusSoon('#search');
  document.querySelector<HTMLInputElement>('#search')?.select();
};
export const focusRows = (): void => focusSoon('.column:last-child [data-active] a, .results a');

/** Moves it to the rows of a folder when they are there, and to the folder when it has none. @param uri undefined for the roots */
export const focusFolder = (uri: string | undefined): void => {
  const rows = `.rows[data-uri="${CSS.escape(uri ?? '')}"]`;
  focusSoon(`${rows} [data-active] a, ${rows}:not([aria-busy="true"]):not(:has(.sheet a))`);
};
