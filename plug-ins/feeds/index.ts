/** Reads the entries of feeds (RSS, Atom, JSON Feed) with `feedsmith`, as plain data that can be sent between threads. */
import {
  type DocumentPlugIn,
  encodeSegment,
  type FeedEntry,
  type FeedSource,
  missingPackage,
  ResourceError,
} from 'vitrine/plug-in';

/** The most entries of a feed that are read. */
const MAX_ENTRIES = 2_000;

/** The most bytes of all pages that are written from entries; the entries after that are left out. */
const MAX_INLINE_BYTES = 4 * 1024 * 1024;

// The most characters of a title or summary, of an id, and of a date.
const MAX_TEXT = 1_000;
const MAX_ID = 256;
const MAX_DATE = 100;

/** An entry of a feed in any of the formats. */
interface Entry {
  readonly id?: string | undefined;
  readonly link?: string | undefined;
  readonly title?: string | undefined;
  readonly summary?: string | undefined;
  readonly html?: string | undefined;
  readonly text?: string | undefined;
  readonly date?: string | undefined;
}

/**
 * Reads the entries. An entry with a link to the feed's own origin becomes the page behind the link. Any other entry becomes
 * a page that is written from the feed itself, so no feed can make this server request another origin.
 * @throws ResourceError `unavailable` for a document that is no feed, or if `feedsmith` is not installed
 */
async function readFeed(bytes: Uint8Array, feed: FeedSource): Promise<readonly FeedEntry[]> {
  const entries = new Map<string, FeedEntry>();
  let inline = 0;
  for (const entry of await parsed(textOf(bytes, feed), feed.uri)) {
    const found = entryOf(feed, entry);
    if (found === undefined || found.uri === feed.uri || entries.has(found.uri)) continue;
    inline += found.inline?.bytes.byteLength ?? 0;
    if (inline > MAX_INLINE_BYTES) break;
    entries.set(found.uri, found);
  }
  return [...entries.values()];
}

function entryOf(feed: FeedSource, entry: Entry): FeedEntry | undefined {
  const link = linkOf(feed, entry.link);
  const date = entry.date === undefined ? Number.NaN : Date.parse(entry.date.slice(0, MAX_DATE));
  const time = Number.isFinite(date) ? date : 0;
  const title = plain(entry.title);
  const description = plain(entry.summary);
  const fields = {
    ...(title !== undefined && { title, name: title }),
    ...(description !== undefined && { description }),
    ...(time > 0 && { annotations: { lastModified: new Date(time).toISOString() } }),
  };
  if (link !== undefined && link.origin === new URL(feed.url).origin) {
    link.hash = '';
    return { uri: link.href, url: link.href, description: fields, time };
  }
  const id = (entry.id ?? entry.link ?? entry.title)?.slice(0, MAX_ID);
  if (id === undefined || !id.isWellFormed()) return undefined;
  return {
    uri: `${feed.uri}#entry-${encodeSegment(id)}`,
    url: feed.url,
    description: { name: title ?? id, ...fields },
    time,
    inline: { bytes: Buffer.from(pageOf(entry, link)), mimeType: 'text/html' },
  };
}

function linkOf(feed: FeedSource, link: string | undefined): URL | undefined {
  if (link === undefined || link.length > 8_192 || !URL.canParse(link, feed.url)) return undefined;
  const url = new URL(link, feed.url);
  const fit = (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === '';
  return fit ? url : undefined;
}

/** Writes an entry as a page. The content keeps its markup from the feed. */
function pageOf({ title, html, text, summary }: Entry, link: URL | undefined): string {
  const heading = title === undefined ? '' : `<h1>${escaped(plain(title) ?? '')}</h1>\n`;
  const where = link === undefined ? '' : `<p><a href="${escaped(link.href)}">${escaped(link.href)}</a></p>\n`;
  const content = html ?? (text === undefined ? undefined : `<p>${escaped(text)}</p>`) ?? summary ?? '';
  return `<!doctype html>\n<meta charset="utf-8">\n${heading}${where}${content}\n`;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? '');

/** Returns a text without markup, in one line; undefined if nothing is left. */
function plain(text: string | undefined): string | undefined {
  const line = text
    ?.slice(0, MAX_TEXT * 4)
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_TEXT)
    .toWellFormed();
  return line === '' ? undefined : line;
}

/** Decodes a feed by its charset, else by its declaration, else as UTF-8. The first one that fits all bytes counts. */
function textOf(bytes: Uint8Array, { charset }: FeedSource): string {
  const declared = /^<\?xml[^>]{0,200}?encoding=["']([\w.:-]{1,40})["']/.exec(
    Buffer.from(bytes.subarray(0, 300)).toString('latin1'),
  );
  for (const fatal of [true, false]) {
    for (const label of [charset, declared?.[1]]) {
      if (label === undefined) continue;
      try {
        return new TextDecoder(label, { fatal }).decode(bytes);
      } catch {
        // The label is unknown, or does not fit the bytes.
      }
    }
  }
  return new TextDecoder().decode(bytes);
}

async function parsed(text: string, uri: string): Promise<readonly Entry[]> {
  const parseFeed = await parser(uri);
  try {
    return normalized(parseFeed(text, { maxItems: MAX_ENTRIES }));
  } catch (cause) {
    throw new ResourceError('unavailable', 'The web server sent something that is no feed', { uri, cause });
  }
}

async function parser(uri: string): Promise<typeof import('feedsmith').parseFeed> {
  try {
    return (await import('feedsmith')).parseFeed;
  } catch (cause) {
    throw missingPackage('Feeds need a package', ['feedsmith'], { code: 'unavailable', uri, cause });
  }
}

/** Returns a date as it is written in the document. */
const dateText = (date: unknown): string | undefined => (typeof date === 'string' ? date : undefined);

type Parsed = ReturnType<typeof import('feedsmith').parseFeed>;

function normalized(parsed: Parsed): readonly Entry[] {
  switch (parsed.format) {
    case 'rss':
      return (parsed.feed.items ?? []).map((item) => ({
        id: item.guid?.value,
        link: item.link,
        title: item.title,
        summary: item.description,
        html: item.content?.encoded,
        date: dateText(item.pubDate ?? item.dc?.dates?.[0]),
      }));
    case 'rdf':
      return (parsed.feed.items ?? []).map((item) => ({
        link: item.link,
        title: item.title,
        summary: item.description,
        html: item.content?.encoded,
        date: dateText(item.dc?.dates?.[0]),
      }));
    case 'atom':
      return (parsed.feed.entries ?? []).map((entry) => ({
        id: entry.id,
        link: (entry.links ?? []).find(({ rel }) => rel === undefined || rel === 'alternate')?.href,
        title: entry.title?.value,
        summary: entry.summary?.value,
        ...(entry.content?.type === 'html' || entry.content?.type === 'xhtml'
          ? { html: entry.content.value }
          : { text: entry.content?.value }),
        date: dateText(entry.updated ?? entry.published),
      }));
    case 'json':
      return (parsed.feed.items ?? []).map((item) => ({
        id: item.id,
        link: item.url,
        title: item.title,
        summary: item.summary,
        html: item.content_html,
        text: item.content_text,
        date: dateText(item.date_modified ?? item.date_published),
      }));
  }
}

const plugIn: DocumentPlugIn<FeedSource, readonly FeedEntry[]> = { read: readFeed };
export default plugIn;
