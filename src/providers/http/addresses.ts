/**
 * Which addresses may be connected to. Public ones may; any other only where whoever configured it said so, because a name
 * of the web, or a redirect, must not lead into the network that the server stands in.
 */
import ipaddr from 'ipaddr.js';
import { ResourceError } from '../../core/errors.ts';
import { addressIn, type HostKind, kindOfAddress } from '../../core/hosts.ts';

export interface AddressPolicy {
  /** Whether an address that was found for a host of this origin may be connected to. */
  allows(address: string, origin: URL): boolean;
}

export interface AddressRules {
  /** `true`: private and loopback addresses; or addresses, ranges and names of hosts. */
  readonly allowPrivate?: boolean | readonly string[] | undefined;
  /** URLs as they were configured: one whose host is written as an address, or as `localhost`, is meant. */
  readonly configured: readonly URL[];
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/** Kinds of hosts that `allowPrivate: true` allows. Others (link-local, where clouds keep credentials) have to be named. */
const PRIVATE: ReadonlySet<HostKind> = new Set(['loopback', 'private']);

/** @throws ResourceError `invalid` for a range that is not one */
export function createAddressPolicy({ allowPrivate = false, configured }: AddressRules): AddressPolicy {
  const said = Array.isArray(allowPrivate) ? (allowPrivate as readonly string[]) : [];
  const ranges = said.filter(isRange).map(parseRange);
  const names = new Set(said.filter((each) => !isRange(each)).map(nameOf));
  const meant = new Set(configured.filter((url) => isMeant(url)).map((url) => url.origin));

  return {
    allows(text, origin) {
      const address = addressIn(text);
      if (address === undefined) return false;
      const kind = kindOfAddress(address);
      // Never connected to, whatever is allowed: it is nobody's address.
      if (kind === 'nobody') return false;
      if (kind === 'public' || ranges.some((range) => within(address, range))) return true;
      if (!PRIVATE.has(kind)) return false;
      return allowPrivate === true || meant.has(origin.origin) || names.has(origin.hostname);
    },
  };
}

/** The host of a URL when it is written as an address; undefined for a name. */
export function literalOf({ hostname }: Pick<URL, 'hostname'>): string | undefined {
  return addressIn(hostname) === undefined ? undefined : hostname.replace(/^\[|\]$/g, '');
}

const isMeant = (url: URL): boolean => url.hostname === 'localhost' || literalOf(url) !== undefined;

const isRange = (text: string): boolean => text.includes('/') || ipaddr.isValid(text);

function parseRange(text: string): Range {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return [address, address instanceof ipaddr.IPv4 ? 32 : 128];
  } catch (cause) {
    throw new ResourceError('invalid', `allowPrivate: ${text} is no range of addresses, as in 10.0.0.0/8`, { cause });
  }
}

const nameOf = (text: string): string => {
  const url = `http://${text}/`;
  if (/^[^\s:/?#@]+$/.test(text) && URL.canParse(url)) return new URL(url).hostname;
  throw new ResourceError('invalid', `allowPrivate: ${text} is no address, range, or name of a host`);
};

const within = (address: Address, [base, bits]: Range): boolean =>
  address.kind() === base.kind() && (address as ipaddr.IPv4).match(base as ipaddr.IPv4, bits);
