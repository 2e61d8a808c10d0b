/**
 * Default icons of what is listed, described and read (973-2): by MIME type, and for folders and templates by mount. They
 * are put on where resources go to a client; tools leave them out, since a model cannot see them and would pay for them.
 */
import { oncePerKept } from '../../core/kept.ts';
import { DIRECTORY_MIME_TYPE, type Icon } from '../../protocol/resources.ts';

/** Line drawings of a few bytes on 16 x 16, so that nothing has to be fetched: paths of SVG. */
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

const ICONS = Object.fromEntries(
  Object.entries(STROKES).map(([kind, path]): [string, readonly Icon[]] => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="none" stroke="#4a6fa5" d="${path}"/></svg>`;
    const src = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
    return [kind, [{ src, mimeType: 'image/svg+xml', sizes: ['any'] }]];
  }),
) as Readonly<Record<Kind, readonly Icon[]>>;

/** The icons of the mount that a URI belongs to, undefined within where none are to be put on; undefined of other mounts. */
export type MountIcons = (uri: string) => { readonly icons?: readonly Icon[] | undefined } | undefined;

interface Described {
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly mimeType?: string;
  readonly icons?: readonly Icon[];
}

/**
 * Puts icons on every resource and template of results that have none of their own.
 * @param byType whether those have one too whose mount has none
 */
export function withIcons(mounts: MountIcons, byType = true): <T extends object>(result: T) => T {
  const dressed = oncePerKept((described: Described) => withIcon(described, mounts, byType));
  // Fields that another server sent and that are passed on may hold anything.
  const each = (value: unknown): unknown => (typeof value === 'object' && value !== null ? dressed(value) : value);
  return <T extends object>(result: T): T => {
    const entries = Object.entries(result).map(([key, value]): [string, unknown] => {
      if (key === 'resource') return [key, each(value)];
      return [key, LISTS.has(key) && Array.isArray(value) ? value.map(each) : value];
    });
    return Object.fromEntries(entries) as T;
  };
}

const LISTS: ReadonlySet<string> = new Set(['resources', 'contents', 'resourceTemplates']);

function withIcon(described: Described, mounts: MountIcons, byType: boolean): Described {
  if (described.icons !== undefined) return described;
  const uri = described.uri ?? described.uriTemplate ?? '';
  if (typeof uri !== 'string' || !['string', 'undefined'].includes(typeof described.mimeType)) return described;
  const isFolder = described.mimeType === DIRECTORY_MIME_TYPE || described.uriTemplate !== undefined;
  const mount = mounts(uri);
  if (mount !== undefined && mount.icons === undefined) return described;
  const own = isFolder ? mount?.icons : undefined;
  if (own === undefined && !byType) return described;
  return { ...described, icons: own ?? ICONS[isFolder ? 'folder' : kindOfType(described.mimeType)] };
}

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
