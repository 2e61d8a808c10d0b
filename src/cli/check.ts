/** `vitrine check`: reports what would be served, without serving. */

import { createContext } from '../core/context.ts';
import { publishUri } from '../core/mounts.ts';
import { createVitrine } from '../vitrine.ts';
import { engineOptions, openSources, type SourceFlags } from './sources.ts';

/** Prints a line for each mount; throws what `serve` would. */
export async function check(paths: readonly string[], flags: SourceFlags): Promise<void> {
  const sources = await openSources(paths, flags);
  const vitrine = createVitrine(engineOptions(sources, undefined));
  try {
    for (const mount of sources.mounts) {
      const roots = await mount.provider.list(undefined, { limit: 100 }, createContext());
      for (const root of roots.resources) {
        const page = await mount.provider.list(root.uri, { limit: 1_000 }, createContext());
        const count = `${page.resources.length}${page.nextCursor === undefined ? '' : '+'} entries`;
        process.stdout.write(`ok  ${mount.name}  ${publishUri(mount, root.uri)}  ${count}\n`);
      }
    }
  } finally {
    await vitrine.close();
  }
}
