/**
 * Gives resources and templates a default icon (973-2): that of the mount for folders and templates, else one for the MIME
 * type. Only answers to clients get them. Results of tools do not: a model cannot see icons, but would pay for their tokens.
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
 * Returns the mount of a URI, with the icons that its folders get. A mount without `icons` gets no icons at all. Undefined:
 * every resource of that mount gets the icon for its type.
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
 * @param byType also puts icons for MIME types on. Otherwise only folders and templates get one: that of their mount.
 */
export function withIcons(mounts: MountIcons, byType = true): <T extends object>(result: T) => T {
  const dressed = oncePerKept((described: Described) => withIcon(described, mounts, byType));
  // Another server may have sent anything in these fields.
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
