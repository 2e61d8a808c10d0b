/** The options of a files mount; each is documented in `docs/providers/files.md`. */
import { z } from 'zod';
import { globConfig } from '../../core/glob/config.ts';

export const filesConfig = z.strictObject({
  /** The folder, or one file. Relative to the configuration file, or to the working directory. */
  path: z.string().min(1),
  /** Shows names that begin with a dot. */
  hidden: z.boolean().default(false),
  /** Shows the folders of version control systems. Names that begin with a dot need `hidden`, too. */
  vcs: z.boolean().default(false),
  /** Shows files that hold credentials, judging by their names. Names that begin with a dot need `hidden`, too. */
  credentials: z.boolean().default(false),
  /** Leaves out the paths that the `.gitignore` files in the tree leave out. */
  gitignore: z.boolean().default(false),
  /** Leaves out paths that match one of these globs, relative to the folder. */
  exclude: z.array(globConfig('path')).max(1_000).default([]),
  /** Follows symbolic links that stay under the folder; otherwise links are left out. */
  symlinks: z.boolean().default(true),
  /** Watches files and folders, so that clients can subscribe to changes. */
  watch: z.boolean().default(true),
});

export type FilesConfig = z.infer<typeof filesConfig>;

export interface FilesOptions extends Partial<Omit<FilesConfig, 'path'>> {
  /** The folder, or one file, on this machine. */
  readonly path: string;
  /** The name of the root. Default: the name of the folder. */
  readonly name?: string;
  /** The most directories that are watched for changes of the default list. Default: 1,000. */
  readonly maxWatchedDirectories?: number;
}
