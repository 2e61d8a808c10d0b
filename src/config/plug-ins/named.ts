/** Finds the mounts whose kind a plug-in adds, in a configuration that nothing has checked yet. */
import { isData } from '../../protocol/data.ts';

/** A mount of a plug-in, as it is written. */
export interface NamedKind {
  readonly mount: string;
  readonly kind: string;
  /** Its own settings. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export function namedKinds(content: unknown): readonly NamedKind[] {
  const mounts = isData(content) && isData(content.mounts) ? content.mounts : {};
  return Object.entries(mounts).flatMap(([mount, block]) => {
    if (!isData(block) || typeof block.kind !== 'string') return [];
    const { kind, prefix: _, icons: __, forms: ___, ...settings } = block;
    return [{ mount, kind, settings }];
  });
}

export const namesKinds = (content: unknown): boolean => namedKinds(content).length > 0;
