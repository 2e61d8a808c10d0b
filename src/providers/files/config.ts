/** The options of a files mount; each is documented in `docs/providers/files.md`. */
import { z } from 'zod';
import { globConfig } from '../../core/glob/config.ts';

export const filesConfig = z.strictObject({
  /** The folder, or one file. Relative to the configuration file, or to the working directory. */
  path: z.string().min(1),
  /** Shows names that begin with a dot. */
  hidden: z.boolean().default(false),
  /** Shows the folders of version control systems. Needs `hidden` too where their name begins with a dot. */
  vcs: z.boolean().default(false),
  /** Shows files that hold credentials by their name. Needs `hidden` too where that begins with a dot. */
  credentials: z.boolean().default(false),
  /** Leaves out what the `.gitignore` files in the tree leave out. */
  gitignore: z.boolean().default(false),
  /** Leaves out paths that match one of these globs, relative to the folder. */
  exclude: z.array(globConfig('path')).max(1_000).default([]),
  /** Follows symbolic links that stay under the folder; otherwise links are left out. */
  symlinks: z.boolean().default(true),
  /** Tells about changes. */
  watch: z.boolean().default(true),
});

export type FilesConfig = z.infer<typeof filesConfig>;

export interface FilesOptions extends Partial<Omit<FilesConfig, 'path'>> {
  /** The folder, or one file, on this machine. */
  readonly path: string;
  /** The name of the root; the folder's own name when left out. */
  readonly name?: string;
  /** Directories that are watched for the default list, at most. */
  readonly maxWatchedDirectories?: number;
}
