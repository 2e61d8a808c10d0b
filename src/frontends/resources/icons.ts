/**
 * Default icons of what is listed, described and read (973-2): by MIME type, and for folders and templates by mount. They
 * are put on where resources go to a client; tools leave them out, since a model cannot see them and would pay for them.
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
