/**
 * Lets Node.js, from 22.8 on, keep the compiled program for the next start. Node.js runs the kept code without a check, so the
 * code is kept where nobody else can write: in the user's own cache, not in the folder for temporary files as by default.
 */
import { mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** Turns the compile cache on if Node.js has one and a safe folder is there. `NODE_DISABLE_COMPILE_CACHE=1` turns it off. */
export function keepCompiled(): void {
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown };
  if (enableCompileCache === undefined) return;
  const folder = compileCacheFolder(process.env);
  if (folder !== undefined) enableCompileCache(folder);
}

/**
 * Makes the folder for the compiled program: `vitrine` in `XDG_CACHE_HOME` or `~/.cache`.
 * @param user the user who must own the folder and those around it; undefined on Windows, which has no such users
 * @returns undefined if the folder cannot be made, somebody else could write to it, or there are no such users
 */
export function compileCacheFolder(
  env: Readonly<Record<string, string | undefined>>,
  user = process.getuid?.(),
): string | undefined {
  if (user === undefined) return undefined;
  try {
    const { XDG_CACHE_HOME: configured } = env;
    const cache =
      configured !== undefined && isAbsolute(configured) ? configured : join(env.HOME ?? homedir(), '.cache');
    const folder = join(cache, 'vitrine');
    const places = [dirname(cache), cache, folder];
    // Nothing is made in an unsafe place. Somebody could put another folder in the way meanwhile, so all are judged again.
    if (!places.every((place) => isOnlyOf(place, user) ?? true)) return undefined;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return places.every((place) => isOnlyOf(place, user) === true) ? folder : undefined;
  } catch {
    // The home folder is missing or read-only: every start compiles anew.
    return undefined;
  }
}

/** Tells whether only this user owns a folder and can write to it; undefined if there is none. */
function isOnlyOf(place: string, user: number): boolean | undefined {
  const stats = statSync(place, { throwIfNoEntry: false });
  return stats && stats.uid === user && (stats.mode & 0o022) === 0;
}
