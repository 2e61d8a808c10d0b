/** A grid of which only the rows in view are in the page, moved in by keys and by typing what an entry begins with. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows beyond those in view, above and below. */
const SPARE = 6;

/** Milliseconds after which what is typed begins anew. */
const TYPED_MS = 800;

/** The entries of a grid, and the functions that it calls. */
export interface Entries {
  readonly uri: string | undefined;
  readonly label: string;
  readonly count: number;
  /** Whether entries may still come. */
  readonly busy: boolean;
  /** The entry that is shown as chosen; -1 for none. */
  readonly chosen: number;
  /** The entry that keys move from at first, where none is chosen; -1 for the first one. */
  readonly start: number;
  readonly name: (at: number) => string;
  /** @param how Enter, or Space, which stays in the grid */
  readonly open: (at: number, how: 'enter' | 'space') => void;
  readonly up: () => void;
  /** Told of the entries in view when they have come to rest. */
  readonly viewed?: (from: number, to: number) => void;
}

export interface Shape {
  /** Pixels of a row, as the style has it. */
  readonly height: number;
  /** Pixels above the rows that stay in view. */
  readonly head: number;
  /** Pixels of an entry of a row, where a row has several. */
  readonly width?: number;
}

export interface Grid {
  readonly box: RefObject<HTMLDivElement | null>;
  /** Entries of a row. */
  readonly across: number;
  /** Rows that are in the page. */
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
    // A letter alone leads on to the next one; more of them stay where they fit.
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
    const does = moves[event.key];
    if (does !== undefined) does();
    else if (event.key.length === 1 && event.key !== '/' && event.key !== '?') type(event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const rows: number[] = [];
  for (let row = from; row < to; row++) rows.push(row);
  // The row that keys move from is always there, so that Tab leads to it.
  const own = Math.floor(at / across);
  if (count > 0 && (own < from || own >= to)) rows.push(own);
  return { box, across, rows, at, setActive, pressed, scrolled: measure };
}
