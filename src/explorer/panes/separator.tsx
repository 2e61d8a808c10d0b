/** The line between two panes: the user drags it, or moves it with the arrow keys. Widths are saved for the next visit. */
import { useEffect, useState } from 'preact/hooks';
import { TEXTS } from '../texts.ts';
import { keep, recall } from './theme.ts';

/** The widths of the panes, in pixels. */
const WIDTHS = {
  where: { least: 144, usual: 224, most: 480 },
  which: { least: 224, usual: 512, most: 1_024 },
} as const;

/** Pixels per key press. */
const STEP = 16;

export function Separator({ pane }: { readonly pane: keyof typeof WIDTHS }) {
  const { least, usual, most } = WIDTHS[pane];
  const name = `vitrine.width.${pane}`;
  const [width, setWidth] = useState(() => Number(recall(name) ?? usual) || usual);
  useEffect(() => document.documentElement.style.setProperty(`--${pane}`, `${width}px`), [pane, width]);
  const put = (next: number): void => {
    const bounded = Math.round(Math.min(most, Math.max(least, next)));
    setWidth(bounded);
    keep(name, String(bounded));
  };
  const isRightToLeft = (): boolean => getComputedStyle(document.documentElement).direction === 'rtl';
  const drag = (event: PointerEvent): void => {
    if (!(event.currentTarget instanceof HTMLElement)) return;
    const line = event.currentTarget;
    const start = event.clientX;
    line.setPointerCapture(event.pointerId);
    const moved = (each: PointerEvent): void =>
      put(width + (isRightToLeft() ? start - each.clientX : each.clientX - start));
    line.addEventListener('pointermove', moved);
    line.addEventListener('lostpointercapture', () => line.removeEventListener('pointermove', moved), { once: true });
  };
  return (
    <div
      class="separator"
      role="separator"
      aria-orientation="vertical"
      aria-label={TEXTS.resize}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={width}
      tabIndex={0}
      onPointerDown={drag}
      onKeyDown={(event) => {
        const way = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        if (way === 0) return;
        event.preventDefault();
        put(width + way * STEP * (isRightToLeft() ? -1 : 1));
      }}
    />
  );
}
