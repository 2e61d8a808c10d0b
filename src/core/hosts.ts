/**
 * Classifies host names and addresses. Only this file decides whether one is public, means this machine, or is in a private
 * network.
 */
import ipaddr from 'ipaddr.js';

export type HostKind =
  /** An address that is assigned for use on the internet. */
  | 'public'
  /** This machine: loopback addresses, `localhost`, and all names below it (RFC 6761). */
  | 'loopback'
  /** A private network: RFC 1918, RFC 4193, or behind a carrier (RFC 6598). */
  | 'private'
  /** Nobody's: unspecified, broadcast, multicast. */
  | 'nobody'
  /** All others: link-local, where clouds keep credentials; reserved, translated or not assigned. */
  | 'special'
  /** A name that has a meaning only within a local network: `printer.local`, `wiki`. */
  | 'local-name'
  /** A name of the public DNS, which may still lead anywhere. */
  | 'name';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const KINDS: Readonly<Record<string, HostKind>> = {
  loopback: 'loopback',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
  unspecified: 'nobody',
  broadcast: 'nobody',
  multicast: 'nobody',
};

/** The range of all IPv6 addresses that are assigned for use on the internet. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** Names below these are not in the public DNS (RFC 6761, RFC 6762, RFC 8375, ICANN's `.internal`, and what networks use). */
const LOCAL_NAMES: ReadonlySet<string> = new Set(
  'localdomain local internal intranet private corp home lan svc arpa'.split(' '),
);

/** @param hostname a name or an address, also as a URL has it: in brackets, with a dot at the end */
export function kindOfHost(hostname: string): HostKind {
  const address = addressIn(hostname);
  if (address !== undefined) return kindOfAddress(address);
  const labels = withoutDot(hostname).split('.');
  const top = labels.at(-1) ?? '';
  if (top === 'localhost') return 'loopback';
  return labels.length === 1 || LOCAL_NAMES.has(top) ? 'local-name' : 'name';
}

/**
 * Whether a host name or address certainly means this machine: `localhost`, or a loopback address. Names below `localhost` do
 * not count, since some systems ask the DNS for them.
 */
export function isLoopback(hostname: string): boolean {
  const address = addressIn(hostname);
  return address === undefined ? hostname === 'localhost' : kindOfAddress(address) === 'loopback';
}

/** Whether a host is one of these domains, or below one. */
export function isWithin(hostname: string, domains: readonly string[]): boolean {
  const host = withoutDot(hostname);
  return domains.some((entry) => {
    const domain = withoutDot(entry).replace(/^\./, '');
    return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
  });
}

const withoutDot = (hostname: string): string => hostname.toLowerCase().replace(/\.+$/, '');

/** Parses an address, in brackets or not; undefined if the text is none. Returns an IPv4 address in an IPv6 one as the former. */
export function addressIn(text: string): Address | undefined {
  const [plain = ''] = text.replace(/^\[(.*)\]$/, '$1').split('%', 1);
  // An IPv4 address has four numbers here. URL parsers write shorter ones out, such as `127.1`.
  if (!plain.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(plain)) return undefined;
  return ipaddr.isValid(plain) ? embedded(ipaddr.process(plain)) : undefined;
}

export function kindOfAddress(address: Address): HostKind {
  const range = address.range();
  if (range !== 'unicast') return KINDS[range] ?? 'special';
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6) ? 'public' : 'special';
}

/** Returns the address that this one stands for, or itself: an IPv4 address behind a translator is judged as itself. */
function embedded(address: Address): Address {
  if (address instanceof ipaddr.IPv4 || address.range() !== 'rfc6052') return address;
  const bytes = address.toByteArray();
  // With a local prefix, it is not known which bytes are the IPv4 address.
  return bytes[5] === 0 && bytes[4] === 0 ? new ipaddr.IPv4(bytes.slice(12)) : address;
}
