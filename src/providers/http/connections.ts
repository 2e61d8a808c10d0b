/**
 * Connects to origins. It resolves a name, checks each of its addresses, and connects the socket to one that passed.
 * Nothing resolves the name a second time, so the checked address is the one in use. Proxies from the environment are
 * not used, because a proxy would resolve names itself.
 */

import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { AddressPolicy } from './addresses.ts';
import { literalOf } from './addresses.ts';
import type { Limits } from './config.ts';
import type { Resolve } from './resolve.ts';

export interface ConnectionOptions {
  readonly policy: AddressPolicy;
  readonly limits: Pick<Limits, 'connectTimeoutMs' | 'maxConnections'>;
  readonly resolve?: Resolve | undefined;
  readonly ca?: string | undefined;
}

/** The host has no allowed address. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
}

/** The most origins whose connector is kept, to reuse their TLS sessions. */
const MAX_CONNECTORS = 256;

/** The most bytes of the headers of one answer. */
const MAX_HEADER_BYTES = 32 * 1024;

const KEEP_ALIVE_MS = 10_000;

export function createAgent({ policy, limits, resolve = system, ca }: ConnectionOptions): Agent {
  const connectors = new Map<string, buildConnector.connector>();

  const lookupFor =
    (origin: URL): LookupFunction =>
    (hostname, options, done) => {
      resolve(hostname).then(
        (found) => {
          const fitting = found.filter(({ family }) => !options.family || family === Number(options.family));
          const allowed = fitting.filter(({ address }) => policy.allows(address, origin));
          const [first] = allowed;
          if (first === undefined) {
            const error = fitting.length === 0 ? noAddress() : new ForbiddenAddressError('no allowed address');
            done(error, '', 4);
          } else if (options.all) done(null, [...allowed]);
          else done(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => done(error, '', 4),
      );
    };

  function connectorOf(origin: URL): buildConnector.connector {
    const known = connectors.get(origin.origin);
    if (known !== undefined) return known;
    const made = buildConnector({
      timeout: limits.connectTimeoutMs,
      lookup: lookupFor(origin),
      allowH2: false,
      ...(ca !== undefined && { ca }),
    });
    if (connectors.size < MAX_CONNECTORS) connectors.set(origin.origin, made);
    return made;
  }

  const connect: buildConnector.connector = (options, done) => {
    const origin = new URL(`${options.protocol}//${options.host ?? options.hostname}`);
    const literal = literalOf(origin);
    // An address is not resolved, so it is checked here.
    if (literal !== undefined && !policy.allows(literal, origin)) {
      done(new ForbiddenAddressError('not an allowed address'), null);
      return;
    }
    connectorOf(origin)(options, (...[error, socket]) => {
      if (error !== null || socket === null) done(error ?? noAddress(), null);
      else if (policy.allows(socket.remoteAddress ?? '', origin)) done(null, socket);
      else {
        socket.destroy();
        done(new ForbiddenAddressError('connected to an address that is not allowed'), null);
      }
    });
  };

  return new Agent({
    connect,
    connections: limits.maxConnections,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Requests have their own deadlines, because these have to include the body.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

const system: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

const noAddress = (): NodeJS.ErrnoException => Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
