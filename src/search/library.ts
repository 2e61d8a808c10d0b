/** Finds the packages that an index needs before the index begins. If one is missing, the error says how to install it. */
import { createRequire } from 'node:module';
import { missingPackage } from '../core/missing-package.ts';

/** Returns the path of the package that has SQLite. @throws ResourceError `invalid` with the command that installs it */
export const sqlitePackage = (): string =>
  placeOf('@photostructure/sqlite', 'To keep an index, install the package that has SQLite');

/** Returns the path of the package for PostgreSQL. @throws ResourceError `invalid` with the command that installs it */
export const postgresPackage = (): string =>
  placeOf('pg', 'To keep an index in PostgreSQL, install the package for it');

function placeOf(name: string, why: string): string {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    throw missingPackage(why, [name], { cause });
  }
}
