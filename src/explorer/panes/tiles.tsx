/** Shows entries as tiles, several in a row, for folders of pictures. */
import type { ComponentChildren } from 'preact';
import { type Entries, useGrid } from './use-grid.ts';

/** The size of a tile in pixels. The style sheet has the same values. */
const TILE = { height: 144, width: 136 } as const;

export interface TilesProps extends Entries {
  readonly tile: (at: number, isActive: boolean) => ComponentChildren;
}

export function Tiles(props: TilesProps) {
  const { uri, label, count, busy, chosen, tile } = props;
  const { box, across, rows, at: active, setActive, pressed, scrolled } = useGrid(props, { ...TILE, head: 0 });
  const tilesOf = (row: number): readonly number[] =>
    Array.from({ length: Math.min(across, count - row * across) }, (_, column) => row * across + column);
  return (
    <div
      ref={box}
      class="rows tiles"
      data-uri={uri ?? ''}
      role="grid"
      aria-label={label}
      aria-busy={busy}
      aria-rowcount={Math.ceil(count / across)}
      aria-colcount={across}
      tabIndex={-1}
      onKeyDown={pressed}
      onScroll={scrolled}
    >
      <div role="rowgroup" class="sheet" style={{ blockSize: `${Math.ceil(count / across) * TILE.height}px` }}>
        {rows.map((row) => (
          <div
            key={row}
            role="row"
            class="shelf"
            aria-rowindex={row + 1}
            style={{ insetBlockStart: `${row * TILE.height}px` }}
          >
            {tilesOf(row).map((at) => (
              <span
                key={at}
                role="gridcell"
                class="tile"
                aria-colindex={(at % across) + 1}
                aria-selected={at === chosen}
                data-active={at === active ? '' : undefined}
                onFocusCapture={() => setActive(at)}
              >
                {tile(at, at === active)}
              </span>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}
