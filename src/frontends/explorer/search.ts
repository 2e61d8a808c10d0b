/** Makes the page of a search: resources whose names match, and places in texts with the lines around them, each with a link. */
import type { CallToolResult, ContentBlock } from '../../protocol/content.ts';
import type { Resource } from '../../protocol/resources.ts';
import { splitLines } from '../resources/line-uri.ts';
import { addressOf, withQuery } from './address.ts';
import { shownText } from './figures.ts';
import { type Html, html } from './html.ts';
import { kindOf } from './kinds.ts';
import { page, type Shell } from './layout.ts';
import { notSearched } from './not-searched.ts';
import { SEARCH_PATH, type Sought } from './search-address.ts';
import { TEXTS } from './texts.ts';

/** The answers of the tool that searches. */
export interface Found {
  /** The answer for names; undefined if names were not searched. */
  readonly names?: CallToolResult | undefined;
  /** The answer for texts. */
  readonly texts: CallToolResult;
}

/** The most resources that are shown because their names match. */
const MAX_NAMES = 12;

/** @param found undefined for a page before the first search */
export function searchPage(shell: Shell, { words, cursor }: Sought, found: Found | undefined): string {
  const title = words === '' ? TEXTS.search : TEXTS.found(words);
  const main = html`<h1 dir="auto">${title}</h1>${found !== undefined && results(found, words, cursor)}`;
  return page(shell, title, undefined, main, words);
}

function results({ names, texts }: Found, words: string, cursor: string | undefined): Html {
  if (texts.isError === true) {
    const message = texts.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    return html`<p dir="auto">${message.join(' ')}</p>`;
  }
  const named = (names?.content ?? []).flatMap(place).slice(0, MAX_NAMES);
  const places = texts.content.flatMap(place);
  const next = nextOf(texts);
  const lost = notSearched(texts.structuredContent);
  const none = cursor === undefined ? TEXTS.nothingFound : TEXTS.allFound;
  return html`${named.length > 0 && html`<h2>${TEXTS.byName}</h2><ul class="found">${named}</ul>`}${places.length > 0 && html`<h2>${TEXTS.inTexts}</h2><ol class="found">${places}</ol>`}${named.length + places.length === 0 && html`<p>${none}</p>`}${lost !== undefined && html`<p class="soft" dir="auto">${lost}</p>`}${next !== undefined && html`<p><a rel="next" href="${withQuery(SEARCH_PATH, { q: words, cursor: next })}">${TEXTS.next}</a></p>`}`;
}

function nextOf({ structuredContent }: CallToolResult): string | undefined {
  const { nextCursor } = (structuredContent ?? {}) as { readonly nextCursor?: unknown };
  return typeof nextCursor === 'string' ? nextCursor : undefined;
}

function place(block: ContentBlock): readonly Html[] {
  if (block.type === 'resource_link') return [html`<li>${link(addressOf('view', block.uri), block)}</li>`];
  if (block.type !== 'resource' || !('text' in block.resource)) return [];
  const { resource: uri, lines } = splitLines(block.resource.uri);
  const address = withQuery(addressOf('view', uri), { lines: lines && `${lines.first}-${lines.last}` });
  const where = lines && TEXTS.lines(lines.first, lines.last);
  return [
    html`<li>${link(address, block.resource)} <span class="soft">${where}</span><pre dir="auto">${shownText(block.resource.text)}</pre></li>`,
  ];
}

const link = (address: string, resource: Resource): Html =>
  html`<a class="k k-${kindOf(resource)}" href="${address}"><bdi>${resource.title ?? resource.name}</bdi></a> <code class="soft">${splitLines(resource.uri).resource}</code>`;
