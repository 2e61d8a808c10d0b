/** Renders the list of a folder at its raw address: only links to files and folders, for programs that copy a folder. */
import type { Resource } from '../../protocol/resources.ts';
import { addressOf, listingAddress } from './address.ts';
import { html } from './html.ts';
import { isFolder } from './kinds.ts';
import { TEXTS } from './texts.ts';

export const listingStart = (uri: string): string =>
  html`<!doctype html><meta charset="utf-8"><title>${TEXTS.listing(uri)}</title><h1>${TEXTS.listing(uri)}</h1><ul>
`.toString();

export const listingRow = (entry: Resource): string =>
  html`<li><a href="${isFolder(entry) ? listingAddress(entry.uri) : addressOf('raw', entry.uri)}"><bdi>${entry.name}</bdi></a></li>
`.toString();

export const LISTING_END = '</ul>\n';
