/** Moves the focus between the parts of the page, as soon as the part is on the page. */

/** Milliseconds to wait for the element, because a server may be slow. */
const PATIENCE_MS = 10_000;

/** The number of the last request. A later request cancels the earlier ones. */
let lastRequest = 0;

/** Focuses an element once it exists, unless the user has moved the focus elsewhere in the meantime. */
function focusSoon(selector: string): void {
  const request = ++lastRequest;
  const before = document.activeElement;
  const deadline = performance.now() + PATIENCE_MS;
  const look = (): void => {
    const now = document.activeElement;
    const isElsewhere = now !== before && now !== null && now !== document.body;
    if (request !== lastRequest || isElsewhere || performance.now() > deadline) return;
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

/** Focuses the rows of a folder once they exist, or the folder if it has no entries. @param uri undefined for the roots */
export const focusFolder = (uri: string | undefined): void => {
  const rows = `.rows[data-uri="${CSS.escape(uri ?? '')}"]`;
  focusSoon(`${rows} [data-active] a, ${rows}:not([aria-busy="true"]):not(:has(.sheet a))`);
};
