/** A kind of data that can be mounted, beside folders and other servers: one file each in this folder. */
import type { Log } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';

export interface KindOptions {
  /** The directory that relative paths start from. */
  readonly base: string;
  readonly log?: Log | undefined;
}

/** `Block` is what the kind's schema gives: its own key, options, and what every mount may say. */
export interface MountKind<Block extends object> {
  /** The key that only blocks of this kind have. Its value says what is mounted; a typed source is that value. */
  readonly key: string;
  /**
   * Whether a text that was typed, or stands for a mount, is one of these: by its shape, or by what lies there. Left out
   * where a block has to say it.
   */
  readonly recognises?: (source: string, base: string) => boolean | Promise<boolean>;
  /** Returns the text that the name of a typed source's mount is made of. Default: the last part of its path, or its host. */
  readonly nameOf?: (source: string) => string;
  /**
   * Its code is loaded here: what is not mounted costs nothing.
   * @throws ConfigError that says what is wrong with what was configured
   */
  readonly open: (name: string, block: Block, options: KindOptions) => Promise<ResourceProvider>;
}
