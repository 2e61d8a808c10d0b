/** Shows a resource: tabs for its views, the preview, a label with its properties, and how to use it elsewhere. */
import { useEffect } from 'preact/hooks';
import { essenceOf, formatsOf } from '../../core/formats/formats.ts';
import { addressOf, shellWord, withQuery } from '../../frontends/explorer/address.ts';
import { countText, sizeText, timeText } from '../../frontends/explorer/figures.ts';
import { historyOf } from '../../frontends/explorer/history.ts';
import { isFolder, typeText } from '../../frontends/explorer/kinds.ts';
import { TYPE_NAMES } from '../../frontends/explorer/texts.ts';
import type { Resource } from '../../protocol/resources.ts';
import { lookOf } from '../previews/looks.ts';
import { Preview } from '../previews/preview.tsx';
import { useCell } from '../state/cell.ts';
import type { Place } from '../state/place.ts';
import { HEX_BYTES, TEXT_BYTES, type Thing } from '../state/reading.ts';
import { useStore } from '../state/use-store.ts';
import { TEXTS } from '../texts.ts';
import { Copied } from './copied.tsx';
import { HistoryOf } from './history.tsx';
import { Link } from './link.tsx';
import { Problem } from './problem.tsx';
import { type Described, useThing } from './use-thing.ts';

type At = Extract<Place, { kind: 'resource' }>;

export interface ThingPaneProps {
  readonly at: At;
  readonly described: Described;
  readonly endpoint: string | undefined;
}

export function ThingPane({ at, described, endpoint }: ThingPaneProps) {
  const store = useStore();
  const { resource, problem } = described;
  const { thing, problem: unread, times, again } = useThing(resource, at);
  const { uri } = at;
  const isWatched = useCell(store.live.watched).has(uri);
  useEffect(() => {
    store.looked(uri);
    store.live.watch('thing', [uri]);
    return () => store.live.watch('thing', []);
  }, [store, uri]);
  if (problem !== undefined) return <Problem refusal={problem} uri={uri} again={described.again} />;
  if (resource === undefined) return <p class="soft empty">{TEXTS.waiting}</p>;
  const title = resource.title ?? resource.name;
  const history = at.show === 'history' ? historyOf(resource) : undefined;
  return (
    <article data-live={isWatched ? '' : undefined}>
      <h1 dir="auto" tabIndex={-1}>
        {title}
      </h1>
      {resource.description !== undefined && (
        <p class="soft" dir="auto">
          {resource.description}
        </p>
      )}
      {!isFolder(resource) && (
        <>
          <Tabs at={at} resource={resource} />
          {times > 0 && (
            <p class="glow" role="status" key={times}>
              <span class="dot" /> {TEXTS.changedNow}
            </p>
          )}
          {history === undefined ? (
            <>
              <section class={`case look-${thing?.look ?? 'none'}`} aria-label={TEXTS.preview}>
                {thing !== undefined && <Preview thing={thing} />}
                {unread !== undefined && <Problem refusal={unread} uri={uri} again={again} />}
                {thing === undefined && unread === undefined && <p class="soft">{TEXTS.loading}</p>}
              </section>
              {thing !== undefined && <Windows at={at} thing={thing} />}
            </>
          ) : (
            <section class="case" aria-label={TEXTS.history}>
              <HistoryOf history={history} />
            </section>
          )}
        </>
      )}
      <Label resource={resource} />
      <Use resource={resource} at={at} endpoint={endpoint} />
    </article>
  );
}

/** Shows the tabs: the preview, the other formats, the source text, the bytes, and the history of a file in a repository. */
function Tabs({ at, resource }: { readonly at: At; readonly resource: Resource }) {
  const formats = (formatsOf(resource) ?? []).map(({ mimeType }) => mimeType);
  const look = lookOf(essenceOf(at.as ?? resource.mimeType), undefined);
  const tabs = [
    { name: TEXTS.preview, as: undefined, show: undefined },
    ...formats.map((as) => ({ name: TYPE_NAMES[as] ?? as, as, show: undefined })),
    ...(look === 'markdown' || look === 'table' || look === 'tree'
      ? [{ name: TEXTS.source, as: at.as, show: 'text' }]
      : []),
    { name: TEXTS.bytesTab, as: at.as, show: 'bytes' },
    ...(historyOf(resource) === undefined ? [] : [{ name: TEXTS.history, as: undefined, show: 'history' }]),
  ];
  return (
    <nav class="tabs" aria-label={TEXTS.views}>
      {tabs.map(({ name, as, show }) => {
        const isHere = at.show === show && (show !== undefined || at.as === as);
        return (
          <Link
            key={`${as} ${show}`}
            title={as}
            to={{ ...at, as, show, from: undefined, lines: undefined }}
            replace
            aria-current={isHere ? 'true' : undefined}
          >
            {name}
          </Link>
        );
      })}
    </nav>
  );
}

/** Shows links to the other windows of a resource that is shown in windows. */
function Windows({ at, thing: { window, look } }: { readonly at: At; readonly thing: Thing }) {
  if (at.lines !== undefined && at.show === undefined) {
    const [first, last] = at.lines.split('-');
    return (
      <p class="windows">
        <span class="soft">{TEXTS.lines(Number(first), Number(last))}</span>
        <Link to={{ ...at, lines: undefined }}>{TEXTS.start}</Link>
      </p>
    );
  }
  if (window === undefined) return undefined;
  const { offset, length, total } = window;
  const step = look === 'hex' ? HEX_BYTES : TEXT_BYTES;
  const end = offset + length;
  const to = (from: string) => ({ ...at, from });
  return (
    <nav class="windows" aria-label={TEXTS.views}>
      {offset > 0 && (
        <>
          <Link to={to('0')} replace>
            {TEXTS.start}
          </Link>
          <Link to={to(String(Math.max(0, offset - step)))} replace>
            {TEXTS.earlier}
          </Link>
        </>
      )}
      <span class="soft">
        {total === undefined
          ? TEXTS.window(countText(offset), countText(end), undefined)
          : TEXTS.windowOf(countText(offset), countText(end), countText(total))}
      </span>
      {end !== total && length > 0 && (
        <>
          <Link to={to(String(end))} replace>
            {TEXTS.later}
          </Link>
          {total !== undefined && (
            <Link to={to('end')} replace>
              {TEXTS.end}
            </Link>
          )}
        </>
      )}
    </nav>
  );
}

function Label({ resource }: { readonly resource: Resource }) {
  const { uri, size, mimeType, annotations, capabilities } = resource;
  const type = typeText(resource);
  const time = timeText(annotations?.lastModified);
  const can = [capabilities?.list && TEXTS.listed, capabilities?.subscribe && TEXTS.subscribed].filter(Boolean);
  return (
    <section class="label" aria-label={TEXTS.label}>
      <dl>
        {type !== '' && (
          <div>
            <dt>{TEXTS.type}</dt>
            <dd>
              {type} {mimeType !== undefined && mimeType !== type && <span class="soft">{mimeType}</span>}
            </dd>
          </div>
        )}
        {typeof size === 'number' && (
          <div>
            <dt>{TEXTS.size}</dt>
            <dd>
              <bdi>{sizeText(size)}</bdi> <bdi class="soft">{TEXTS.bytes(countText(size))}</bdi>
            </dd>
          </div>
        )}
        {time !== undefined && (
          <div>
            <dt>{TEXTS.changed}</dt>
            <dd>
              <time dateTime={time.exact}>{time.shown}</time>
            </dd>
          </div>
        )}
        <div>
          <dt>{TEXTS.capabilities}</dt>
          <dd>{can.length > 0 ? can.join(', ') : TEXTS.none}</dd>
        </div>
        <div>
          <dt>{TEXTS.uri}</dt>
          <dd>
            <Copied text={uri} />
          </dd>
        </div>
      </dl>
    </section>
  );
}

interface UseProps {
  readonly resource: Resource;
  readonly at: At;
  readonly endpoint: string | undefined;
}

function Use({ resource, at, endpoint }: UseProps) {
  const raw = withQuery(addressOf('raw', resource.uri), { as: at.as });
  const url = endpoint && new URL(endpoint, location.href).href;
  const host = JSON.stringify({ mcpServers: { vitrine: { type: 'http', url } } }, null, 2);
  return (
    <details class="use">
      <summary>{TEXTS.use}</summary>
      {url !== undefined && (
        <dl>
          <div>
            <dt>{TEXTS.withCurl}</dt>
            <dd>
              <Copied text={`curl ${shellWord(location.origin + raw)}`} />
            </dd>
          </div>
          <div>
            <dt>{TEXTS.withVitrine}</dt>
            <dd>
              <Copied text={`vitrine cat ${shellWord(url)} ${shellWord(resource.uri)}`} />
            </dd>
          </div>
          <div>
            <dt>{TEXTS.inHostSnippet}</dt>
            <dd>
              <Copied text={host} />
            </dd>
          </div>
        </dl>
      )}
      <p>
        <a href={raw}>{TEXTS.raw}</a>
      </p>
    </details>
  );
}
