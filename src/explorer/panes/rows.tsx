/** A grid of which only the rows in view are in the page, moved in by keys and by typing what a row begins with. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Pixels of a row, as the style has it. */
export const ROW = 32;

/** Rows beyond those in view, above and below. */
const SPARE = 6;

/** Milliseconds after which what is typed begins anew. */
const TYPED_MS = 800;

export interface RowsProps {
  readonly uri: string | undefined;
  readonly label: string;
  readonly count: number;
  /** The row that is shown as chosen; -1 for none. */
  readonly chosen: number;
  /** The row that keys move from at first, where none is chosen; -1 for the first one. */
  readonly start: number;
  readonly columns: number;
  readonly head?: ComponentChildren;
  readonly name: (at: number) => string;
  readonly cells: (at: number, isActive: boolean) => ComponentChildren;
  /** @param how Enter, or Space, which stays in the grid */
  readonly open: (at: number, how: 'enter' | 'space') => void;
  readonly up: () => void;
  /** Told of the rows in view when they have come to rest. */
  readonly viewed?: (from: number, to: number) => void;
}

export function Rows(props: RowsProps) {
  const { uri, label, count, chosen, start, columns, head, name, cells, open, up, viewed } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 640 });
  const [active, setActive] = useState(Math.max(0, chosen, start));
  const wantsFocus = useRef(false);
  const typed = useRef({ text: '', at: 0 });
  const at = Math.min(active, Math.max(0, count - 1));
  const from = Math.max(0, Math.floor(view.top / ROW) - SPARE);
  const to = Math.min(count, Math.ceil((view.top + view.height) / ROW) + SPARE);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
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
    const timer = setTimeout(() => viewed?.(from, to), 200);
    return () => clearTimeout(timer);
  }, [from, to, count, viewed]);

  function show(row: number): void {
    const element = box.current;
    if (element === null) return;
    const room = element.clientHeight - (head === undefined ? 0 : ROW);
    const top = row * ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW > element.scrollTop + room) element.scrollTop = top + ROW - room;
  }

  function move(row: number): void {
    if (count === 0) return;
    const next = Math.min(Math.max(0, row), count - 1);
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
      const row = (first + step) % count;
      if (!name(row).toLowerCase().startsWith(text)) continue;
      move(row);
      return;
    }
  }

  function pressed(event: KeyboardEvent): void {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest('.head') !== null) return;
    const page = Math.max(1, Math.floor(view.height / ROW) - 2);
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      PageDown: () => move(at + page),
      PageUp: () => move(at - page),
      Home: () => move(0),
      End: () => move(count - 1),
      Enter: () => open(at, 'enter'),
      ArrowRight: () => open(at, 'enter'),
      ArrowLeft: up,
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
  // The one that keys move from is always there, so that Tab leads to it.
  if (count > 0 && (at < from || at >= to)) rows.push(at);
  return (
    <div
      ref={box}
      class="rows"
      data-uri={uri ?? ''}
      role="grid"
      aria-label={label}
      aria-rowcount={count + (head === undefined ? 0 : 1)}
      aria-colcount={columns}
      tabIndex={-1}
      onKeyDown={pressed}
      onScroll={({ currentTarget }) => setView({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })}
    >
      {head !== undefined && (
        <div role="row" class="row head" aria-rowindex={1}>
          {head}
        </div>
      )}
      <div role="rowgroup" class="sheet" style={{ blockSize: `${count * ROW}px` }}>
        {rows.map((row) => (
          <div
            key={row}
            role="row"
            class="row"
            aria-rowindex={row + (head === undefined ? 1 : 2)}
            aria-selected={row === chosen}
            data-active={row === at ? '' : undefined}
            style={{ insetBlockStart: `${row * ROW}px` }}
            onFocusCapture={() => setActive(row)}
          >
            {cells(row, row === at)}
          </div>
        ))}
      </div>
    </div>
  );
}
