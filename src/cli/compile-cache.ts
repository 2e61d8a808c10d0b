/**
 * Node.js, from 22.8 on, keeps what it has compiled of a program for the next start. It is run as it is found, so it is kept
 * where nobody else can write: in the user's own cache, and not in the folder for temporary files, which Node.js takes.
 */
import { mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** Keeps the program compiled, where Node.js can and there is a place for it. `NODE_DISABLE_COMPILE_CACHE=1` turns it off. */
export function keepCompiled(): void {
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown };
  if (enableCompileCache === undefined) return;
  const folder = compileCacheFolder(process.env);
  if (folder !== undefined) enableCompileCache(folder);
}

/**
 * The folder, which is there then: `vitrine` in `XDG_CACHE_HOME` or `~/.cache`.
 * @param user whose it has to be, with all of the cache; undefined where the system has no users of that kind
 * @returns undefined where it cannot be made, or somebody else could put something there
 */
export function compileCacheFolder(
  env: Readonly<Record<string, string | undefined>>,
  user = process.getuid?.(),
): string | undefined {
  try {
    const { XDG_CACHE_HOME: own } = env;
    const cache = own !== undefined && isAbsolute(own) ? own : join(env.HOME ?? homedir(), '.cache');
    const folder = join(cache, 'vitrine');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return [dirname(cache), cache, folder].every((place) => isOnlyOf(place, user)) ? folder : undefined;
  } catch {
    // A home that is not there or is read only: every start compiles anew.
    return undefined;
  }
}

function isOnlyOf(place: string, user: number | undefined): boolean {
  const { uid, mode } = statSync(place);
  return uid === user && (mode & 0o022) === 0;
}
