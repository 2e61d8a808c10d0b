/** The page of a folder, or of all mounts: one page of entries, filtered and sorted by the address's parameters. */
import type { Resource } from '../../protocol/resources.ts';
import { addressOf, listingAddress, withQuery } from './address.ts';
import { countText, sizeText, timeText } from './figures.ts';
import { type Html, html } from './html.ts';
import { kindOf, ownIcon, typeText } from './kinds.ts';
import { page, type Shell } from './layout.ts';
import { TEXTS } from './texts.ts';

export const SORTS = ['name', 'type', 'size', 'changed'] as const;
export type Sort = (typeof SORTS)[number];

/** The parameters of a page's address that say how to show the folder. */
export interface View {
  readonly filter?: string | undefined;
  readonly sort?: Sort | undefined;
  readonly down?: boolean | undefined;
  readonly cursor?: string | undefined;
}

export interface Folder {
  /** Undefined for the page of all mounts. */
  readonly resource: Resource | undefined;
  readonly description?: string | undefined;
  readonly entries: readonly Resource[];
  readonly nextCursor?: string | undefined;
}

const MAX_FILTER = 256;

export function viewOf(query: URLSearchParams): View {
  const order = query.get('sort') ?? '';
  const sort = SORTS.find((each) => each === order.replace(/^-/, ''));
  return {
    filter: query.get('filter')?.slice(0, MAX_FILTER) || undefined,
    sort,
    down: sort !== undefined && order.startsWith('-'),
    cursor: query.get('cursor') || undefined,
  };
}

const orderOf = ({ sort, down }: View): string | undefined => sort && `${down ? '-' : ''}${sort}`;

export function folderPage(shell: Shell, folder: Folder, view: View): string {
  const { resource, entries, nextCursor } = folder;
  const title = resource === undefined ? shell.server : (resource.title ?? resource.name);
  const description = folder.description ?? resource?.description;
  const at = (change: View): string =>
    withQuery(resource === undefined ? '/' : addressOf('view', resource.uri), {
      filter: change.filter,
      sort: orderOf(change),
      cursor: change.cursor,
    });
  const shown = arranged(entries, view);
  const arranges = view.filter !== undefined || view.sort !== undefined;
  const more = nextCursor !== undefined || view.cursor !== undefined;
  const main = html`<h1 dir="auto">${title}</h1>${description !== undefined && html`<p dir="auto" class="soft">${description}</p>`}
<form action="${resource === undefined ? '/' : addressOf('view', resource.uri)}">${hidden(resource, view)}<input type="search" name="filter" aria-label="${TEXTS.filter}" placeholder="${TEXTS.filter}" value="${view.filter ?? ''}"><button>${TEXTS.apply}</button><span class="soft">${TEXTS.shown(shown.length, entries.length)}${arranges && more && ` ${TEXTS.bounded}`}</span></form>
${shown.length === 0 ? html`<p>${entries.length === 0 ? TEXTS.empty : TEXTS.nothingFits}</p>` : table(shown, view, at)}
<p>${view.cursor !== undefined && html`<a href="${at({ ...view, cursor: undefined })}">${TEXTS.first}</a> `}${nextCursor !== undefined && html`<a rel="next" href="${at({ ...view, cursor: nextCursor })}">${TEXTS.next}</a>`}</p>
${resource !== undefined && html`<p class="soft"><code>${resource.uri}</code> · <a href="${listingAddress(resource.uri)}">${TEXTS.rawList}</a></p>`}`;
  return page(shell, title, resource?.uri, main);
}

/** Hidden fields that keep the parameters of the address when the form is sent. */
function hidden(resource: Resource | undefined, view: View): readonly Html[] {
  const uri = resource !== undefined && addressOf('view', resource.uri).includes('?') ? resource.uri : undefined;
  return Object.entries({ uri, sort: orderOf(view), cursor: view.cursor }).flatMap(([name, value]) =>
    value === undefined ? [] : [html`<input type="hidden" name="${name}" value="${value}">`],
  );
}

function table(entries: readonly Resource[], view: View, at: (view: View) => string): Html {
  const head = (sort: Sort, text: string, numbers = false): Html => {
    const is = view.sort === sort;
    const sorted = is && (view.down ? html` aria-sort="descending"` : html` aria-sort="ascending"`);
    const address = at({ ...view, sort, down: is && !view.down });
    return html`<th scope="col" class="${numbers ? 'n' : ''}${sort === 'name' ? '' : ' wide'}"${sorted}><a href="${address}">${text}</a></th>`;
  };
  return html`<table class="entries"><thead><tr>${head('name', TEXTS.name)}${head('type', TEXTS.type)}${head('size', TEXTS.size, true)}${head('changed', TEXTS.changed, true)}</tr></thead><tbody>${entries.map(row)}</tbody></table>`;
}

function row(entry: Resource): Html {
  const icon = ownIcon(entry);
  const time = timeText(entry.annotations?.lastModified);
  const size = typeof entry.size === 'number' ? entry.size : undefined;
  const more = entry.title !== undefined && entry.title !== entry.name ? entry.title : entry.description;
  return html`<tr><td><a class="k k-${kindOf(entry)}" href="${addressOf('view', entry.uri)}">${icon !== undefined && html`<img src="${icon}" alt="" width="16" height="16">`}<bdi>${entry.name}</bdi></a>${more !== undefined && html` <small dir="auto">${more}</small>`}</td><td class="wide">${typeText(entry)}</td><td class="n wide">${size !== undefined && html`<span title="${TEXTS.bytes(countText(size))}">${sizeText(size)}</span>`}</td><td class="n wide">${time !== undefined && html`<time datetime="${time.exact}">${time.shown}</time>`}</td></tr>
`;
}

function arranged(entries: readonly Resource[], { filter, sort, down }: View): readonly Resource[] {
  const wanted = filter?.toLowerCase();
  const fitting =
    wanted === undefined
      ? entries
      : entries.filter(({ name, title = '' }) => `${name}\n${title}`.toLowerCase().includes(wanted));
  if (sort === undefined) return fitting;
  const sorted = [...fitting].sort((a, b) => compare(keyOf(a, sort), keyOf(b, sort)));
  return down ? sorted.reverse() : sorted;
}

function keyOf(entry: Resource, sort: Sort): string | number {
  switch (sort) {
    case 'name':
      return entry.name.toLowerCase();
    case 'type':
      return typeText(entry);
    case 'size':
      return typeof entry.size === 'number' ? entry.size : -1;
    case 'changed':
      return timeText(entry.annotations?.lastModified)?.exact ?? '';
  }
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);
