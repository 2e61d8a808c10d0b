/**
 * Who may talk to the HTTP endpoint before anything is read: the answer to DNS rebinding.
 *
 * A page that rebinds its own name to this machine sends that name as `Host`. So an address literal and `localhost` are
 * fine, and a name only when it was allowed. A browser also sends where the page came from: only this very endpoint,
 * loopback pages, and origins that were allowed may.
 */

import { addressIn, isLoopback } from '../../core/hosts.ts';
import type { HttpRequest } from './exchange.ts';

export interface GuardOptions {
  /** Host names, without port, beside `localhost` and address literals. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins such as `https://app.example.com`, beside loopback ones. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** Why a request is refused, or undefined when it may pass. */
export type Guard = (request: Pick<HttpRequest, 'url' | 'headers'>) => string | undefined;

export function createGuard(options: GuardOptions = {}): Guard {
  const hosts = new Set((options.allowedHosts ?? []).map((host) => host.toLowerCase()));
  const origins = new Set((options.allowedOrigins ?? []).map((origin) => pageOf(origin)?.origin ?? origin));
  /** A host that may be asked for: one request comes behind another that is like it. */
  let known: string | undefined;
  return (request) => {
    const named = request.headers.get('host') ?? '';
    if (named === known && !request.headers.has('origin')) return undefined;
    const host = addressOf(`http://${named}`);
    if (host === undefined) return 'The request has no valid Host';
    const { hostname } = host;
    if (addressIn(hostname) === undefined && hostname !== 'localhost' && !hosts.has(hostname)) {
      return 'This Host is not served here; allow it with --allow-host';
    }
    known = named;
    const origin = request.headers.get('origin');
    if (origin === null || origins.has(origin)) return undefined;
    const page = pageOf(origin);
    // Anybody on the way may have written a page that came without TLS.
    const beside = page?.host === host.host && (page.protocol === 'https:' || !request.url.startsWith('https:'));
    if (page !== undefined && (isLoopback(page.hostname) || origins.has(page.origin) || beside)) return undefined;
    return 'Pages of this Origin may not use this server; allow it with --allow-origin';
  };
}

/** A URL that says where something is and nothing else: no user, path, query or fragment. */
function addressOf(url: string): URL | undefined {
  if (/[@\\?#\s]/.test(url) || !URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  return parsed.pathname === '/' ? parsed : undefined;
}

/** The origin of a web page; undefined for anything else that has an origin, which is compared as it is written. */
function pageOf(origin: string): URL | undefined {
  const address = addressOf(origin);
  return address?.protocol === 'http:' || address?.protocol === 'https:' ? address : undefined;
}
