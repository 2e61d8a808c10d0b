/** Kinds of resources by their MIME type, each with a drawing. */

/** SVG paths of line drawings, 16 by 16, so short that icons are `data:` URIs and nothing has to be fetched. */
export const STROKES = {
  archive: 'M3 2h10v12H3zM8 2v6M7 8h2v3H7z',
  audio: 'M6 12V3l7-1v9M6 12a2 2 0 1 1-2-2M13 11a2 2 0 1 1-2-2',
  data: 'M2 3h12v10H2zM2 6h12M2 10h12M7 3v10',
  file: 'M4 2h6l3 3v9H4z',
  folder: 'M2 4h4l1 2h7v7H2z',
  image: 'M2 3h12v10H2zM2 11l4-4 3 3 2-2 3 3',
  text: 'M4 2h6l3 3v9H4zM6 8h5M6 11h5',
  video: 'M2 4h9v8H2zM11 7l3-2v6l-3-2',
} as const;

/** The kinds of resources that have a picture. */
export type Kind = keyof typeof STROKES;

const FAMILIES: ReadonlySet<string> = new Set(['audio', 'image', 'text', 'video']);
const DATA = /(?:json|xml|yaml|toml|csv|sql|spreadsheet|tab-separated)/;
const ARCHIVE = /(?:zip|gzip|x-tar|x-7z|x-bzip|java-archive|compressed)/;

/** The kind of a MIME type, for its picture. */
export function kindOfType(mimeType: string | undefined): Kind {
  if (mimeType === undefined) return 'file';
  const family = mimeType.slice(0, mimeType.indexOf('/'));
  if (family !== 'image' && DATA.test(mimeType)) return 'data';
  if (FAMILIES.has(family)) return family as Kind;
  return ARCHIVE.test(mimeType) ? 'archive' : 'file';
}
