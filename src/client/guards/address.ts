/** Checks an address that a server wants the user to open: refuses an unsafe one, warns of a suspicious one. */
import { addressIn, isWithin, kindOfHost } from '../../core/hosts.ts';

export type AddressWarning =
  /** The host is written in Punycode: it may look like another one. */
  | 'punycode'
  /** The host is an IP address. */
  | 'ip-address'
  /** The address has a port other than the default one. */
  | 'port'
  /** The host is in no trusted domain. */
  | 'unknown-host';

export interface AddressRules {
  readonly allowLoopback: boolean;
  readonly trustedDomains: readonly string[];
}

const MAX_LENGTH = 4_096;

/** Returns the reason why an address must not be shown to a user; undefined where it may be shown. */
export function addressProblem(text: unknown, { allowLoopback, trustedDomains }: AddressRules): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) return 'url-malformed';
  // A URL parser silently removes or changes these characters: the user would see another address than the one opened.
  if (/[\u0000-\u0020\u007f-\u009f\\]/.test(text) || !text.isWellFormed() || !URL.canParse(text))
    return 'url-malformed';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'url-credentials';
  const kind = kindOfHost(url.hostname);
  if (kind === 'loopback' && allowLoopback && url.protocol === 'http:') return undefined;
  if (url.protocol !== 'https:') return 'url-scheme';
  if (kind === 'loopback') return allowLoopback ? undefined : 'url-loopback';
  // A public DNS name passes: only opening the address would show where it leads.
  const isPublic = kind === 'public' || kind === 'name';
  return isPublic || isWithin(url.hostname, trustedDomains) ? undefined : 'url-private';
}

export function addressWarnings(text: string, trustedDomains: readonly string[]): readonly AddressWarning[] {
  const { hostname, port } = new URL(text);
  return [
    ...(hostname.split('.').some((label) => label.startsWith('xn--')) ? (['punycode'] as const) : []),
    ...(addressIn(hostname) === undefined ? [] : (['ip-address'] as const)),
    ...(port === '' ? [] : (['port'] as const)),
    ...(isWithin(hostname, trustedDomains) ? [] : (['unknown-host'] as const)),
  ];
}
