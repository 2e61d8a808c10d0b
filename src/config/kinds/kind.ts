/** A kind of mount besides folders and other servers. This folder has one file for each kind. */
import type { Log } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';

export interface KindOptions {
  /** The directory that relative paths start from. */
  readonly base: string;
  readonly log?: Log | undefined;
}

/** `Block` is the output of the kind's schema: the kind's key, its options, and the options of every mount. */
export interface MountKind<Block extends object> {
  /** The key that only blocks of this kind have. Its value is the source, as it could be typed on the command line. */
  readonly key: string;
  /**
   * Whether a text, typed or in a configuration, names a source of this kind, by its shape or by the file at its path.
   * Left out for a kind that only a block can name.
   */
  readonly recognises?: (source: string, base: string) => boolean | Promise<boolean>;
  /** Returns the text from which a typed source's mount is named. Default: the last part of its path, or its host. */
  readonly nameOf?: (source: string) => string;
  /**
   * Opens the mount. It loads its code only here, so that unused kinds cost nothing.
   * @throws ConfigError that says what is wrong in the configuration
   */
  readonly open: (name: string, block: Block, options: KindOptions) => Promise<ResourceProvider>;
}
