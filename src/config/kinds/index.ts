/** Every kind of mount besides folders and other servers. The first kind that recognises a source opens it. */
import type { ResourceProvider } from '../../core/provider.ts';
import { commandKind } from './command.ts';
import { gitKind } from './git.ts';
import { httpKind } from './http.ts';
import type { KindOptions, MountKind } from './kind.ts';
import { memoryKind } from './memory.ts';
import { s3Kind } from './s3.ts';
import { sqlKind } from './sql.ts';

/** A kind with any type of block. */
export type Kind = MountKind<never>;

const KINDS: readonly Kind[] = [memoryKind, sqlKind, gitKind, s3Kind, commandKind, httpKind];

/** Keys of built-in kinds: no plug-in may use one of these names. */
export const BUILT_IN: ReadonlySet<string> = new Set(['path', 'command', 'url', ...KINDS.map(({ key }) => key)]);

/** Returns the kind of a block, by its key; undefined for folders and servers. */
export const kindOf = (block: object): Kind | undefined => KINDS.find(({ key }) => key in block);

/** Returns the kind of a typed source; undefined for folders and servers. */
export async function kindOfSource(source: string, base: string): Promise<Kind | undefined> {
  for (const kind of KINDS) if (await kind.recognises?.(source, base)) return kind;
  return undefined;
}

/** Opens a block. @throws ConfigError, ResourceError */
export const openKind = (kind: Kind, name: string, block: object, options: KindOptions): Promise<ResourceProvider> =>
  kind.open(name, block as never, options);
