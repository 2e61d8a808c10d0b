/** The network addresses of clients. */

/** Converts an IPv4-mapped IPv6 address to IPv4. */
const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Returns the network that counts as one client: an IPv4 address, or a /64 of IPv6, which one host may own. */
export function networkOf(address: string): string {
  const plain = unmapped(address);
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = (plain.split('%', 1)[0] ?? '').split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}
