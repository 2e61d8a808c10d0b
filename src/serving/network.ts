/** Addresses of those who ask. */

/** An IPv4 address as such, where it came as an IPv6 one. */
const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** The network that counts as one address: an IPv4 address, or the /64 network of an IPv6 one, of which a host may use any. */
export function networkOf(address: string): string {
  const plain = unmapped(address);
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = (plain.split('%', 1)[0] ?? '').split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}
