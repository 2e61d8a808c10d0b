/** Distinguishes formats that different versions of the converters have made. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { VERSION } from '../../core/version.ts';

/** The packages that converters load. A test checks that none is missing. */
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

/** The versions of Vitrine and of these packages, as far as they are installed. They are looked up once. */
export function converterVersions(): string {
  versions ??= JSON.stringify([VERSION, ...PACKAGES.map(versionIn)]);
  return versions;
}

/**
 * The version of a package; empty if it is not installed, or was bundled. The file is read, and not imported, because a
 * package's exports may not include its `package.json`.
 */
function versionIn(name: string): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      const { version } = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')) as { version?: unknown };
      if (typeof version === 'string') return version;
    } catch {
      // The package may be in the next folder.
    }
  }
  return '';
}
