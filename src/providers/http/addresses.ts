/**
 * Decides which addresses the server may connect to. Public addresses are allowed. Any other address is allowed only if the
 * configuration says so, because a host name or a redirect of the web must not lead into the server's own network.
 */
import ipaddr from 'ipaddr.js';
import { ResourceError } from '../../core/errors.ts';
import { addressIn, type HostKind, kindOfAddress } from '../../core/hosts.ts';

export interface AddressPolicy {
  /** Whether the server may connect to an address that the host of this origin resolved to. */
  allows(address: string, origin: URL): boolean;
}

export interface AddressRules {
  /** `true` allows private and loopback addresses; a list allows its addresses, ranges and host names. Default: false. */
  readonly allowPrivate?: boolean | readonly string[] | undefined;
  /** The configured URLs. If the host of one is `localhost` or a private or loopback address, its origin is allowed. */
  readonly configured: readonly URL[];
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/** Kinds of hosts that `allowPrivate: true` allows. Others (link-local, where clouds keep credentials) have to be named. */
const PRIVATE: ReadonlySet<HostKind> = new Set(['loopback', 'private']);

/** @throws ResourceError `invalid` for an entry of `allowPrivate` that is no address, range or host name */
export function createAddressPolicy({ allowPrivate = false, configured }: AddressRules): AddressPolicy {
  const allowed = Array.isArray(allowPrivate) ? (allowPrivate as readonly string[]) : [];
  const ranges = allowed.filter(isRange).map(parseRange);
  const names = new Set(allowed.filter((text) => !isRange(text)).map(nameOf));
  const explicit = new Set(configured.filter((url) => isExplicit(url)).map((url) => url.origin));

  return {
    allows(text, origin) {
      const address = addressIn(text);
      if (address === undefined) return false;
      const kind = kindOfAddress(address);
      // An address that belongs to nobody, such as 0.0.0.0, is never allowed.
      if (kind === 'nobody') return false;
      if (kind === 'public' || ranges.some((range) => within(address, range))) return true;
      if (!PRIVATE.has(kind)) return false;
      return allowPrivate === true || explicit.has(origin.origin) || names.has(origin.hostname);
    },
  };
}

/** Returns the host of a URL if it is written as an address; undefined for a name. */
export function literalOf({ hostname }: Pick<URL, 'hostname'>): string | undefined {
  return addressIn(hostname) === undefined ? undefined : hostname.replace(/^\[|\]$/g, '');
}

/** Whether the URL itself shows what network it leads to, so that whoever configured it knew that. */
const isExplicit = (url: URL): boolean => url.hostname === 'localhost' || literalOf(url) !== undefined;

const isRange = (text: string): boolean => text.includes('/') || ipaddr.isValid(text);

function parseRange(text: string): Range {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return [address, address instanceof ipaddr.IPv4 ? 32 : 128];
  } catch (cause) {
    throw new ResourceError('invalid', `allowPrivate: ${text} is not a range of addresses, such as 10.0.0.0/8`, {
      cause,
    });
  }
}

const nameOf = (text: string): string => {
  const url = `http://${text}/`;
  if (/^[^\s:/?#@]+$/.test(text) && URL.canParse(url)) return new URL(url).hostname;
  throw new ResourceError('invalid', `allowPrivate: ${text} is not an address, a range, or a host name`);
};

const within = (address: Address, [base, bits]: Range): boolean =>
  address.kind() === base.kind() && (address as ipaddr.IPv4).match(base as ipaddr.IPv4, bits);
