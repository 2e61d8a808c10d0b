/** An address that a server wants the user to open: refused where it cannot be meant well, marked where it may not be. */

export type AddressWarning =
  /** The host is written in Punycode: it may look like another one. */
  | 'punycode'
  /** The host is a number. */
  | 'ip-address'
  /** Another port than the usual one. */
  | 'port'
  /** No trusted domain. */
  | 'unknown-host';

const MAX_LENGTH = 4_096;
const NUMBERS = /^(?:\d+\.\d+\.\d+\.\d+|\[.*\])$/;

/** Why an address is not shown to a user; undefined where it may be. */
export function addressProblem(text: unknown, allowLoopback: boolean): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) return 'url-malformed';
  // What a URL parser takes out without a word, or turns around, is not what the user saw.
  if (/[\u0000-\u0020\u007f-\u009f\\]/.test(text) || !text.isWellFormed() || !URL.canParse(text))
    return 'url-malformed';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'url-credentials';
  const local = url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\./.test(url.hostname);
  if (url.protocol === 'http:' && local && allowLoopback) return undefined;
  if (url.protocol !== 'https:') return 'url-scheme';
  return local && !allowLoopback ? 'url-loopback' : undefined;
}

export function addressWarnings(text: string, trustedDomains: readonly string[]): readonly AddressWarning[] {
  const url = new URL(text);
  const host = url.hostname.replace(/\.$/, '');
  const trusted = trustedDomains.some((domain) => {
    const name = domain.toLowerCase();
    return name !== '' && (host === name || host.endsWith(`.${name}`));
  });
  return [
    ...(host.split('.').some((label) => label.startsWith('xn--')) ? (['punycode'] as const) : []),
    ...(NUMBERS.test(host) ? (['ip-address'] as const) : []),
    ...(url.port === '' ? [] : (['port'] as const)),
    ...(trusted ? [] : (['unknown-host'] as const)),
  ];
}
