/** Shows the commits that changed a file, with links to the change, to the file after it, and to the differences since. */
import { useEffect } from 'preact/hooks';
import { countText, timeText } from '../../frontends/explorer/figures.ts';
import type { History } from '../../frontends/explorer/history.ts';
import { useCell } from '../state/cell.ts';
import { useStore } from '../state/use-store.ts';
import { TEXTS } from '../texts.ts';
import { Link } from './link.tsx';
import { Problem } from './problem.tsx';

/** The most commits that are shown. A link leads to the folder of all. */
const MAX_COMMITS = 200;

export function HistoryOf({ history }: { readonly history: History }) {
  const { log, blame, change, after, since } = history;
  const store = useStore();
  const listing = store.listing(log);
  useEffect(() => listing.hold(), [listing]);
  const { entries, done, problem } = useCell(listing.listed);
  if (problem !== undefined && entries.length === 0)
    return <Problem refusal={problem} uri={log} again={listing.refresh} />;
  return (
    <>
      <p>
        <Link to={{ kind: 'resource', uri: blame }}>{TEXTS.blame}</Link>
      </p>
      <ol class="history">
        {entries.slice(0, MAX_COMMITS).map(({ uri, name, title, annotations }) => {
          const commit = uri.slice(uri.lastIndexOf('/') + 1);
          const time = timeText(annotations?.lastModified);
          const to = (other: string) => ({ kind: 'resource', uri: other }) as const;
          return (
            <li key={uri}>
              <Link to={to(uri)}>
                <bdi>{title ?? name}</bdi>
              </Link>{' '}
              {time !== undefined && <time dateTime={time.exact}>{time.shown}</time>}
              <nav aria-label={title ?? name}>
                <Link to={to(change(commit))}>{TEXTS.changedBy}</Link> <Link to={to(after(commit))}>{TEXTS.after}</Link>{' '}
                <Link to={to(since(commit))}>{TEXTS.since}</Link>
              </nav>
            </li>
          );
        })}
      </ol>
      {!done && <p class="soft">{TEXTS.waiting}</p>}
      {entries.length > MAX_COMMITS && (
        <p>
          <Link to={{ kind: 'resource', uri: log }}>{TEXTS.allCommits(countText(entries.length))}</Link>
        </p>
      )}
    </>
  );
}
