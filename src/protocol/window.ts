/** Reads the window in the `_meta` of contents. A peer sent it, so it may be anything. */
import { WINDOW_META_KEY } from './meta.ts';
import type { Resource } from './resources.ts';

/** The place of a window within the whole, in bytes. */
export interface ContentsWindow {
  readonly offset: number;
  readonly length: number;
  /** The bytes of the whole; undefined if the server does not know. */
  readonly total?: number;
}

/** Returns the window of contents; undefined if the contents are whole, or the window is invalid. */
export function windowIn({ _meta }: Pick<Resource, '_meta'>): ContentsWindow | undefined {
  const window = _meta?.[WINDOW_META_KEY];
  if (typeof window !== 'object' || window === null) return undefined;
  const { offset, length, total } = window as Readonly<Record<string, unknown>>;
  if (!isCount(offset) || !isCount(length)) return undefined;
  return { offset, length, ...(isCount(total) && { total }) };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
