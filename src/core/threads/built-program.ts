/** Finds the programs of threads and processes that were built together with this. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * The program beside what was built together with this, wherever the builder put it; else the one of the installed package.
 * @param name its subpath in the package, as in `layers/alternatives/program`
 * @throws Error where it is in neither
 */
export function builtProgram(name: string): URL {
  for (const up of ['./', '../', '../../']) {
    const url = new URL(`${up}${name}.js`, import.meta.url);
    if (existsSync(fileURLToPath(url))) return url;
  }
  return pathToFileURL(createRequire(import.meta.url).resolve(`vitrine/${name}`));
}
