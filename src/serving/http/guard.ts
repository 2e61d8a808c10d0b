/**
 * Protects the HTTP endpoint against DNS rebinding: checks `Host` and `Origin` of each request before its body is read.
 *
 * A page that makes its own name point to this machine sends that name as `Host`. So address literals and `localhost` are
 * accepted, and other names only if they are allowed. A browser also sends the origin of the page. Pages of the endpoint itself,
 * loopback pages, and allowed origins are accepted.
 */

import { addressIn, isLoopback } from '../../core/hosts.ts';
import type { HttpRequest } from './exchange.ts';

export interface GuardOptions {
  /** Accepted host names, without port, in addition to `localhost` and address literals. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Accepted origins, such as `https://app.example.com`, in addition to loopback origins and that of the endpoint itself. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** Returns why a request is refused; undefined if it may pass. */
export type Guard = (request: Pick<HttpRequest, 'url' | 'headers'>) => string | undefined;

export function createGuard(options: GuardOptions = {}): Guard {
  const hosts = new Set((options.allowedHosts ?? []).map((host) => host.toLowerCase()));
  const origins = new Set((options.allowedOrigins ?? []).map((origin) => pageOf(origin)?.origin ?? origin));
  /** The last accepted host. Most requests have the same one, which then is not parsed again. */
  let accepted: string | undefined;
  return (request) => {
    const named = request.headers.get('host') ?? '';
    if (named === accepted && !request.headers.has('origin')) return undefined;
    const host = addressOf(`http://${named}`);
    if (host === undefined) return 'The request has no valid Host';
    const { hostname } = host;
    if (addressIn(hostname) === undefined && hostname !== 'localhost' && !hosts.has(hostname)) {
      return 'This Host is not served here; allow it with --allow-host';
    }
    accepted = named;
    const origin = request.headers.get('origin');
    if (origin === null || origins.has(origin)) return undefined;
    const page = pageOf(origin);
    // Somebody on the network may have changed a page that came without TLS, so such a page may not use an endpoint with TLS.
    const isOwn = page?.host === host.host && (page.protocol === 'https:' || !request.url.startsWith('https:'));
    if (page !== undefined && (isLoopback(page.hostname) || origins.has(page.origin) || isOwn)) return undefined;
    return 'Pages of this Origin may not use this server; allow it with --allow-origin';
  };
}

/** Parses a URL that has only a scheme, host and port; undefined for any other. */
function addressOf(url: string): URL | undefined {
  if (/[@\\?#\s]/.test(url) || !URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  return parsed.pathname === '/' ? parsed : undefined;
}

/** Parses the origin of a web page; undefined for other origins, such as those of browser extensions. These are compared as texts. */
function pageOf(origin: string): URL | undefined {
  const address = addressOf(origin);
  return address?.protocol === 'http:' || address?.protocol === 'https:' ? address : undefined;
}
