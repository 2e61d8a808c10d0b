/** A grid that draws only the rows in view. Keys move in it, and so does typing the beginning of an entry's name. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The rows that are drawn above and below those in view. */
const SPARE = 6;

/** Milliseconds without a key after which typing begins another name. */
const TYPED_MS = 800;

/** The entries of a grid, and the functions that it calls. */
export interface Entries {
  readonly uri: string | undefined;
  readonly label: string;
  readonly count: number;
  /** Whether more entries may come. */
  readonly busy: boolean;
  /** The entry that is shown as chosen; -1 for none. */
  readonly chosen: number;
  /** The entry that keys move from at first, if none is chosen; -1 for the first one. */
  readonly start: number;
  readonly name: (at: number) => string;
  /** Opens an entry. @param how `space` keeps the focus in the grid */
  readonly open: (at: number, how: 'enter' | 'space') => void;
  readonly up: () => void;
  /** Called with the range of entries that are drawn, when scrolling has stopped. */
  readonly viewed?: (from: number, to: number) => void;
}

export interface Shape {
  /** The height of a row in pixels. The style sheet has the same value. */
  readonly height: number;
  /** The height in pixels of the head, which stays in view above the rows. */
  readonly head: number;
  /** The width of an entry in pixels, if a row has several entries. */
  readonly width?: number;
}

export interface Grid {
  readonly box: RefObject<HTMLDivElement | null>;
  /** The number of entries in a row. */
  readonly across: number;
  /** The rows that are drawn. */
  readonly rows: readonly number[];
  /** The entry that keys move from. */
  readonly at: number;
  readonly setActive: (at: number) => void;
  readonly pressed: (event: KeyboardEvent) => void;
  readonly scrolled: () => void;
}

export function useGrid(entries: Entries, { height, head, width }: Shape): Grid {
  const { count, chosen, start, name, open, up, viewed } = entries;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 640, width: width ?? 0 });
  const [active, setActive] = useState(Math.max(0, chosen, start));
  const wantsFocus = useRef(false);
  const typed = useRef({ text: '', at: 0 });
  const across = width === undefined ? 1 : Math.max(1, Math.floor(view.width / width));
  const at = Math.min(active, Math.max(0, count - 1));
  const from = Math.max(0, Math.floor(view.top / height) - SPARE);
  const to = Math.min(Math.ceil(count / across), Math.ceil((view.top + view.height) / height) + SPARE);

  const measure = (): void => {
    const element = box.current;
    if (element !== null) setView({ top: element.scrollTop, height: element.clientHeight, width: element.clientWidth });
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const lead = chosen < 0 ? start : chosen;
  useLayoutEffect(() => {
    if (lead < 0) return;
    setActive(lead);
    show(lead);
  }, [lead]);

  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    box.current?.querySelector<HTMLElement>('[data-active] a')?.focus({ preventScroll: true });
  });

  useEffect(() => {
    const timer = setTimeout(() => viewed?.(from * across, Math.min(count, to * across)), 200);
    return () => clearTimeout(timer);
  }, [from, to, across, count, viewed]);

  function show(entry: number): void {
    const element = box.current;
    if (element === null) return;
    const room = element.clientHeight - head;
    const top = Math.floor(entry / across) * height;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + room) element.scrollTop = top + height - room;
  }

  function move(entry: number): void {
    if (count === 0) return;
    const next = Math.min(Math.max(0, entry), count - 1);
    wantsFocus.current = true;
    setActive(next);
    show(next);
    setView((before) => ({ ...before, top: box.current?.scrollTop ?? before.top }));
  }

  function type(key: string): void {
    const now = Date.now();
    const text = (now - typed.current.at > TYPED_MS ? '' : typed.current.text) + key.toLowerCase();
    typed.current = { text, at: now };
    // The first letter moves on to the next match; further letters stay on the entry as long as it matches.
    const first = text.length === 1 ? at + 1 : at;
    for (let step = 0; step < count; step++) {
      const entry = (first + step) % count;
      if (!name(entry).toLowerCase().startsWith(text)) continue;
      move(entry);
      return;
    }
  }

  function pressed(event: KeyboardEvent): void {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest('.head') !== null) return;
    const page = Math.max(1, Math.floor(view.height / height) - 2) * across;
    const enter = (): void => open(at, 'enter');
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(at + across),
      ArrowUp: () => move(at - across),
      PageDown: () => move(at + page),
      PageUp: () => move(at - page),
      Home: () => move(0),
      End: () => move(count - 1),
      Enter: enter,
      ArrowRight: width === undefined ? enter : () => move(at + 1),
      ArrowLeft: width === undefined ? up : () => move(at - 1),
      Backspace: up,
      ' ': () => open(at, 'space'),
    };
    const action = moves[event.key];
    if (action !== undefined) action();
    else if (event.key.length === 1 && event.key !== '/' && event.key !== '?') type(event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const rows: number[] = [];
  for (let row = from; row < to; row++) rows.push(row);
  // The row of the active entry is always drawn, so that Tab leads to it.
  const activeRow = Math.floor(at / across);
  if (count > 0 && (activeRow < from || activeRow >= to)) rows.push(activeRow);
  return { box, across, rows, at, setActive, pressed, scrolled: measure };
}
