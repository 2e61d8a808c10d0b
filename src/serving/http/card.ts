/**
 * Serves the Server Card (SEP-2127) and the AI Catalog that leads to it. Anybody may read these documents before
 * connecting: they name the server and its endpoint, and no resource.
 */
import { createHash } from 'node:crypto';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { invalid } from '../../core/errors.ts';
import { addressIn, isLoopback } from '../../core/hosts.ts';
import { isIconAddress, isWebAddress } from '../../core/icons.ts';
import type { ServerIdentity } from '../../engine/index.ts';
import { CARD_LENGTHS, CARD_SCHEMA, CARD_TYPE, isCardName } from '../../protocol/server-card.ts';
import type { AuthOptions } from '../auth/index.ts';
import { ENDPOINT } from '../defaults.ts';
import { REVISION } from '../dispatch/standing-alone.ts';
import type { HttpAnswer, HttpRequest } from './exchange.ts';

export interface CardOptions {
  /**
   * The server's name as in a registry, `example.library/catalogue`. Default: its own name where that has this form,
   * otherwise the endpoint's host with the labels reversed (`localhost` for an IP address), a slash, and its own name.
   */
  readonly name?: string | undefined;
  /** The endpoint's URL for clients. Default: `auth.resource`, or else the URL of the request. */
  readonly url?: string | undefined;
}

export interface Card {
  /** Whether a request is for the card or the catalog. */
  concerns(request: Pick<HttpRequest, 'method' | 'url'>): boolean;
  /** Whether pages of any origin may read the documents: true if the endpoint's URL is configured and is not of this machine. */
  readonly public: boolean;
  /** Answers a request that `concerns` accepts with its document. */
  answer(request: HttpRequest): HttpAnswer;
}

/** Appended to the URL of the endpoint (SEP-2127, "Hosted Server Card Location"). */
const CARD_SUFFIX = '/server-card';

const CATALOG_PATH = '/.well-known/ai-catalog.json';

/** Paths of the card in earlier drafts, as `application/json`; clients still ask for it there. */
const OLDER_PATHS = ['/.well-known/mcp/server-card.json', '/.well-known/mcp/server-card'] as const;

/** The paths of the documents, for an endpoint at its usual path. */
export const CARD_PATHS: readonly string[] = [`${ENDPOINT}${CARD_SUFFIX}`, CATALOG_PATH, ...OLDER_PATHS];

export const CARD_METHODS = ['GET', 'HEAD', 'OPTIONS'] as const;

const HEADERS = {
  'Cache-Control': 'public, max-age=3600',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET',
  'Access-Control-Allow-Headers': 'Content-Type, If-None-Match',
  'Access-Control-Expose-Headers': 'ETag',
} as const;

/** @throws ResourceError `invalid` for a name or URL that a card cannot have */
export function createCard(identity: ServerIdentity, options: CardOptions, auth: AuthOptions | undefined): Card {
  const { name, url } = options;
  if (name !== undefined && !isCardName(name))
    throw invalid(`The name of a server card is as in example.library/catalogue, not "${name}"`);
  if (url !== undefined && (!isWebAddress(url) || /[#?]/.test(url)))
    throw invalid(`The url of a server card is an https: or http: URL without query and fragment, not "${url}"`);
  const known = url ?? auth?.resource;

  function endpointOf(request: URL): string {
    if (known !== undefined) return known;
    const { origin, pathname } = request;
    return origin + (isWellKnown(pathname) ? ENDPOINT : pathname.slice(0, -CARD_SUFFIX.length));
  }

  return {
    public: known !== undefined && !isLoopback(new URL(known).hostname),
    concerns({ method, url: asked }) {
      if (!CARD_METHODS.includes(method as 'GET')) return false;
      const { pathname } = new URL(asked);
      return isWellKnown(pathname) || pathname.endsWith(CARD_SUFFIX);
    },
    answer(request) {
      if (request.method === 'OPTIONS') return { status: 204, headers: HEADERS };
      const asked = new URL(request.url);
      const endpoint = endpointOf(asked);
      const named = name ?? nameFor(identity.name, new URL(endpoint).hostname);
      const isCatalog = asked.pathname === CATALOG_PATH;
      const document = isCatalog ? catalogOf(named, endpoint) : cardOf(identity, named, endpoint, auth);
      const type = isCatalog ? 'application/ai-catalog+json' : isOlder(asked.pathname) ? 'application/json' : CARD_TYPE;
      return answerWith(JSON.stringify(document), type, request);
    },
  };
}

const isOlder = (path: string): boolean => (OLDER_PATHS as readonly string[]).includes(path);
const isWellKnown = (path: string): boolean => path === CATALOG_PATH || isOlder(path);

function answerWith(body: string, type: string, { method, headers }: HttpRequest): HttpAnswer {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const more = { ...HEADERS, ETag: etag };
  if (knows(headers.get('if-none-match'), etag)) return { status: 304, headers: more };
  return { status: 200, headers: { ...more, 'Content-Type': type }, body: method === 'HEAD' ? undefined : body };
}

/** Whether `If-None-Match` contains the tag, by weak comparison (RFC 9110 13.1.2). */
const knows = (header: string | null, etag: string): boolean =>
  (header ?? '').split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()));

function cardOf(identity: ServerIdentity, name: string, endpoint: string, auth: AuthOptions | undefined): object {
  const { version, title, description, websiteUrl, icons = [] } = identity;
  const shown = icons.filter(({ src }) => isIconAddress(src));
  return {
    $schema: CARD_SCHEMA,
    name,
    version: cut(version, CARD_LENGTHS.version),
    description: cut(
      description || `Resources of ${identity.name}, to be listed, read and searched`,
      CARD_LENGTHS.text,
    ),
    ...(title && { title: cut(title, CARD_LENGTHS.text) }),
    ...(websiteUrl !== undefined && isWebAddress(websiteUrl) && { websiteUrl }),
    ...(shown.length > 0 && { icons: shown }),
    remotes: [
      {
        type: 'streamable-http',
        url: endpoint,
        supportedProtocolVersions: [REVISION, ...SUPPORTED_PROTOCOL_VERSIONS.filter((each) => each < REVISION)],
        ...(needsHandedToken(auth) && { headers: [HANDED_TOKEN] }),
      },
    ],
  };
}

/** Whether only the operator gives tokens. Where there are authorization servers, the 401 names them (RFC 9728). */
const needsHandedToken = (auth: AuthOptions | undefined): boolean =>
  auth !== undefined && auth.anonymous !== true && (auth.issuers ?? []).length === 0;

const HANDED_TOKEN = {
  name: 'Authorization',
  description: 'Bearer, a space, and the token that the operator of the server has given you',
  isRequired: true,
  isSecret: true,
};

/** @param name the name of the card; its namespace is a domain with the labels in reverse order */
function catalogOf(name: string, endpoint: string): object {
  const [namespace = '', last = ''] = name.split('/');
  const identifier = `urn:air:${turned(namespace)}:mcp:${last}`;
  return { specVersion: '1.0', entries: [{ identifier, type: CARD_TYPE, url: `${endpoint}${CARD_SUFFIX}` }] };
}

/** Returns the server's own name where it is valid; else a name from its host, or `localhost` for an IP address. */
function nameFor(name: string, hostname: string): string {
  if (isCardName(name)) return name;
  const last = name.replace(/[^a-zA-Z0-9._-]+/g, '-').slice(0, CARD_LENGTHS.text);
  const namespace = addressIn(hostname) === undefined ? turned(hostname.replace(/[^a-z0-9.-]/g, '-')) : 'localhost';
  const made = `${namespace}/${last}`;
  return isCardName(made) ? made : `localhost/${last}`;
}

const turned = (domain: string): string => domain.split('.').filter(Boolean).reverse().join('.');

/** Cuts a text to `most` code points, as the schema counts. */
function cut(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
