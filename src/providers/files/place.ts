/** Finds the place on the disk of a file or folder that is shown, for those who go into it: a database, an archive, a repository. */
import { join } from 'node:path';
import { ResourceError } from '../../core/errors.ts';
import { treeUri } from '../../core/uri.ts';
import { type Folder, type Found, findSegments, SCHEME } from './folder.ts';
import type { Handle } from './open.ts';

export interface FilePlace {
  /** Bytes. */
  readonly size: number;
  /** Which file it is, and its state: another one after each change. */
  readonly file: string;
  readonly state: string;
  /** Canonical, for programs that take nothing else; never leaves the server. */
  readonly path: string;
  /** The file as it is now, for reading. @throws ResourceError `unavailable` where it is in another state */
  open(): Promise<Handle>;
}

/** @returns undefined for what is missing, not shown, or a folder */
export type FindPlace = (segments: readonly string[]) => Promise<FilePlace | undefined>;

export const placesIn =
  (folder: Folder): FindPlace =>
  async (segments) => {
    const uri = treeUri(SCHEME, segments);
    let found: Found;
    try {
      found = await findSegments(folder, segments, 'metadata', uri);
    } catch (error) {
      if (error instanceof ResourceError && (error.code === 'not-found' || error.code === 'denied')) return undefined;
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
