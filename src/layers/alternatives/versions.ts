/** Tells formats apart that were made by other versions of the programs that make them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { VERSION } from '../../core/version.ts';

/** The packages that converters load; a test holds this to be all of them. */
export const PACKAGES: readonly string[] = [
  '@kenjiuno/msgreader',
  'exif-reader',
  'fflate',
  'hucre',
  'mammoth',
  'music-metadata',
  'postal-mime',
  'saxen',
  'sharp',
  'turndown',
  'unpdf',
];

const require = createRequire(import.meta.url);
let versions: string | undefined;

/** The versions of Vitrine and of all that is installed of these packages, which are looked for once. */
export function converterVersions(): string {
  versions ??= JSON.stringify([VERSION, ...PACKAGES.map(versionIn)]);
  return versions;
}

/** Empty for a package that is not there, or was built into a program. Its exports may not have its `package.json`. */
function versionIn(name: string): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      const { version } = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')) as { version?: unknown };
      if (typeof version === 'string') return version;
    } catch {
      // It may be in the next one.
    }
  }
  return '';
}
