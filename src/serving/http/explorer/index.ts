/**
 * The explorer: web pages that show the served resources to people, and the bytes of each resource. It sends requests like an MCP
 * client, so it shows nothing that such a client could not get.
 */
import { type Log, SILENT } from '../../../core/context.ts';
import { textFirst } from '../../../core/formats/formats.ts';
import type { Engine } from '../../../engine/index.ts';
import {
  type Addressed,
  addressed,
  addressOf,
  listingAddress,
  SIGN_OUT_PATH,
} from '../../../frontends/explorer/address.ts';
import { type Folder, folderPage, viewOf } from '../../../frontends/explorer/folder.ts';
import { isFolder } from '../../../frontends/explorer/kinds.ts';
import type { BesidePage, Shell } from '../../../frontends/explorer/layout.ts';
import { LISTING_END, listingRow, listingStart } from '../../../frontends/explorer/listing.ts';
import { problemOf, problemPage } from '../../../frontends/explorer/problem.ts';
import { PREVIEW_BYTES, resourcePage } from '../../../frontends/explorer/resource.ts';
import { searchPage } from '../../../frontends/explorer/search.ts';
import { SEARCH_PATH, soughtOf } from '../../../frontends/explorer/search-address.ts';
import { STYLE, STYLE_PATH } from '../../../frontends/explorer/style.ts';
import { type LineRange, lineUri } from '../../../frontends/resources/line-uri.ts';
import { ACCEPT_META_KEY, MISSING_META_KEY, RANGE_META_KEY } from '../../../protocol/meta.ts';
import { METADATA_METHOD } from '../../../protocol/methods.ts';
import type { Resource, ResourceContents } from '../../../protocol/resources.ts';
import { ENDPOINT } from '../../defaults.ts';
import type { Dispatcher } from '../../dispatch/dispatcher.ts';
import type { EndpointCore } from '../endpoint.ts';
import { ByteStream, type HttpRequest, type PageAnswer } from '../exchange.ts';
import { retryHeaders } from '../retry-after.ts';
import { createAsk, Refused, type Visitor } from './ask.ts';
import { type IslandFiles, readIsland } from './island.ts';
import { answerRaw, RAW_HEADERS } from './raw.ts';
import { searchFor } from './search.ts';
import { withToken } from './sessions.ts';
import { createSigningIn, type SigningInSetup } from './signing-in.ts';

export interface Explorer {
  /** Whether the explorer answers a request: GET and HEAD of its pages, and the POST that signs out. */
  serves(method: string | undefined, target: string): boolean;
  /**
   * Adds the token of the signed-in person to a request to the endpoint that a page of this server has sent.
   * Undefined if nobody can sign in.
   */
  readonly signedIn: ((http: HttpRequest) => HttpRequest) | undefined;
  answer(http: HttpRequest, from: string | undefined): Promise<PageAnswer>;
}

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;

const STYLE_HEADERS = {
  'Content-Type': 'text/css; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'public, max-age=31536000, immutable',
} as const;

interface Listed {
  readonly resources: readonly Resource[];
  readonly nextCursor?: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The most lines that a preview of lines shows. Passages in search results are shorter. */
const MAX_LINES = 200;

function linesOf(text: string | null): LineRange | undefined {
  const [, first = '', last = ''] = /^([1-9]\d{0,9})-([1-9]\d{0,9})$/.exec(text ?? '') ?? [];
  const range = { first: Number(first), last: Math.min(Number(last), Number(first) + MAX_LINES - 1) };
  return range.first > 0 && range.last >= range.first ? range : undefined;
}

/** Whether a request was refused because it has no valid token. */
const isUnknown = (entering: object): boolean => 'status' in entering && entering.status === 401;

const NOBODY: Shell = { server: '', roots: [], missing: [] };

export interface ExplorerOptions {
  readonly log?: Log | undefined;
  /** The public URL of the endpoint. Default: that of the request. */
  readonly publicUrl?: string | undefined;
  /** How people sign in. Default: they cannot; with `auth`, requests need a token unless anonymous callers are accepted. */
  readonly signIn?: Pick<SigningInSetup, 'options' | 'auth'> | undefined;
  /** Whether only the browser with the key gets in (`door.ts`). Pages then show no endpoint address to copy. Default: false. */
  readonly keyed?: boolean | undefined;
  /** Pages in addition to those of resources. Default: none. */
  readonly beside?: readonly BesidePage[] | undefined;
}

export function createExplorer(
  vitrine: Engine,
  core: EndpointCore,
  dispatcher: Dispatcher,
  { log = SILENT, publicUrl, signIn, keyed = false, beside }: ExplorerOptions,
): Explorer {
  const ask = createAsk(vitrine, dispatcher);
  let reading: Promise<IslandFiles | undefined> | undefined;
  const island = (): Promise<IslandFiles | undefined> => (reading ??= readIsland());
  const server = vitrine.identity.title ?? vitrine.identity.name;
  const isPage = (target: string): boolean =>
    /^\/(?:\?|$|view(?:[/?]|$)|raw(?:[/?]|$)|search(?:\?|$)|explorer\/)/.test(target) ||
    beside?.some(({ path }) => path === target.split('?', 1)[0]) === true;
  const signingIn = signIn && createSigningIn({ ...signIn, core, log, isPage, say: (...what) => problem(...what) });

  function withSession(http: HttpRequest): HttpRequest {
    const session = signingIn?.sessionOf(http, false);
    return session === undefined ? http : withToken(http, session);
  }

  async function shellFor(visitor: Visitor): Promise<Shell> {
    const listed = await ask<Listed>('resources/list', {}, visitor).catch((): Listed => ({ resources: [] }));
    return await shellOf(listed, visitor);
  }

  async function shellOf({ resources, _meta }: Listed, { person }: Visitor): Promise<Shell> {
    const missing = _meta?.[MISSING_META_KEY];
    const links = (await island())?.links;
    return {
      server,
      roots: resources.map((resource) => ({ mount: vitrine.mountOf(resource.uri), resource })),
      missing: Array.isArray(missing) ? missing : [],
      searchable: vitrine.searchTool !== undefined,
      island: links && { ...links, keyed },
      beside,
      person,
    };
  }

  async function home(query: URLSearchParams, visitor: Visitor): Promise<PageAnswer> {
    const view = viewOf(query);
    const cursor = view.cursor === undefined ? {} : { cursor: view.cursor };
    const listed = await ask<Listed>('resources/list', cursor, visitor);
    const folder: Folder = {
      resource: undefined,
      description: vitrine.identity.description,
      entries: listed.resources,
      nextCursor: listed.nextCursor,
    };
    return { status: 200, headers: PAGE_HEADERS, body: folderPage(await shellOf(listed, visitor), folder, view) };
  }

  async function view({ uri }: Addressed, query: URLSearchParams, visitor: Visitor): Promise<PageAnswer> {
    const described = ask<{ readonly resource: Resource }>(METADATA_METHOD, { uri }, visitor);
    const [{ resource }, shell] = await Promise.all([described, shellFor(visitor)]);
    if (isFolder(resource)) {
      const looked = viewOf(query);
      const cursor = looked.cursor === undefined ? {} : { cursor: looked.cursor };
      const { resources, nextCursor } = await ask<Listed>('resources/list', { uri, ...cursor }, visitor);
      const folder = { resource, entries: resources, nextCursor };
      return { status: 200, headers: PAGE_HEADERS, body: folderPage(shell, folder, looked) };
    }
    const as = query.get('as')?.slice(0, 255) || undefined;
    const from = Number(/^\d{1,15}$/.exec(query.get('from') ?? '')?.[0] ?? 0);
    const accept = as === undefined ? textFirst(resource) : [as];
    const lines = linesOf(query.get('lines'));
    const params = {
      uri: lines === undefined ? uri : lineUri(uri, lines),
      _meta: {
        ...(lines === undefined && { [RANGE_META_KEY]: { offset: from, length: PREVIEW_BYTES } }),
        ...(accept !== undefined && { [ACCEPT_META_KEY]: accept }),
      },
    };
    const contents = await ask<{ readonly contents?: readonly ResourceContents[] }>(
      'resources/read',
      params,
      visitor,
    ).then(
      (read) => read.contents ?? { reason: 'denied' },
      (error: unknown) => {
        if (error instanceof Refused) return { reason: error.reason };
        throw error;
      },
    );
    const origin = publicUrl === undefined ? new URL(visitor.http.url).origin : new URL(publicUrl).origin;
    const endpoint = keyed ? undefined : (publicUrl ?? `${origin}${ENDPOINT}`);
    const body = resourcePage(shell, { resource, contents, as, from, lines, origin, endpoint });
    return { status: 200, headers: PAGE_HEADERS, body };
  }

  async function otherPage(page: BesidePage, query: URLSearchParams, visitor: Visitor): Promise<PageAnswer> {
    const { body, refreshSeconds } = page.render(await shellFor(visitor), query);
    const again = refreshSeconds === undefined ? {} : { Refresh: String(refreshSeconds) };
    return { status: 200, headers: { ...PAGE_HEADERS, ...again }, body };
  }

  async function search(query: URLSearchParams, visitor: Visitor): Promise<PageAnswer> {
    if (vitrine.searchTool === undefined) return problem('not-found');
    const sought = soughtOf(query);
    const index = vitrine.ranked?.state().state;
    const how = { tool: vitrine.searchTool, isRanked: index === 'ready' || index === 'building' };
    const found = searchFor(ask, how, sought, visitor);
    const [shell, results] = await Promise.all([shellFor(visitor), found]);
    return { status: 200, headers: PAGE_HEADERS, body: searchPage(shell, sought, results) };
  }

  async function raw({ uri, folder }: Addressed, query: URLSearchParams, visitor: Visitor): Promise<PageAnswer> {
    const { resource } = await ask<{ readonly resource: Resource }>(METADATA_METHOD, { uri }, visitor);
    if (!isFolder(resource)) {
      const as = query.get('as')?.slice(0, 255) || undefined;
      return answerRaw(vitrine, resource, { uri, as }, visitor);
    }
    const address = listingAddress(uri);
    if (!folder && address !== addressOf('raw', uri))
      return { status: 308, headers: { ...RAW_HEADERS, Location: address } };
    const first = await ask<Listed>('resources/list', { uri }, visitor);
    const headers = { ...RAW_HEADERS, 'Content-Type': 'text/html; charset=utf-8' };
    if (visitor.http.method === 'HEAD') return { status: 200, headers };
    return { status: 200, headers, body: new ByteStream(listing(uri, first, visitor), undefined) };
  }

  /** Writes the listing of all entries, one page of the list at a time. */
  async function* listing(uri: string, first: Listed, visitor: Visitor): AsyncIterable<Uint8Array> {
    yield Buffer.from(listingStart(uri));
    for (let page = first; ; page = await ask<Listed>('resources/list', { uri, cursor: page.nextCursor }, visitor)) {
      yield Buffer.from(page.resources.map(listingRow).join(''));
      if (page.nextCursor === undefined) break;
    }
    yield Buffer.from(LISTING_END);
  }

  function problem(reason: string, said?: string, more: object = {}, shell = NOBODY): PageAnswer {
    const found = problemOf(reason);
    return {
      status: found.status,
      headers: { ...PAGE_HEADERS, ...more },
      body: problemPage(shell, found, said, undefined),
    };
  }

  return {
    serves: (method, target) =>
      ((method === 'GET' || method === 'HEAD') && isPage(target)) ||
      (method === 'POST' && signingIn !== undefined && target === SIGN_OUT_PATH),
    signedIn: signingIn && withSession,
    async answer(http, from) {
      // Pages of other sites may link here, but not load anything from here.
      const site = http.headers.get('sec-fetch-site');
      const foreign =
        (site === 'cross-site' || site === 'same-site') && http.headers.get('sec-fetch-mode') !== 'navigate';
      const { pathname, searchParams } = new URL(http.url);
      const session = signingIn?.sessionOf(http, true);
      const entering = await core.admit(session === undefined ? http : withToken(http, session), from);
      if ('status' in entering && entering.status === 403 && entering.headers?.['WWW-Authenticate'] === undefined)
        return problem('origin');
      if (foreign) return problem('origin');
      if (pathname === STYLE_PATH) return { status: 200, headers: STYLE_HEADERS, body: STYLE };
      const file = pathname.startsWith('/explorer/') ? (await island())?.answer(pathname) : undefined;
      if (file !== undefined) return file;
      const signing = (await signingIn?.answer(http, from)) ?? (isUnknown(entering) && (await signingIn?.begin(http)));
      if (signing) return signing;
      if ('status' in entering) {
        const { 'Content-Type': _json, ...headers } = entering.headers ?? {};
        return {
          ...problem(entering.status === 503 ? 'unavailable' : 'unauthorized', undefined, headers),
          status: entering.status,
        };
      }
      const person = signingIn === undefined ? undefined : { name: session?.name };
      const visitor: Visitor = { http, principal: entering.principal, person, log };
      try {
        if (pathname === '/') return await home(searchParams, visitor);
        if (pathname === SEARCH_PATH) return await search(searchParams, visitor);
        const page = beside?.find(({ path }) => path === pathname);
        if (page !== undefined) return await otherPage(page, searchParams, visitor);
        const found = addressed(pathname, searchParams);
        if (found === undefined) return problem('not-found');
        if (found.route === 'raw') return await raw(found, searchParams, visitor);
        return await view(found, searchParams, visitor);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        // The island takes over a problem page, too: it asks for the resource again, and shows the folder around it.
        const shell = { ...NOBODY, server, island: (await island())?.links };
        return problem(error.reason, error.message, retryHeaders(error.failure), shell);
      }
    },
  };
}
