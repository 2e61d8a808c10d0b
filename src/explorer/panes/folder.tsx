/** A folder: its entries as rows or tiles, with a filter, an order, and a dot beside changed ones. */
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { countText, sizeText, timeText } from '../../frontends/explorer/figures.ts';
import { isFolder, kindOf, ownIcon, typeText } from '../../frontends/explorer/kinds.ts';
import type { Resource } from '../../protocol/resources.ts';
import { arranged, SORTS } from '../state/arrange.ts';
import { useCell } from '../state/cell.ts';
import type { Listed } from '../state/listing.ts';
import { folderBeside, type Looks } from '../state/place.ts';
import { parentOf } from '../state/tree.ts';
import { useStore } from '../state/use-store.ts';
import { TEXTS } from '../texts.ts';
import { focusFolder, focusThing } from './focus.ts';
import { Link } from './link.tsx';
import { Problem } from './problem.tsx';
import { Rows } from './rows.tsx';
import { Tiles } from './tiles.tsx';
import { useThumbnail } from './use-thumbnail.ts';

/** The most visible rows that are watched for changes. */
const MAX_VIEWED = 64;

export interface FolderProps {
  /** Undefined for the roots. */
  readonly uri: string | undefined;
  /** The selected entry. */
  readonly chosen: string | undefined;
  readonly looks: Looks;
  /** Shows only names, as one of several columns. */
  readonly narrow?: boolean;
}

export function Folder({ uri, chosen, looks, narrow = false }: FolderProps) {
  const store = useStore();
  const listing = store.listing(uri);
  useEffect(() => listing.hold(), [listing]);
  const listed = useCell(listing.listed);
  const roots = useCell(store.roots);
  const all = uri === undefined ? roots : listed.entries;
  const entries = useArranged(all, narrow ? {} : looks);
  const marks = useCell(store.marks);
  const watched = useCell(store.live.watched);
  const at = useMemo(() => entries.findIndex((each) => each.uri === chosen), [entries, chosen]);
  const start = useMemo(() => entries.findIndex((each) => each.uri === store.before()), [entries]);
  const part = `rows of ${uri ?? ''}`;

  const viewed = useCallback(
    (from: number, to: number): void => {
      const inView = entries
        .slice(from, Math.min(to, from + MAX_VIEWED))
        .filter((each) => each.capabilities?.subscribe);
      store.live.watch(part, [...(uri === undefined ? [] : [uri]), ...inView.map((each) => each.uri)]);
    },
    [entries, part, uri],
  );
  useEffect(() => () => store.live.watch(part, []), [part]);

  const placeOf = (entry: Resource) =>
    ({ kind: 'resource', uri: entry.uri, ...(isFolder(entry) ? { layout: looks.layout } : looks) }) as const;
  const up = (): void => {
    if (uri === undefined) return;
    const above = parentOf(roots, uri);
    store.go(folderBeside(store.place.get(), above));
    focusFolder(above);
  };
  const open = (row: number, how: 'enter' | 'space'): void => {
    const entry = entries[row];
    if (entry === undefined) return;
    if (how === 'space' && isFolder(entry)) return;
    store.go(placeOf(entry), how === 'space');
    if (how !== 'enter') return;
    if (isFolder(entry)) focusFolder(entry.uri);
    else focusThing();
  };

  const cells = (row: number, isActive: boolean) => {
    const entry = entries[row];
    if (entry === undefined) return undefined;
    return (
      <Cells
        entry={entry}
        to={placeOf(entry)}
        isActive={isActive}
        isMarked={marks.has(entry.uri)}
        isWatched={watched.has(entry.uri)}
        narrow={narrow}
      />
    );
  };
  if (listed.problem !== undefined && all.length === 0)
    return <Problem refusal={listed.problem} uri={uri} again={listing.refresh} />;
  const tile = (row: number, isActive: boolean) => {
    const entry = entries[row];
    if (entry === undefined) return undefined;
    return <Tile entry={entry} to={placeOf(entry)} isActive={isActive} isMarked={marks.has(entry.uri)} />;
  };
  const shared = {
    uri,
    label: TEXTS.entries,
    count: entries.length,
    busy: !listed.done && !listed.cut,
    chosen: at,
    start,
    name: (row: number) => entries[row]?.name ?? '',
    ...{ open, up, viewed },
  };
  return (
    <>
      {looks.layout === 'grid' ? (
        <Tiles key={uri} {...shared} tile={tile} />
      ) : (
        <Rows
          key={uri}
          {...shared}
          columns={narrow ? 1 : 4}
          head={narrow ? undefined : <Head looks={looks} uri={uri} chosen={chosen} />}
          cells={cells}
        />
      )}
      {all.length === 0 && <p class="soft empty">{listed.done ? TEXTS.empty : TEXTS.waiting}</p>}
      {all.length > 0 && entries.length === 0 && looks.filter !== undefined && (
        <p class="soft empty">{TEXTS.nothingFits}</p>
      )}
      {!narrow && (
        <Foot uri={uri} chosen={chosen} looks={looks} shown={entries.length} all={all.length} listed={listed} />
      )}
    </>
  );
}

/** Returns the entries in the selected order; the previous ones stay until they are sorted. */
function useArranged(entries: readonly Resource[], { filter, sort }: Looks): readonly Resource[] {
  const [shown, setShown] = useState(entries);
  const plain = filter === undefined && sort === undefined;
  useEffect(() => {
    if (plain) return setShown(entries);
    const abort = new AbortController();
    void arranged(entries, { filter, sort }, abort.signal).then((found) => found !== undefined && setShown(found));
    return () => abort.abort();
  }, [entries, filter, sort, plain]);
  return plain ? entries : shown;
}

interface CellsProps {
  readonly entry: Resource;
  readonly to: Parameters<typeof Link>[0]['to'];
  readonly isActive: boolean;
  readonly isMarked: boolean;
  readonly isWatched: boolean;
  readonly narrow: boolean;
}

function Cells({ entry, to, isActive, isMarked, isWatched, narrow }: CellsProps) {
  const icon = ownIcon(entry);
  const time = timeText(entry.annotations?.lastModified);
  const size = typeof entry.size === 'number' ? entry.size : undefined;
  return (
    <>
      <span role="gridcell" class="name" data-live={isWatched ? '' : undefined}>
        <Link
          to={to}
          class={`k k-${kindOf(entry)}`}
          tabIndex={isActive ? 0 : -1}
          title={entry.title ?? entry.description ?? entry.name}
        >
          {icon !== undefined && <img src={icon} alt="" width="16" height="16" />}
          <bdi>{entry.name}</bdi>
          {isMarked && <Dot />}
        </Link>
      </span>
      {!narrow && (
        <>
          <span role="gridcell" class="type">
            {typeText(entry)}
          </span>
          <span role="gridcell" class="size" title={size === undefined ? undefined : TEXTS.bytes(countText(size))}>
            <bdi>{size === undefined ? '' : sizeText(size)}</bdi>
          </span>
          <span role="gridcell" class="time">
            {time !== undefined && <time dateTime={time.exact}>{time.shown}</time>}
          </span>
        </>
      )}
    </>
  );
}

function Tile({ entry, to, isActive, isMarked }: Omit<CellsProps, 'isWatched' | 'narrow'>) {
  const picture = useThumbnail(entry);
  return (
    <Link to={to} tabIndex={isActive ? 0 : -1} title={entry.title ?? entry.description ?? entry.name}>
      <span class={picture === undefined ? `picture k k-${kindOf(entry)}` : 'picture'}>
        {picture !== undefined && <img src={picture} alt="" />}
      </span>
      <bdi>{entry.name}</bdi>
      {isMarked && <Dot />}
    </Link>
  );
}

/** Marks an entry that has changed and was not looked at since. */
const Dot = () => <span class="dot" role="img" aria-label={TEXTS.changedMark} title={TEXTS.changedMark} />;

interface HeadProps {
  readonly looks: Looks;
  readonly uri: string | undefined;
  readonly chosen: string | undefined;
}

const CLASSES = { name: 'name', type: 'type', size: 'size', changed: 'time' } as const;

function Head({ looks, uri, chosen }: HeadProps) {
  return (
    <>
      {SORTS.map((each) => {
        const isUp = looks.sort === each;
        const isDown = looks.sort === `-${each}`;
        const sort = isUp ? `-${each}` : isDown ? undefined : each;
        return (
          <span
            key={each}
            role="columnheader"
            class={CLASSES[each]}
            aria-sort={isUp ? 'ascending' : isDown ? 'descending' : 'none'}
          >
            <Link to={withLooks(uri, chosen, { ...looks, sort })} replace>
              {TEXTS[each]}
            </Link>
          </span>
        );
      })}
    </>
  );
}

/** Returns the same place with other view options. */
function withLooks(uri: string | undefined, chosen: string | undefined, looks: Looks) {
  const at = chosen ?? uri;
  return at === undefined ? ({ kind: 'home', ...looks } as const) : ({ kind: 'resource', uri: at, ...looks } as const);
}

const LAYOUTS = [
  { layout: undefined, sign: '☰', text: TEXTS.list },
  { layout: 'columns', sign: '▥', text: TEXTS.columns },
  { layout: 'grid', sign: '▦', text: TEXTS.grid },
] as const;

interface FootProps extends HeadProps {
  readonly shown: number;
  readonly all: number;
  readonly listed: Listed;
}

function Foot({ uri, chosen, looks, shown, all, listed }: FootProps) {
  const store = useStore();
  const place = useCell(store.place);
  const go = (filter: string): void => {
    const same = place.kind === 'resource' || place.kind === 'home' ? place : ({ kind: 'home' } as const);
    store.go({ ...same, filter: filter === '' ? undefined : filter }, true);
  };
  return (
    <div class="foot">
      <input
        id="filter"
        type="search"
        aria-label={TEXTS.filter}
        placeholder={TEXTS.filterShort}
        value={looks.filter ?? ''}
        maxLength={256}
        onInput={({ currentTarget }) => go(currentTarget.value)}
      />
      <span class="soft" role="status">
        {TEXTS.counted(countText(shown), countText(all))}
        {!listed.done && !listed.cut && all > 0 && `, ${TEXTS.loadingMore}`}
        {listed.cut && ` ${TEXTS.cut}`}
      </span>
      {LAYOUTS.filter(({ layout }) => layout !== looks.layout).map(({ layout, sign, text }) => (
        <Link
          key={sign}
          class="icon"
          to={withLooks(uri, chosen, { ...looks, layout })}
          replace
          title={text}
          aria-label={text}
        >
          {sign}
        </Link>
      ))}
    </div>
  );
}
