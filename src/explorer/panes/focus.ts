/** Moves the focus between the parts of the page, when what is to have it is there. */

/** Frames to wait for it. */
const MAX_FRAMES = 60;

function focusSoon(selector: string, frames = MAX_FRAMES): void {
  const found = document.querySelector<HTMLElement>(selector);
  if (found !== null) found.focus();
  else if (frames > 0) requestAnimationFrame(() => focusSoon(selector, frames - 1));
}

export const focusThing = (): void => focusSoon('#thing h1');
export const focusFilter = (): void => focusSoon('#filter');
export const focusSearch = (): void => {
  focusSoon('#search');
  document.querySelector<HTMLInputElement>('#search')?.select();
};
export const focusRows = (): void => focusSoon('.column:last-child [data-active] a, .results a');

/** Moves it to the rows of a folder when they are there. @param uri undefined for the roots */
export const focusFolder = (uri: string | undefined): void => {
  const rows = `.rows[data-uri="${CSS.escape(uri ?? '')}"]`;
  focusSoon(`${rows} [data-active] a, ${rows}[aria-rowcount="0"], ${rows}[aria-rowcount="1"]`);
};
