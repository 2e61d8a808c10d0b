/** The packages of which an index is made: found before it begins, so that whoever lacks one is told how to install it. */
import { createRequire } from 'node:module';
import { missingPackage } from '../core/missing-package.ts';

/** The place of the package that has SQLite. @throws ResourceError `invalid` with the command that installs it */
export const sqlitePackage = (): string =>
  placeOf('@photostructure/sqlite', 'To keep an index, install what it is made of');

/** The place of the package that speaks to PostgreSQL. @throws ResourceError `invalid` with the command that installs it */
export const postgresPackage = (): string => placeOf('pg', 'To keep an index in PostgreSQL, install what speaks to it');

function placeOf(name: string, why: string): string {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    throw missingPackage(why, [name], { cause });
  }
}
