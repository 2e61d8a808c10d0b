/** Shows entries as rows of cells. */
import type { ComponentChildren } from 'preact';
import { type Entries, useGrid } from './use-grid.ts';

/** The height of a row in pixels. The style sheet has the same value. */
export const ROW = 32;

export interface RowsProps extends Entries {
  readonly columns: number;
  readonly head?: ComponentChildren;
  readonly cells: (at: number, isActive: boolean) => ComponentChildren;
}

export function Rows(props: RowsProps) {
  const { uri, label, count, busy, chosen, columns, head, cells } = props;
  const grid = useGrid(props, { height: ROW, head: head === undefined ? 0 : ROW });
  return (
    <div
      ref={grid.box}
      class="rows"
      data-uri={uri ?? ''}
      role="grid"
      aria-label={label}
      aria-busy={busy}
      aria-rowcount={count + (head === undefined ? 0 : 1)}
      aria-colcount={columns}
      tabIndex={-1}
      onKeyDown={grid.pressed}
      onScroll={grid.scrolled}
    >
      {head !== undefined && (
        <div role="row" class="row head" aria-rowindex={1}>
          {head}
        </div>
      )}
      <div role="rowgroup" class="sheet" style={{ blockSize: `${count * ROW}px` }}>
        {grid.rows.map((row) => (
          <div
            key={row}
            role="row"
            class="row"
            aria-rowindex={row + (head === undefined ? 1 : 2)}
            aria-selected={row === chosen}
            data-active={row === grid.at ? '' : undefined}
            style={{ insetBlockStart: `${row * ROW}px` }}
            onFocusCapture={() => grid.setActive(row)}
          >
            {cells(row, row === grid.at)}
          </div>
        ))}
      </div>
    </div>
  );
}
