/**
 * Which addresses may be connected to. Public ones may; any other only where whoever configured it said so, because a name
 * of the web, or a redirect, must not lead into the network that the server stands in.
 */
import ipaddr from 'ipaddr.js';
import { ResourceError } from '../../core/errors.ts';

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

/** What `allowPrivate: true` means. The others (link-local, where clouds keep credentials) have to be named. */
const PRIVATE: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']);

/** Never connected to, whatever is allowed: they are nobody's address. */
const NOBODY: ReadonlySet<string> = new Set(['unspecified', 'broadcast', 'multicast']);

/** All that is assigned for use on the internet lies in here. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** @throws ResourceError `invalid` for a range that is not one */
export function createAddressPolicy({ allowPrivate = false, configured }: AddressRules): AddressPolicy {
  const said = Array.isArray(allowPrivate) ? (allowPrivate as readonly string[]) : [];
  const ranges = said.filter(isRange).map(parseRange);
  const names = new Set(said.filter((each) => !isRange(each)).map(nameOf));
  const meant = new Set(configured.filter((url) => isMeant(url)).map((url) => url.origin));

  return {
    allows(text, origin) {
      if (!ipaddr.isValid(withoutZone(text))) return false;
      const address = embedded(ipaddr.process(withoutZone(text)));
      const kind = kindOf(address);
      if (NOBODY.has(kind)) return false;
      if (kind === 'public' || ranges.some((range) => within(address, range))) return true;
      if (!PRIVATE.has(kind)) return false;
      return allowPrivate === true || meant.has(origin.origin) || names.has(origin.hostname);
    },
  };
}

/** The host of a URL when it is written as an address; undefined for a name. */
export function literalOf({ hostname }: Pick<URL, 'hostname'>): string | undefined {
  const text = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(text) ? text : undefined;
}

const isMeant = (url: URL): boolean => url.hostname === 'localhost' || literalOf(url) !== undefined;

const withoutZone = (text: string): string => text.split('%', 1)[0] ?? text;

/** What lies in an address that stands for another one: an IPv4 address behind a translator is judged as itself. */
function embedded(address: Address): Address {
  if (address instanceof ipaddr.IPv4 || address.range() !== 'rfc6052') return address;
  const bytes = address.toByteArray();
  // Of the local prefix nobody knows where the address lies in it.
  return bytes[5] === 0 && bytes[4] === 0 ? new ipaddr.IPv4(bytes.slice(12)) : address;
}

function kindOf(address: Address): string {
  const range = address.range();
  if (range !== 'unicast') return range;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6) ? 'public' : 'unassigned';
}

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
