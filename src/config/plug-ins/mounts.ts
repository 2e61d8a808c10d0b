/** Finds the mounts whose kind a plug-in adds, in a configuration that nothing has checked yet. */
import { isData } from '../../protocol/data.ts';
import { everyMount } from '../mount-schema.ts';

/** A mount of a plug-in, as it is written. */
export interface PlugInMount {
  readonly mount: string;
  readonly kind: string;
  /** The settings of the plug-in: all keys but `kind` and those of every mount. */
  readonly settings: Readonly<Record<string, unknown>>;
}

const EVERY_MOUNT: ReadonlySet<string> = new Set(['kind', ...Object.keys(everyMount)]);

export function plugInMounts(content: unknown): readonly PlugInMount[] {
  const mounts = isData(content) && isData(content.mounts) ? content.mounts : {};
  return Object.entries(mounts).flatMap(([mount, block]) => {
    if (!isData(block) || typeof block.kind !== 'string') return [];
    const settings = Object.fromEntries(Object.entries(block).filter(([key]) => !EVERY_MOUNT.has(key)));
    return [{ mount, kind: block.kind, settings }];
  });
}

export const hasPlugInMounts = (content: unknown): boolean => plugInMounts(content).length > 0;
