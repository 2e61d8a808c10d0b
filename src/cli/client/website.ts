/** `vitrine website`: opens the website of a server in the user's browser, if its address can be trusted (973-4). */
import { type TrustRefusal, trustWebsite } from '../../client/safety/trust.ts';
import type { Secrets } from '../../config/secrets.ts';
import { openInBrowser } from '../browser.ts';
import { EXIT_DENIED, EXIT_NOT_FOUND, EXIT_OK } from './exit-codes.ts';
import { safe } from './printing/output.ts';
import { onServer, type ServerFlags } from './reaching/connect.ts';

export interface WebsiteFlags extends ServerFlags {
  /** Domains whose websites are trusted, with their subdomains. */
  readonly trust?: readonly string[];
  /** Prints the address and starts no browser. */
  readonly print?: boolean;
}

/**
 * Prints the address, and opens it unless `--print` is given. An address that is not trusted appears only in a message on
 * standard error, and is not opened.
 */
export const website = (server: string, flags: WebsiteFlags, secrets: Secrets): Promise<void> =>
  onServer(server, flags, secrets, async ({ facts, output, target, label }) => {
    const { websiteUrl } = facts;
    if (websiteUrl === undefined) {
      output.note(`${label} names no website`);
      return EXIT_NOT_FOUND;
    }
    const serverUrl = 'url' in target.server ? target.server.url : undefined;
    const trust = trustWebsite(websiteUrl, { server: serverUrl, trustedDomains: flags.trust ?? [] });
    if (!trust.trusted) {
      output.note(
        `${label} names the website ${safe(websiteUrl.slice(0, MAX_SHOWN))}, which is not opened: ${WHY[trust.reason]}`,
      );
      return EXIT_DENIED;
    }
    await output.document({ websiteUrl: trust.url }, () => safe(trust.url));
    if (flags.print !== true) await openInBrowser(trust.url, '--print prints the address alone');
    return EXIT_OK;
  });

/** The most characters of an address in a message. */
const MAX_SHOWN = 500;

const WHY: Readonly<Record<TrustRefusal, string>> = {
  malformed: 'it is no address',
  scheme: 'only https: is opened, or http: if the server itself is reached over http:',
  origin: "it is not at the server's own origin; --trust <domain> opens it",
  credentials: 'it has a user or a password in it',
  'too-large': 'it is too long',
  type: 'it is no address of a page',
};
