/** The package that has SQLite, of which an index is made. */
import { createRequire } from 'node:module';
import { missingPackage } from '../core/missing-package.ts';

const LIBRARY = '@photostructure/sqlite';

/** @throws ResourceError `invalid` where it is not installed, with the command that installs it */
export function libraryPath(): string {
  try {
    return createRequire(import.meta.url).resolve(LIBRARY);
  } catch (cause) {
    throw missingPackage('To keep an index, install what it is made of', [LIBRARY], { cause });
  }
}
