/** Decides which icons and websites of a server may be used (973-4): those of its origin and of trusted domains, and `data:` icons. */

import { essenceOf } from '../../core/formats/formats.ts';
import { verifyType } from '../../core/formats/verify-type.ts';
import { isWithin } from '../../core/hosts.ts';
import type { Icon } from '../../protocol/resources.ts';
import { base64Size, decodeBase64 } from '../base64.ts';

/** The most bytes of an icon by default: 64 KiB. */
export const DEFAULT_MAX_ICON_BYTES = 64 * 1024;

/** The most characters of an address. */
const MAX_URL_LENGTH = 2_048;

/** The types of icons that are shown. An SVG is shown only as the source of an `img`. */
export const ICON_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/svg+xml', 'image/webp']);

export interface TrustOptions {
  /** The URL that the server is reached at. Without it, as over stdio, no origin is the server's own. */
  readonly server?: string | URL | undefined;
  /** Host names that are trusted over HTTPS, each with its subdomains: `example.com` includes `cdn.example.com`. */
  readonly trustedDomains?: readonly string[];
  /** The most bytes of an icon; 65,536 by default. */
  readonly maxIconBytes?: number;
}

export type TrustRefusal =
  | 'malformed'
  /** The scheme is not `https:`, nor `data:` for an icon, nor the `http:` of the server's own origin. */
  | 'scheme'
  /** The address is neither at the server's own origin nor in a trusted domain. */
  | 'origin'
  /** The address has a user name or a password. */
  | 'credentials'
  | 'too-large'
  /** The claimed type or the bytes are not PNG, JPEG, SVG or WebP. */
  | 'type';

export type Trust<T> = ({ readonly trusted: true } & T) | { readonly trusted: false; readonly reason: TrustRefusal };

export interface TrustedIcon {
  /** Only for the `src` of an `img` element: an SVG must not get into a page in any other way. */
  readonly src: string;
  /** The type that is checked against the bytes for a `data:` URI, else the one that the server claims, if any. */
  readonly mimeType: string | undefined;
  /** Whether showing the icon makes a request. `fetchIcon` makes one that does not reveal who asks. */
  readonly remote: boolean;
}

const refused = (reason: TrustRefusal): { readonly trusted: false; readonly reason: TrustRefusal } => ({
  trusted: false,
  reason,
});

/** Decides whether an icon may be shown, and from which address. */
export async function trustIcon(icon: Icon, options: TrustOptions = {}): Promise<Trust<TrustedIcon>> {
  const claimed = iconType(icon.mimeType);
  if (claimed !== undefined && !ICON_TYPES.has(claimed)) return refused('type');
  if (typeof icon.src !== 'string') return refused('malformed');
  if (/^data:/i.test(icon.src)) return dataIcon(icon.src, claimed, options.maxIconBytes ?? DEFAULT_MAX_ICON_BYTES);
  const address = trustWebsite(icon.src, options);
  if (!address.trusted) return address;
  return { trusted: true, src: address.url, mimeType: claimed, remote: true };
}

/** Returns the icons that may be shown, in the server's order. Only the first 32 are looked at. */
export async function trustedIcons(
  icons: readonly Icon[] | undefined,
  options: TrustOptions = {},
): Promise<readonly (Icon & TrustedIcon)[]> {
  const decided = await Promise.all(
    (icons ?? []).slice(0, 32).map(async (icon) => ({ icon, trust: await trustIcon(icon, options) })),
  );
  return decided.flatMap(({ icon, trust }) => {
    if (!trust.trusted) return [];
    const { src, mimeType, remote } = trust;
    return [{ ...icon, src, mimeType, remote }];
  });
}

/** Decides whether an address, such as a `websiteUrl`, may be made a link. Gives the address as `URL` writes it. */
export function trustWebsite(website: string | undefined, options: TrustOptions = {}): Trust<{ readonly url: string }> {
  const { server, trustedDomains = [] } = options;
  if (website === undefined || website.length > MAX_URL_LENGTH || !URL.canParse(website)) return refused('malformed');
  const url = new URL(website);
  const serverUrl = server === undefined || !URL.canParse(String(server)) ? undefined : new URL(server);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('scheme');
  if (url.username !== '' || url.password !== '') return refused('credentials');
  if (serverUrl !== undefined && serverUrl.origin === url.origin) return { trusted: true, url: url.href };
  if (url.protocol !== 'https:') return refused('scheme');
  return isWithin(url.hostname, trustedDomains) && (url.port === '' || url.port === '443')
    ? { trusted: true, url: url.href }
    : refused('origin');
}

const DATA = /^data:([\w.+-]+\/[\w.+-]+)(;charset=[\w-]+)?;base64,/i;

async function dataIcon(src: string, claimed: string | undefined, maxBytes: number): Promise<Trust<TrustedIcon>> {
  const [prefix, type] = DATA.exec(src.slice(0, 200)) ?? [];
  const mimeType = iconType(type);
  if (prefix === undefined || mimeType === undefined) return refused('malformed');
  if (!ICON_TYPES.has(mimeType) || (claimed !== undefined && claimed !== mimeType)) return refused('type');
  const base64 = src.slice(prefix.length);
  if (base64Size(base64) > maxBytes) return refused('too-large');
  const bytes = decodeBase64(base64);
  if (bytes === undefined) return refused('malformed');
  if (!(await isIcon(mimeType, bytes))) return refused('type');
  return { trusted: true, src: `data:${mimeType};base64,${base64}`, mimeType, remote: false };
}

/** Whether the bytes are an icon of this type. */
export async function isIcon(mimeType: string, bytes: Uint8Array): Promise<boolean> {
  if (bytes.byteLength === 0 || !ICON_TYPES.has(mimeType)) return false;
  if (mimeType !== 'image/svg+xml') return (await verifyType(mimeType, bytes.subarray(0, 4_100), false)) === mimeType;
  const start = new TextDecoder('utf-8').decode(bytes.subarray(0, 4_100));
  return /^\ufeff?\s*(?:<\?xml[^>]*>\s*|<!--[^>]*-->\s*|<!doctype svg[^>]*>\s*)*<svg[\s>/]/i.test(start);
}

/** Returns the type in lower case, without parameters. `image/jpg`, which many servers send, becomes `image/jpeg`. */
export function iconType(mimeType: string | undefined): string | undefined {
  const type = essenceOf(mimeType) || undefined;
  return type === 'image/jpg' ? 'image/jpeg' : type;
}
