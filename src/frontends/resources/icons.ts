/**
 * Gives resources and templates a default icon (973-2): the mount's icon for folders and templates, else an icon for the MIME
 * type. Only answers to clients get icons. Results of tools do not: a model cannot see icons, but would pay for their tokens.
 */
import { oncePerKept } from '../../core/kept.ts';
import { DIRECTORY_MIME_TYPE, type Icon } from '../../protocol/resources.ts';
import { type Kind, kindOfType, STROKES } from './kinds.ts';

const ICONS = Object.fromEntries(
  Object.entries(STROKES).map(([kind, path]): [string, readonly Icon[]] => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="none" stroke="#4a6fa5" d="${path}"/></svg>`;
    const src = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
    return [kind, [{ src, mimeType: 'image/svg+xml', sizes: ['any'] }]];
  }),
) as Readonly<Record<Kind, readonly Icon[]>>;

/**
 * Returns the icons that folders of a URI's mount get. If `icons` is missing, the mount gets no icons at all. If the result is
 * undefined, every resource of the mount gets the icon for its type.
 */
export type MountIcons = (uri: string) => { readonly icons?: readonly Icon[] | undefined } | undefined;

interface Described {
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly mimeType?: string;
  readonly icons?: readonly Icon[];
}

/**
 * Puts an icon on every resource and template of a result that has none of its own.
 * @param byType also adds icons for MIME types. Otherwise only folders and templates get an icon: the mount's.
 */
export function withIcons(mounts: MountIcons, byType = true): <T extends object>(result: T) => T {
  const addIcon = oncePerKept((described: Described) => withIcon(described, mounts, byType));
  // Another server may have sent anything in these fields.
  const addIfObject = (value: unknown): unknown =>
    typeof value === 'object' && value !== null ? addIcon(value) : value;
  return <T extends object>(result: T): T => {
    const entries = Object.entries(result).map(([key, value]): [string, unknown] => {
      if (key === 'resource') return [key, addIfObject(value)];
      return [key, LISTS.has(key) && Array.isArray(value) ? value.map(addIfObject) : value];
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
  const folderIcons = isFolder ? mount?.icons : undefined;
  if (folderIcons === undefined && !byType) return described;
  return { ...described, icons: folderIcons ?? ICONS[isFolder ? 'folder' : kindOfType(described.mimeType)] };
}
