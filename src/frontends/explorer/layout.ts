/** Makes the frame of every page: its head, the path to the resource, the search, and the mounts. */
import { insideOf, nameOfUri } from '../../core/uri.ts';
import type { Resource } from '../../protocol/resources.ts';
import { addressOf, SIGN_IN_PATH, SIGN_OUT_PATH, withQuery } from './address.ts';
import { type Html, html } from './html.ts';
import { MAX_WORDS, SEARCH_PATH } from './search-address.ts';
import { STYLE_PATH } from './style.ts';
import { LANGUAGE, TEXTS } from './texts.ts';

/** The root of a mount. */
export interface Root {
  readonly mount: string | undefined;
  readonly resource: Resource;
}

/** Addresses on this server: of the script that replaces a page in the browser, of its style, and of the MCP endpoint that it uses. */
export interface Island {
  readonly script: string;
  readonly style: string;
  readonly endpoint: string;
  /** Whether only a browser with the key has access, so that a request copied from a page would fail elsewhere. */
  readonly keyed?: boolean | undefined;
}

/** The facts about the server that every page needs. */
export interface Shell {
  /** The title of the server. */
  readonly server: string;
  readonly roots: readonly Root[];
  /** Mounts that cannot be reached, and why. */
  readonly missing: readonly { readonly mount?: string | undefined; readonly reason: string }[];
  /** Whether the page has a search field. */
  readonly searchable?: boolean | undefined;
  /** Undefined if pages have no script. */
  readonly island?: Island | undefined;
  /** Further pages, which every page links to. */
  readonly beside?: readonly BesidePage[] | undefined;
  /** Undefined if people cannot sign in; without a name if nobody has signed in. */
  readonly person?: { readonly name: string | undefined } | undefined;
}

/** A page that shows no resource. Every page links to it. */
export interface BesidePage {
  /** The path of its address, such as `/doctor`. */
  readonly path: string;
  readonly title: string;
  /** Makes the page. @param query the query of the address */
  render(shell: Shell, query: URLSearchParams): RenderedPage;
}

export interface RenderedPage {
  readonly body: string;
  /** After so many seconds, the browser loads the page again, because the page will have more content. */
  readonly refreshSeconds?: number | undefined;
}

const doctype = html`<!doctype html>`;

/**
 * Makes a page.
 * @param uri the resource that the page shows; undefined if it shows none
 * @param words the words in the search field
 */
export function page(shell: Shell, title: string, uri: string | undefined, main: Html, words = ''): string {
  return html`${doctype}<html lang="${LANGUAGE.lang}" dir="${LANGUAGE.dir}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title}</title><link rel="stylesheet" href="${STYLE_PATH}">${island(shell)}<link rel="icon" href="data:,"></head>
<body><a class="skip" href="#main">${TEXTS.skip}</a>
<header><nav aria-label="${TEXTS.breadcrumb}"><ol class="crumbs">${crumbs(shell, uri)}</ol></nav>${shell.searchable === true && html`<form role="search" action="${SEARCH_PATH}"><input type="search" name="q" aria-label="${TEXTS.search}" placeholder="${TEXTS.search}" value="${words}" maxlength="${MAX_WORDS}"><button>${TEXTS.find}</button></form>`}${shell.person !== undefined && person(shell.person.name, uri)}</header>
<div class="room"><nav class="where" aria-label="${TEXTS.mounts}"><h2>${TEXTS.mounts}</h2><ul>${places(shell, uri)}</ul>${shell.beside !== undefined && html`<ul>${shell.beside.map(({ path, title }) => html`<li><a href="${path}">${title}</a></li>`)}</ul>`}</nav>
<main id="main" tabindex="-1">${main}</main></div></body></html>
`.toString();
}

const island = ({ island }: Shell): Html | false =>
  island !== undefined &&
  html`<link rel="stylesheet" href="${island.style}"><script type="module" src="${island.script}" data-endpoint="${island.endpoint}"${island.keyed === true && html` data-keyed`}></script>`;

const person = (name: string | undefined, uri: string | undefined): Html =>
  name === undefined
    ? html`<a href="${withQuery(SIGN_IN_PATH, { to: uri === undefined ? undefined : addressOf('view', uri) })}">${TEXTS.signIn}</a>`
    : html`<form method="post" action="${SIGN_OUT_PATH}"><bdi class="soft">${name}</bdi> <button>${TEXTS.signOut}</button></form>`;

/** The most mounts that a page lists. */
const MAX_PLACES = 24;

function places({ roots, missing }: Shell, uri: string | undefined): readonly Html[] {
  const within = rootOf(roots, uri)?.resource.uri;
  return [
    ...roots.slice(0, MAX_PLACES).map(({ mount, resource }) => {
      const current = resource.uri === within && html` aria-current="true"`;
      return html`<li><a href="${addressOf('view', resource.uri)}"${current}><bdi>${rootName(mount, resource)}</bdi></a></li>`;
    }),
    ...missing.map(({ mount = '', reason }) => html`<li class="soft">${TEXTS.missing(mount, reason)}</li>`),
  ];
}

const rootName = (mount: string | undefined, resource: Resource): string =>
  nameOfUri(resource.uri) === undefined && mount !== undefined ? mount : (resource.title ?? resource.name);

/** Returns the root of a URI, by its spelling; undefined if it is below none. */
const rootOf = (roots: readonly Root[], uri: string | undefined): Root | undefined =>
  roots.find(({ resource }) => uri === resource.uri || uri?.startsWith(insideOf(resource.uri)));

/** Makes the links to the folders above a URI. Without a root there are none, because such a URI may have no folders. */
function crumbs({ server, roots }: Shell, uri: string | undefined): readonly Html[] {
  const home = html`<li><a href="/">${server}</a></li>`;
  if (uri === undefined) return [home];
  const root = rootOf(roots, uri);
  if (root === undefined) return [home, html`<li aria-current="page"><bdi>${nameOfUri(uri) ?? uri}</bdi></li>`];
  const base = insideOf(root.resource.uri);
  const steps = uri.length > base.length ? uri.slice(base.length).split('/') : [];
  const links = [
    { at: root.resource.uri, name: rootName(root.mount, root.resource) },
    ...steps.map((_, index) => {
      const at = base + steps.slice(0, index + 1).join('/');
      return { at, name: nameOfUri(at) ?? at };
    }),
  ];
  return [
    home,
    ...links.map(({ at, name }) =>
      at === uri
        ? html`<li aria-current="page"><bdi>${name}</bdi></li>`
        : html`<li><a href="${addressOf('view', at)}"><bdi>${name}</bdi></a></li>`,
    ),
  ];
}
