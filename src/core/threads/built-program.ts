/** Finds the programs of threads and processes, which the build puts beside this package's own files. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Returns the file of a program. It looks in the folder of this file and up to two folders above, where the build may have put it,
 * and then in the installed package.
 * @param name the subpath of the program in the package, such as `layers/alternatives/program`
 * @throws Error if no place has the program
 */
export function builtProgram(name: string): URL {
  for (const up of ['./', '../', '../../']) {
    const url = new URL(`${up}${name}.js`, import.meta.url);
    if (existsSync(fileURLToPath(url))) return url;
  }
  return pathToFileURL(createRequire(import.meta.url).resolve(`vitrine/${name}`));
}
