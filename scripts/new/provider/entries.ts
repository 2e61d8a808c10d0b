/** The data behind example, and the description of each entry. No other file knows where the data come from. */
import { notFound } from '../../core/errors.ts';
import { parseTreeUri, treeUri } from '../../core/uri.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';

export const SCHEME = 'example';

/** The entries of one mount. */
export interface Entries {
  /** The name of the root. */
  readonly name: string;
  readonly bytes: ReadonlyMap<string, Uint8Array>;
  /** In the order of lists, which stays the same between two pages. */
  readonly names: readonly string[];
}

export function entriesOf(name: string, texts: Readonly<Record<string, string>>): Entries {
  const encoder = new TextEncoder();
  const bytes = new Map(Object.entries(texts).map(([key, text]) => [key, encoder.encode(text)]));
  return { name, bytes, names: [...bytes.keys()].sort() };
}

/** The name that a URI leads to; undefined for the root. @throws ResourceError `invalid`, `not-found` */
export function nameIn(uri: string): string | undefined {
  const { segments, trailingSlash } = parseTreeUri(uri, SCHEME);
  const [name, ...more] = segments;
  if (more.length > 0 || (name !== undefined && trailingSlash)) throw notFound(uri);
  return name;
}

export const rootOf = ({ name }: Entries): Resource => ({
  uri: treeUri(SCHEME, []),
  name,
  mimeType: DIRECTORY_MIME_TYPE,
  capabilities: { list: true, subscribe: false },
});

/** Describes an entry as lists, metadata and reads do. @throws ResourceError `not-found` */
export function entryOf({ bytes }: Entries, name: string): Resource {
  const uri = treeUri(SCHEME, [name]);
  const content = bytes.get(name);
  if (content === undefined) throw notFound(uri);
  return { uri, name, size: content.byteLength, capabilities: { list: false, subscribe: false } };
}
