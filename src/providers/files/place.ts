/** Finds the place on the disk of a shown file, for providers that look into it, such as databases and archives. */
import { join } from 'node:path';
import { ResourceError } from '../../core/errors.ts';
import { treeUri } from '../../core/uri.ts';
import { isAbsent } from './fault.ts';
import { type Folder, type Found, findSegments, SCHEME } from './folder.ts';
import type { Handle } from './open.ts';

export interface FilePlace {
  /** Bytes. */
  readonly size: number;
  /** Identifies the file, whatever its content. */
  readonly file: string;
  /** Identifies the state of the file, by its size and times. */
  readonly state: string;
  /** The canonical path, for programs that can open only paths. It never leaves the server. */
  readonly path: string;
  /** Opens the file for reading. @throws ResourceError `unavailable` if it has changed meanwhile, `not-found` if it is gone */
  open(): Promise<Handle>;
}

/** Returns the place of a file; undefined if the path is missing, not shown, or a folder. */
export type FindPlace = (segments: readonly string[]) => Promise<FilePlace | undefined>;

export const placesIn =
  (folder: Folder): FindPlace =>
  async (segments) => {
    const uri = treeUri(SCHEME, segments);
    let found: Found;
    try {
      found = await findSegments(folder, segments, 'metadata', uri);
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
    await found[Symbol.asyncDispose]();
    if (found.isDirectory) return undefined;
    const state = stateOf(found);
    const { dev, ino, size } = found.opened.stat;
    return {
      size: Number(size),
      file: `${dev}:${ino}`,
      state,
      path: join(folder.root, ...found.opened.segments),
      async open() {
        const now = await findSegments(folder, segments, 'content', uri);
        if (stateOf(now) === state) return now.opened.handle;
        await now[Symbol.asyncDispose]();
        throw new ResourceError('unavailable', 'The file has changed meanwhile; try again', { uri });
      },
    };
  };

const stateOf = ({ opened }: Found): string => {
  const { dev, ino, size, mtimeNs, ctimeNs } = opened.stat;
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
};
